"""Read a literal that a model wrote, write one, or close an unfinished one."""

from typing import Any

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal, read_literal
from lookup.literals.literal_writer import render_json, render_literal, render_quoted
from lookup.reserved import RESERVED_CHARACTER
from lookup.values.notations import Notation, RawText, inside, renderer
from lookup.values.raw_reader import is_padded, raw_end, read_raw


def read_value(text: str, spec: ParameterSpec, notation: Notation) -> Any:
    """The Python value of a literal. In quoted and raw notation, the documented type determines how it is read.

    A quoted or raw content that is not a literal of its type stays a string, so that the type check can report it. In
    JSON, the documentation determines which arrays are tuples.

    Raises
    ------
    LiteralError
        If ``text`` is not one literal.
    """
    if isinstance(notation, RawText):
        value = read_raw(text, spec, notation)
    else:
        value = parse_literal(text, inside(notation).dialect)
    if notation in ("json", "python-lists", "python-json") or not isinstance(notation, str):
        if spec.default is not MISSING and render_json(spec.default) == render_json(value):
            return spec.default
        return _with_tuples(value, spec.value_type)
    if notation != "quoted" or not isinstance(value, str):
        return value
    for member in spec.enum or ():
        if value == (member if isinstance(member, str) else render_literal(member, '"')):
            return member
    if spec.value_type.admits_text:
        return value
    if spec.default is not MISSING and render_quoted(spec.default) == render_quoted(value):
        return spec.default
    try:
        return parse_literal(value)
    except LiteralError:
        return value


def _with_tuples(value: Any, value_type: ValueType) -> Any:
    """A value read from JSON, with lists converted to tuples as documented."""
    if not isinstance(value, list | dict):
        return value
    written = render_json(value) if value_type.enum else ""
    for member in value_type.enum or ():
        if isinstance(member, list | tuple | dict) and render_json(member) == written:
            return member
    # If both list and tuple are documented, keep the list: the type check accepts it for either.
    kinds = ("list", "tuple") if isinstance(value, list) else ("dict",)
    branch = next((t for kind in kinds for t in value_type.any_of or (value_type,) if t.kind == kind), ANY)
    if isinstance(value, list):
        members = [_with_tuples(v, branch.items or ANY) for v in value]
        return tuple(members) if branch.kind == "tuple" else members
    known = {spec.name: spec.value_type for spec in branch.properties or ()}
    return {k: _with_tuples(v, known.get(k) or branch.items or ANY) for k, v in value.items()}


def render_value(value: Any, notation: Notation) -> str:
    """The literal of ``value``: ``True``, ``'True'`` or ``true`` in python, quoted or json notation.

    Raises
    ------
    TypeError
        If the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    return renderer(notation)(value)


def literal_end(text: str, position: int, notation: Notation) -> int:
    """Return the end of the literal that starts at ``position``; LiteralError if there is none."""
    if isinstance(notation, RawText):
        return raw_end(text, position, notation)
    return read_literal(text, position, inside(notation).dialect)[1]


def is_literal(text: str, notation: Notation) -> bool:
    """Whether readers get a value back from its rendered text.

    Notations without escapes cannot carry some texts and keys, raw texts no white space at their ends, and none of them
    a reserved character.
    """
    mark = "" if isinstance(notation, str) else notation.mark
    if RESERVED_CHARACTER.search(text.replace(mark, "") if mark else text):
        return False
    if isinstance(notation, str):
        return True  # they have escapes
    try:
        end = literal_end(text, 0, notation)
    except LiteralError:
        return False
    return end == len(text) and not (isinstance(notation, RawText) and is_padded(text, notation))


def is_key(name: str, notation: Notation) -> bool:
    """Whether an object in a value may have this key."""
    return is_literal(render_value({name: 0}, notation), notation)
