"""An option, written once: a dataclass field that says what the command line, YAML files and the reference page need.

>>> @dataclass(frozen=True)
... class SayOptions:
...     times: Count = option(2, "How often.")

``options_of`` reads the fields, ``check`` and ``check_all`` check values, ``tooldecoding.cli.command`` makes a command.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, cached_property
from typing import Annotated, Any, Final, Literal, cast, get_type_hints

from pydantic import Field as Bounds
from pydantic import TypeAdapter, ValidationError

from tooldecoding.errors import ConfigError

Count = Annotated[int, Bounds(ge=1)]
"""1 or more."""
CountOrNone = Annotated[int, Bounds(ge=0)]
"""0 or more."""
Share = Annotated[float, Bounds(ge=0, le=1)]
"""0 to 1."""

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
    about = {
        "help": help,
        "metavar": metavar,
        "flag": flag,
        "default_text": default_text,
        "expected": expected,
        "choices": tuple(choices),
        "only": only,
        "positional": positional,
        "commas": commas,
    }
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
        bounds = f" Takes a number{_range(self.schema)}." if "maximum" in self.schema else ""
        default = f" Default: {self.shown_default}." if self.shown_default else ""
        return self.help + bounds + default

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Checks values."""
        return TypeAdapter(self.type)

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the values, without null."""
        schema = self.adapter.json_schema()
        return next((branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"), schema)

    @property
    def values(self) -> str:
        """The values in words: ``a whole number of 1 or more``."""
        return self.expected or _in_words(self.schema) + (", separated by commas" if self.commas else "")

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
        try:
            self.adapter.validate_python(value, strict=True)
        except ValidationError as error:
            if all(each["type"] == "string_unicode" for each in error.errors()):
                return  # a path may hold bytes that are not UTF-8
            raise ConfigError(f"{place}: expected {self.values}, got {given!r}") from None


@cache
def options_of(kind: type) -> tuple[Option, ...]:
    """The options of a dataclass: its own before those of its bases."""
    types = get_type_hints(kind, include_extras=True)
    by_name = {f.name: f for f in fields(kind)}
    names = dict.fromkeys(name for base in kind.__mro__ for name in vars(base).get("__annotations__", ()))
    return tuple(_read(by_name[name], types[name]) for name in names if name in by_name)


def _read(found: Field[Any], type_: Any) -> Option:
    about = found.metadata[_KEY]
    if about["choices"]:
        choice: Any = cast(Any, Literal)[about["choices"]]
        type_ = choice if type_ is str else cast(Any, tuple)[choice, ...]
    return Option(found.name, type_, found.default, **about)


def check_all(options: object) -> None:
    """Check every field of a dataclass of options; ConfigError names the first wrong one."""
    kind: Any = type(options)
    for each in options_of(kind):
        each.check(getattr(options, each.name), each.name)


def _in_words(schema: Mapping[str, Any]) -> str:
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else None):
        *most, last = map(repr, choices)
        return f"{', '.join(most)} or {last}" if most else last
    if schema["type"] == "array":
        items = schema["items"]
        if items["type"] == "integer":
            return f"whole numbers{_range(items)}"
        return _in_words(items) if "enum" in items else "names"
    word = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
    return word[schema["type"]] + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    """`` from 0 to 1``, `` of 1 or more``, `` above 0``."""
    least, most, above = (schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if above is not None:
        return f" above {above:g}"
    if most is not None:
        return f" from {least:g} to {most:g}"
    return f" of {least:g} or more" if least is not None else ""
