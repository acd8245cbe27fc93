"""An option, written once: a dataclass field that says what the command line, YAML files and the reference page need.

>>> @dataclass(frozen=True)
... class SayOptions:
...     times: Count = option(2, "How often.")

``options_of`` reads the fields, pydantic checks values, ``tooldecoding.cli.command`` makes a command of them.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, cached_property
from inspect import cleandoc
from typing import Annotated, Any, Final, Literal, TypeVar, cast, get_type_hints

from pydantic import Field as Bounds
from pydantic import TypeAdapter, ValidationError

from tooldecoding.errors import ConfigError

Count = Annotated[int, Bounds(ge=1)]
"""1 or more."""
CountOrNone = Annotated[int, Bounds(ge=0)]
"""0 or more."""
Finite = Annotated[float, Bounds(allow_inf_nan=False)]
"""Any number."""
Positive = Annotated[float, Bounds(gt=0, allow_inf_nan=False)]
"""Above 0."""
NotNegative = Annotated[float, Bounds(ge=0, allow_inf_nan=False)]
"""0 or more."""
Share = Annotated[float, Bounds(ge=0, le=1)]
"""0 to 1."""

T = TypeVar("T")

_KEY: Final = "option"
_WORDS: Final = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes
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
    only : "command line", optional
        The only place where it can be set; by default the command line and YAML files.
    positional : bool
        Whether it is an argument without a flag.
    commas : bool
        Whether the command line takes the items of a tuple as one text; by default the option is repeated.
    name : str
        The field's name, and its key in a YAML file.
    type : Any
        The field's type, with its bounds.
    """

    default: Any
    help: str
    metavar: str | None = None
    flag: str | None = None
    default_text: str = ""
    expected: str | None = None
    choices: Iterable[str] = ()
    only: Literal["command line"] | None = None
    positional: bool = False
    commas: bool = False
    name: str = ""
    type: Any = None

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is ...

    @property
    def written(self) -> str:
        """How the command line writes it: ``--order-limit``."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """The default in words; empty if there is nothing to say."""
        if self.default_text or self.required or self.default in (None, ()) or self.default is False:
            return self.default_text
        return ",".join(map(str, self.default)) if isinstance(self.default, tuple) else str(self.default)

    @property
    def full_help(self) -> str:
        """The help text with bounds and default."""
        bounds = f" Takes a number{_bounds(self.schema)}." if "maximum" in self.schema else ""
        default = f" Default: {self.shown_default}." if self.shown_default else ""
        return self.help + bounds + default

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return _adapter(self.type)

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the values, without null."""
        return _schema(self.type)

    @property
    def values(self) -> str:
        """The values in words: ``a whole number of 1 or more``."""
        return self.expected or _in_words(self.schema) + (", separated by commas" if self.commas else "")

    def check(self, value: Any, place: str, given: Any = None) -> None:
        """ConfigError, which begins with ``place``, if a value has the wrong type or is out of bounds.

        Parameters
        ----------
        given : Any, optional
            What the user wrote for the value, for the message.
        """
        try:
            self._adapter.validator.validate_python(value, strict=True)
        except ValidationError as error:
            # a path may hold bytes that are not UTF-8
            if any(each["type"] != "string_unicode" for each in error.errors()):
                got = value if given is None else given
                raise ConfigError(f"{place}: expected {self.values}, got {got!r}") from None

    def read_text(self, text: str, place: str) -> tuple[Any, ...]:
        """The items of a text with commas, each once, numbers sorted; ConfigError as ``check``."""
        items: tuple[Any, ...] = tuple(dict.fromkeys(part.strip() for part in text.split(","))) if text.strip() else ()
        if self.schema["items"]["type"] == "integer":
            try:
                items = tuple(sorted({int(part) for part in items}))
            except ValueError:
                items = (None,)  # no whole number: fails the check
        self.check(items, place, text)
        return items


def option(default: Any, help: str, **about: Any) -> Any:
    """A dataclass field that is an option; its type says which values it takes, ``Option`` what can be said of it."""
    found = Option(default, help, **about)
    return field(default=MISSING if default is ... else default, metadata={_KEY: found})


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


@cache
def _schema(type_: Any) -> Mapping[str, Any]:
    schema = _adapter(type_).json_schema()
    return next((branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"), schema)


def _in_words(schema: Mapping[str, Any]) -> str:
    """Return the values of a schema in words."""
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else None):
        *most, last = map(repr, choices)
        return f"{', '.join(most)} or {last}" if most else last
    if schema["type"] == "array":
        items = schema["items"]
        if items["type"] == "integer":
            return f"whole numbers{_bounds(items)}"
        return _in_words(items) if "enum" in items else "names"
    return _WORDS[schema["type"]] + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    """Return the bounds of a number: `` from 0 to 1``, `` of 1 or more``, `` above 0``; empty without bounds."""
    least, most, above = (schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if above is not None:
        return f" above {above:g}" + ("" if most is None else f", {most:g} at most")
    if most is not None:
        return f" from {least:g} to {most:g}"
    return f" of {least:g} or more" if least is not None else ""


@cache
def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a dataclass: its own before those of its bases."""
    types, by_name = get_type_hints(kind, include_extras=True), {each.name: each for each in fields(kind)}
    names = dict.fromkeys(name for base in kind.__mro__ for name in vars(base).get("__annotations__", ()))
    found = ((name, by_name[name].metadata.get(_KEY)) for name in names if name in by_name)
    return tuple(_named(about, name, types[name]) for name, about in found if about is not None)


def _named(about: Option, name: str, type_: Any) -> Option:
    if about.choices:
        choice: Any = cast(Any, Literal)[tuple(about.choices)]
        type_ = choice if type_ is str else cast(Any, tuple)[choice, ...]
    return replace(about, name=name, type=type_)


def described(kind: type[T]) -> type[T]:
    """Class decorator that adds the options to the docstring, for ``help``."""
    lines = [f"{each.name} : {each.values}\n    {each.full_help}" for each in options_of(cast(Hashable, kind))]
    kind.__doc__ = "\n".join([cleandoc(kind.__doc__ or ""), "", "Attributes", "----------", *lines])
    return kind


def check_all(options: object) -> None:
    """Check every field of a dataclass of options; ConfigError names the first wrong one."""
    for each in options_of(cast(Hashable, type(options))):
        each.check(getattr(options, each.name), each.name)
