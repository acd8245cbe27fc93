"""Read values in raw notation: a text as it is, or JSON, before a mark."""

from typing import Any, Final

from lookup.dictionary import ParameterSpec, ValueType
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal
from lookup.literals.literal_writer import render_raw
from lookup.values.notations import RawText, inside

_KINDS: Final = {
    str: ("str",), bool: ("bool",), int: ("int", "float"), float: ("float",), list: ("list", "tuple"), dict: ("dict",),
}  # fmt: skip


def raw_end(text: str, position: int, notation: RawText) -> int:
    """Return the end of the literal that starts at ``position``; LiteralError without its mark."""
    core = notation.mark.lstrip("\n")
    found = text.find(core, position)
    if found < 0:
        raise LiteralError(repr(notation.mark), len(text))
    return found + len(core)


def is_padded(text: str, notation: RawText) -> bool:
    """Whether the value of a literal has white space at its ends, which readers strip."""
    content, _ = _content(text, notation)
    return content != content.strip()


def read_raw(text: str, spec: ParameterSpec, notation: RawText) -> Any:
    """The value of a literal with its mark.

    A member of an enum, and the default, are found by their texts. What may be a text is one, unless it is strict JSON
    of another documented type; a lead that says which it is decides.

    Raises
    ------
    LiteralError
        If a lead or the mark is missing, or JSON is malformed where no text may stand.
    """
    leads = notation.text_lead, notation.other_lead
    known = [*sorted(spec.enum or (), key=lambda member: isinstance(member, str)), spec.default]
    for member in known:
        if (
            isinstance(member, str | int | float | list | tuple | dict)
            and render_raw(member, notation.mark, leads) == text
        ):
            return member
    content, is_text = _content(text, notation)
    if is_text is True:
        return content
    texts_fit = is_text is None and (spec.value_type.admits_text or any(isinstance(m, str) for m in spec.enum or ()))
    try:
        if content != content.strip():
            raise LiteralError("JSON without white space around it", 0)
        value = parse_literal(content, inside(notation).dialect)
    except LiteralError:
        if is_text is None:
            return content
        raise LiteralError("JSON", len(text)) from None
    return content if texts_fit and not _is_of(value, spec.value_type, spec.type.nullable) else value


def _content(text: str, notation: RawText) -> tuple[str, bool | None]:
    """Return what stands before the mark, and whether its lead says that it is a text; None if no lead tells."""
    if not text.endswith(notation.mark):
        raise LiteralError(repr(notation.mark), len(text))
    content = text.removesuffix(notation.mark)
    if notation.text_lead == notation.other_lead:
        return content.removeprefix(notation.text_lead), None
    for lead, is_text in ((notation.text_lead, True), (notation.other_lead, False)):
        if content.startswith(lead):
            return content.removeprefix(lead), is_text
    raise LiteralError(f"{notation.text_lead!r} or {notation.other_lead!r}", 0)


def _is_of(value: Any, value_type: ValueType, nullable: bool) -> bool:
    """Whether a value that is no text has one of the documented types; only its outermost type counts."""
    if isinstance(value, str):
        return False
    branches = value_type.any_of or (value_type,)
    if any(branch.kind == "any" and not branch.enum for branch in branches):
        return True
    if value is None:
        return nullable or any(branch.nullable for branch in (value_type, *branches))
    members = {type(member) for branch in branches for member in branch.enum or ()}
    return type(value) in members or any(branch.kind in _KINDS[type(value)] for branch in branches)
