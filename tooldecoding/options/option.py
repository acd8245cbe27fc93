"""An option, written once: a dataclass field that says what the command line, YAML files and the reference page need.

>>> @dataclass(frozen=True)
... class SayOptions:
...     times: Count = option(2, "How often.")

``options_of`` reads the fields, ``check`` and ``check_all`` check values, ``tooldecoding.cli.command`` makes a command.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from inspect import cleandoc
from typing import Any, Final, Literal, TypeVar, cast, get_type_hints

from pydantic import TypeAdapter

from tooldecoding.errors import ConfigError
from tooldecoding.options.values import adapter_of, bounds_in_words, fits, in_words, schema_of

T = TypeVar("T")

Only = Literal["command line", "file"]

_KEY: Final = "option"


def option(
    default: Any,
    help: str,
    *,
    metavar: str | None = None,
    flag: str | None = None,
    default_text: str = "",
    expected: str | None = None,
    choices: Iterable[str] = (),
    only: Only | None = None,
    positional: bool = False,
    commas: bool = False,
) -> Any:
    """A dataclass field that is an option; its type says which values it takes.

    Parameters
    ----------
    default : Any
        ``...`` for an option that must be given.
    help : str
        What it does, without its default.
    metavar : str, optional
        Its value in ``--help``; choices by default.
    flag : str, optional
        By default the field's name, as in ``--order-limit``.
    default_text : str
        What happens without the option, if the default does not say it.
    expected : str, optional
        Its values in words; made from the type by default.
    choices : iterable of str
        The values of an option of type ``str`` whose choices no ``Literal`` can hold.
    only : {"command line", "file"}, optional
        The only place where it can be set; by default the command line and YAML files.
    positional : bool
        Whether it is an argument without a flag.
    commas : bool
        Whether the command line takes the items of a tuple as one text; by default the option is repeated.
    """
    names = tuple(choices)
    kept = MISSING if default is ... else default
    about = Option("", None, kept, help, metavar, flag, default_text, expected, names, only, positional, commas)
    return field(metadata={_KEY: about}) if default is ... else field(default=default, metadata={_KEY: about})


@dataclass(frozen=True)
class Option:
    """An option as ``options_of`` reads it; see ``option`` for the attributes that are not described here.

    Attributes
    ----------
    name : str
        The field's name, and its key in a YAML file.
    type : Any
        The field's type, with its bounds.
    default : Any
        ``dataclasses.MISSING`` if it must be given.
    """

    name: str
    type: Any
    default: Any
    help: str
    metavar: str | None = None
    flag: str | None = None
    default_text: str = ""
    expected: str | None = None
    choices: tuple[str, ...] = ()
    only: Only | None = None
    positional: bool = False
    commas: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    @property
    def written(self) -> str:
        """How the command line writes it: ``--order-limit``."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """The default in words; empty if there is nothing to say."""
        if self.default_text or self.required or self.default is None or self.default is False or self.default == ():
            return self.default_text
        return ",".join(map(str, self.default)) if isinstance(self.default, tuple) else str(self.default)

    @property
    def full_help(self) -> str:
        """The help text with bounds and default."""
        bounds = f" Takes a number{bounds_in_words(self.schema)}." if "maximum" in self.schema else ""
        default = f" Default: {self.shown_default}." if self.shown_default else ""
        return self.help + bounds + default

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return adapter_of(self.type)

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the values, without null."""
        return schema_of(self.type)

    @property
    def values(self) -> str:
        """The values in words: ``a whole number of 1 or more``."""
        return self.expected or in_words(self.schema) + (", separated by commas" if self.commas else "")

    def check(self, value: Any, place: str) -> None:
        """ConfigError, which begins with ``place``, if the value has the wrong type or is out of bounds."""
        self._check(value, place, value)

    def read_text(self, text: str, place: str) -> tuple[Any, ...]:
        """The items of a text with commas, each once, numbers sorted; ConfigError as ``check``."""
        parts = dict.fromkeys(part.strip() for part in text.split(",")) if text.strip() else {}
        items: tuple[Any, ...] = tuple(parts)
        if self.schema["items"]["type"] == "integer":
            try:
                items = tuple(sorted({int(part) for part in parts}))
            except ValueError:
                items = (None,)  # no whole number: fails the check below
        self._check(items, place, text)
        return items

    def _check(self, value: Any, place: str, given: Any) -> None:
        if not fits(value, self._adapter):
            raise ConfigError(f"{place}: expected {self.values}, got {given!r}")


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a dataclass: its own before those of its bases."""
    return _options_of(cast(Hashable, kind))


@cache
def _options_of(kind: Any) -> tuple[Option, ...]:
    types, own = get_type_hints(kind, include_extras=True), vars(kind).get("__annotations__", {})
    by_name = {each.name: each for each in fields(kind)}
    mine = [_read(by_name[name], types[name]) for name in own if name in by_name]
    bases: list[Any] = [base for base in kind.__bases__ if is_dataclass(base)]
    return (*mine, *(each for base in bases for each in _options_of(base) if each.name not in own))


def _read(found: Field[Any], type_: Any) -> Option:
    about: Option = found.metadata[_KEY]
    if about.choices:
        choice: Any = cast(Any, Literal)[about.choices]
        type_ = choice if type_ is str else cast(Any, tuple)[choice, ...]
    return replace(about, name=found.name, type=type_)


def described(kind: type[T]) -> type[T]:
    """Class decorator that adds the options to the docstring, for ``help``."""
    lines = [f"{each.name} : {each.values}\n    {each.full_help}" for each in options_of(kind)]
    kind.__doc__ = "\n".join([cleandoc(kind.__doc__ or ""), "", "Attributes", "----------", *lines])
    return kind


def check_all(options: object) -> None:
    """Check every field of a dataclass of options; ConfigError names the first wrong one."""
    for each in options_of(type(options)):
        each.check(getattr(options, each.name), each.name)
