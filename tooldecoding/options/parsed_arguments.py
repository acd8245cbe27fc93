"""What a command line gave, merged with a YAML file and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from lookup.documents.text.text_file import read_text
from tooldecoding.errors import ConfigError
from tooldecoding.options.option import options_of

T = TypeVar("T")

CONFIG_FOLDER: Final = (Path(__file__).parent.parent / "configs").resolve()
"""The ``configs/`` of the installed package or of the checkout. ``--config NAME`` looks in the working directory's
``configs/`` first."""


@dataclass(frozen=True)
class ParsedArguments:
    """What the command line gave.

    Attributes
    ----------
    values : mapping
        Field name -> value, for the options that were given.
    config : str, optional
        The YAML file of ``--config``.
    subcommand : str, optional
        The sub-command that runs after this one.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    subcommand: str | None = None

    def read(self, kind: type[T]) -> T:
        """Return the options of one dataclass, without the file; ConfigError as ``merge``."""
        return kind(**check_given(self.values, kind))

    def merge(self, kind: type[T], defaults: Mapping[str, Any]) -> T:
        """Return the options of one dataclass: command line over the file over ``defaults`` over those of ``kind``.

        Raises
        ------
        ConfigError
            For an unknown key (with the nearest known one), a value of the wrong type or out of bounds, a file that is
            missing or malformed.
        """
        command_line = check_given(self.values, kind)
        return kind(**{**defaults, **read_config(self.config, kind), **command_line})


def check_given(given: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the given values that are options of ``kind``, texts with commas as tuples; ConfigError names the flag."""
    checked: dict[str, Any] = {}
    for option in options_of(kind):
        value = given.get(option.name)
        if value is None:
            continue
        place = option.metavar or option.name if option.positional else option.written
        if option.commas:
            value = option.read_text(value, place)
        else:
            value = tuple(value) if isinstance(value, list) else value
            option.check(value, place)
        checked[option.name] = value
    return checked


def read_config(name: str | None, kind: type) -> dict[str, Any]:
    """Return the options in a YAML file, each checked; none without a file.

    Parameters
    ----------
    name : str or None
        A path, or the name of a file in ``configs/``.
    kind : type
        The dataclass of options that says what the file may hold.

    Raises
    ------
    ConfigError
        With ``file:line``, as ``ParsedArguments.merge``.
    """
    if name is None:
        return {}
    path = _find(name)
    mapping, data = _parse(path)
    known = {option.name: option for option in options_of(kind)}
    found: dict[str, Any] = {}
    for key_node, _ in mapping.value if mapping else ():
        key, place = str(key_node.value), f"{path}:{key_node.start_mark.line + 1}"
        if key not in known:
            nearest = get_close_matches(key, known, n=1, cutoff=0.0)[0]
            raise ConfigError(f"{place}: unknown setting {key!r}; did you mean {nearest!r}?")
        if key in found:
            raise ConfigError(f"{place}: setting {key!r} stands twice")
        if known[key].only == "command line":
            raise ConfigError(f"{place}: {key} stands on the command line alone: {known[key].written}")
        found[key] = tuple(data[key]) if isinstance(data[key], list) else data[key]
        known[key].check(found[key], f"{place}: {key}")
    return found


def _parse(path: Path) -> tuple[yaml.MappingNode | None, Any]:
    """Return the nodes of the file, which know their lines, and its data."""
    text = read_text(path, ConfigError)
    try:
        node, data = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.MarkedYAMLError as cause:
        mark = cause.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise ConfigError(f"{place}: malformed YAML: {cause.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as cause:
        raise ConfigError(f"{path}: malformed YAML: {str(cause).splitlines()[0]}") from None
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}: expected settings as 'key: value' lines, found a {type(data).__name__}")
    return node, data


def _find(name: str) -> Path:
    path = Path(name)
    if path.exists() or path.name != name:
        return path
    for folder in (Path("configs"), CONFIG_FOLDER):
        for candidate in (folder / name, folder / f"{name}.yaml"):
            if candidate.is_file():
                return candidate
    known = sorted(p.stem for folder in {Path("configs").resolve(), CONFIG_FOLDER} for p in folder.glob("*.yaml"))
    raise ConfigError(f"no file {name!r}, and no such name in configs/; known: {', '.join(known) or 'none'}")
