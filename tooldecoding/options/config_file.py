"""YAML files of options, for ``--config``."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml

from lookup.text.text_file import read_text
from tooldecoding.errors import ConfigError
from tooldecoding.options.option import options_of

CONFIG_FOLDER: Final = (Path(__file__).parent.parent / "configs").resolve()
"""The ``configs/`` of the installed package or of the checkout. ``--config NAME`` looks in the working directory's
``configs/`` first."""


def read_config(name: str, kind: type) -> dict[str, Any]:
    """Return the options in a YAML file, each checked.

    Parameters
    ----------
    name : str
        A path, or the name of a file in ``configs/``.
    kind : type
        The dataclass of options that says what the file may hold.

    Raises
    ------
    ConfigError
        With ``file:line``, as ``Given.merge``.
    """
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
        value = tuple(data[key]) if isinstance(data[key], list) else data[key]
        known[key].check(value, f"{place}: {key}")
        found[key] = value
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
