"""Read Python parameter lists in any text: ``(a: int, b: str = 'x', *, c: list[str] | None = None)``.

A linear scanner finds brackets, strings and comments; nothing is evaluated. A key with a default is optional, even if
the default is an expression that only Python can evaluate; otherwise it is required.
"""

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.dictionary import ANY, MISSING, Obligations, ValueType
from lookup.errors import DocumentationError, LiteralError
from lookup.literals.literal_reader import parse_literal
from lookup.parameters.plain_values import plain_value
from lookup.python.tokens import Member, read_list, read_string
from lookup.types.type_names import value_type

_KEY = re.compile(r"[^\W\d]\w*")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_DIGIT_GROUPS = re.compile(r"[+-]?\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?")
_ANNOTATED = re.compile(r"(?:\w+\.)*Annotated\[")
_CALL = re.compile(r"(?:\w+\.)*(Field|Doc)\(")
_FACTORIES: Final[dict[str, Callable[[], Any]]] = {"list": list, "dict": dict}


@dataclass(frozen=True)
class Parameter:
    """One key of a signature.

    ``raw_type`` is empty without an annotation. ``optional`` says whether there is a default; ``default`` is
    ``MISSING`` if it is not a literal. ``schema`` says what a value is.
    """

    key: str
    raw_type: str = ""
    type: ValueType = ANY
    enum: tuple[Any, ...] | None = None
    description: str = ""
    default: Any = MISSING
    optional: bool = False
    schema: Obligations | None = None


@dataclass(frozen=True)
class Signature:
    """A parameter list, notes about what was ignored, and the offset behind it."""

    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...]
    end: int


def read_signature(text: str, position: int, limit: int | None = None) -> Signature:
    """Read the parameter list that opens at ``position``. It must close before ``limit``.

    ``*args``, ``**kwargs`` and ``...`` become notes. A first parameter ``self`` or ``cls`` is dropped.

    Raises
    ------
    LiteralError
        If the list is not closed or longer than ``MAX_LENGTH``, or if a member is not a parameter or repeats a name.
    """
    members, end = read_list(text, position, limit)
    parameters: dict[str, Parameter] = {}
    notes: list[str] = []
    for index, member in enumerate(members):
        key = member.key
        if key == "lambda":
            raise LiteralError("a parameter", member.start)
        if member.text in ("/", "*") or (index == 0 and key in ("self", "cls")):
            continue
        if member.text == "...":
            notes.append("further keys are not documented")
        elif key.startswith("*") and _KEY.fullmatch(key.lstrip("*").strip()):
            notes.append(no_key(key))
        elif _KEY.fullmatch(key) and key not in parameters:
            parameters[key] = _parameter(member, notes)
        else:
            expected = "a key that is not there yet" if key in parameters else "a parameter such as 'key: type'"
            raise LiteralError(expected, member.start)
    return Signature(tuple(parameters.values()), tuple(notes), end)


def no_key(starred: str) -> str:
    """The note for ``*args`` and ``**kwargs``."""
    return f"{starred} takes values beside the documented keys: it is no key"


def no_literal(key: str, written: str) -> str:
    """The note for a default that is not a literal."""
    shown = " ".join(written.split())
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"the default of {key!r} is no literal: {shown}"


def _parameter(member: Member, notes: list[str]) -> Parameter:
    found = Parameter(member.key)
    if member.annotation:
        found = read_annotation(found, member.annotation, notes)
    if member.value is None:
        return found
    call = _CALL.match(member.value)
    if call and member.value.endswith(")"):
        return _read_call(found, call, notes)
    return _with_default(found, member.value, notes)


def read_annotation(parameter: Parameter, written: str, notes: list[str]) -> Parameter:
    """The parameter with the type and enum of its annotation, and with the extras of ``Annotated``.

    ``raw_type`` is the type verbatim on one line, without the quotes of a forward reference.
    """
    if written[:1] in ("'", '"'):
        with contextlib.suppress(LiteralError):  # 'A' | 'B' stays as it is
            written = str(parse_literal(written))
    members: list[Member] = []
    if (match := _ANNOTATED.match(written)) or written.startswith("("):
        with contextlib.suppress(LiteralError):
            members, end = read_list(written, match.end() - 1 if match else 0)
            # A type in brackets may span several lines.
            if end != len(written) or (not match and len(members) > 1):
                members = []
    raw_type = " ".join(line.strip() for line in (members[0].text if members else written).splitlines())
    found = value_type(raw_type)
    parameter = replace(parameter, raw_type=raw_type, type=replace(found, enum=None), enum=found.enum)
    for extra in members[1:]:
        if call := _CALL.match(extra.text):
            parameter = _read_call(parameter, call, notes)
        elif extra.text[:1] in ("'", '"') and not parameter.description:
            parameter = replace(parameter, description=_text(extra.text))
    return parameter


def _read_call(parameter: Parameter, call: re.Match[str], notes: list[str]) -> Parameter:
    """The parameter with the arguments of ``Field(...)`` or ``Doc("...")``."""
    try:
        members, _ = read_list(call.string, call.end() - 1)
    except LiteralError:
        return parameter
    for index, member in enumerate(members):
        if member.value is not None:
            word, value = member.key, member.value
        elif index == 0:
            word, value = "default" if call[1] == "Field" else "description", member.text
        else:
            continue
        if word == "description":
            parameter = replace(parameter, description=_text(value))
        elif word == "default" and value != "...":
            parameter = _with_default(parameter, value, notes)
        elif word == "default_factory" and value in _FACTORIES:
            parameter = replace(parameter, default=_FACTORIES[value](), optional=True)
        elif word == "default_factory":
            parameter = _with_default(parameter, f"{value}()", notes)
        elif word in ("enum", "json_schema_extra"):
            parameter = _with_enum(parameter, value)
    return parameter


def _with_default(parameter: Parameter, written: str, notes: list[str]) -> Parameter:
    try:
        default = read_value(written)
    except LiteralError:
        notes.append(no_literal(parameter.key, written))
        default = MISSING
    return replace(parameter, default=default, optional=True)


def _with_enum(parameter: Parameter, written: str) -> Parameter:
    try:
        found = read_value(written)
    except LiteralError:
        return parameter
    members = found.get("enum") if isinstance(found, dict) else found
    return replace(parameter, enum=tuple(members)) if isinstance(members, list) and members else parameter


def _text(written: str) -> str:
    try:
        found = read_value(written)
    except LiteralError:
        return ""
    return found if isinstance(found, str) else ""


def read_value(written: str) -> Any:
    """The value of a Python literal, including ``1_000``, ``0x10``, ``'two ' 'parts'`` and ``r'\\d'``.

    Raises
    ------
    LiteralError
        If the text is not one literal, or a call cannot contain its value (a set, NaN).
    """
    if _DIGIT_GROUPS.fullmatch(written):
        written = written.replace("_", "")
    try:
        value = int(written, 0) if _BASED.fullmatch(written) else parse_literal(written)
    except LiteralError:
        value = _read_strings(written)
    try:
        return plain_value(value, "default", "a parameter")
    except DocumentationError as error:
        raise LiteralError(str(error), 0) from None


def _read_strings(written: str) -> str:
    """Concatenate adjacent strings, which may be in brackets and on several lines."""
    if written.startswith("(") and written.endswith(")"):
        written = written[1:-1]
    parts: list[str] = []
    position = 0
    while True:
        while written[position : position + 1].isspace():
            position += 1
        if position == len(written) and parts:
            return "".join(parts)
        part, position = read_string(written, position)
        parts.append(part)
