"""What a command line gave, merged with a YAML file and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tooldecoding.options.config_file import read_config
from tooldecoding.options.option import options_of

T = TypeVar("T")


@dataclass(frozen=True)
class Given:
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
        from_file = read_config(self.config, kind) if self.config is not None else {}
        return kind(**{**defaults, **from_file, **command_line})


def check_given(given: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the given values that are options of ``kind``, texts with commas as tuples; ConfigError names the flag."""
    checked: dict[str, Any] = {}
    for option in options_of(kind):
        value = given.get(option.name)
        if value is None:
            continue
        if option.commas:
            value = option.read_text(value, option.written)
        else:
            value = tuple(value) if isinstance(value, list) else value
            option.check(value, option.metavar or option.name if option.positional else option.written)
        checked[option.name] = value
    return checked
