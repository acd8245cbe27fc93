"""Read a literal that a model wrote, write one, or close an unfinished one."""

from typing import Any

from lookup.dictionary import MISSING, ParameterSpec
from lookup.errors import LiteralError
from lookup.grammar.notations import Notation, RawText, inside
from lookup.languages.codepoints import RESERVED_CHARACTER
from lookup.literals.literal_reader import literal_or, parse_literal, read_literal
from lookup.literals.syntaxes import JSON, escape, render_json, render_literal
from lookup.schema.value_schema import schema_of


def read_value(text: str, spec: ParameterSpec, notation: Notation) -> Any:
    """The Python value of a literal. In quoted and raw notation, the parameter's schema determines how it is read.

    What may be a text is one: between quotes before anything else, raw only where it is no JSON that the schema allows;
    a lead that says which it is decides. In JSON, the documentation determines which arrays are tuples.

    LiteralError if ``text`` is not one literal.
    """
    if isinstance(notation, RawText):
        return _as_documented(_read_raw(text, spec, notation), spec)
    value = parse_literal(text, inside(notation).syntax)
    if notation == "quoted":
        return _unquoted(value, spec) if isinstance(value, str) else value
    return value if notation == "python" else _as_documented(value, spec)


def _unquoted(text: str, spec: ParameterSpec) -> Any:
    """The value of what stands between quotes."""
    for member in spec.enum or ():
        if not isinstance(member, str) and text == render_literal(member, '"'):
            return member
    if _may_be_text(text, spec):
        return text
    return literal_or(text, text)


def _read_raw(text: str, spec: ParameterSpec, notation: RawText) -> Any:
    """The value of a literal with its mark."""
    content, is_text = _content(text, notation)
    if is_text:
        return content
    value = literal_or(content, MISSING, JSON) if content == content.strip() else MISSING
    if value is MISSING:
        if is_text is None:
            return content
        raise LiteralError("JSON", len(text))
    if is_text is None and _may_be_text(content, spec) and (isinstance(value, str) or not _obeys(value, spec)):
        return content
    return value


def _may_be_text(content: str, spec: ParameterSpec) -> bool:
    schema = schema_of(spec)
    return schema.has_texts or schema.allows(content)


def _obeys(value: Any, spec: ParameterSpec) -> bool:
    is_default = spec.default is not MISSING and render_json(value) == render_json(spec.default)
    return is_default or schema_of(spec).allows(value)


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


def _as_documented(value: Any, spec: ParameterSpec) -> Any:
    """A value read from JSON; the default as it is documented, which may be a tuple."""
    if spec.default is MISSING or render_json(spec.default) != render_json(value):
        return value
    wrong = isinstance(spec.default, tuple) and not schema_of(spec).allows(spec.default)  # keys: list[str] = ()
    return value if wrong else spec.default


def render_value(value: Any, notation: Notation) -> str:
    """The literal of ``value``: ``True``, ``'True'`` or ``true`` in python, quoted or json notation.

    TypeError if the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    match notation:
        case RawText(mark, text_lead, other_lead):
            return (text_lead + value if isinstance(value, str) else other_lead + render_json(value)) + mark
        case "quoted":
            written = escape(value, "'") if isinstance(value, str) else inside(notation).render(value)
            return f"'{written}'"
        case "python-json" if isinstance(value, dict):
            return render_json(value)
    return inside(notation).render(value)


def is_literal(text: str, notation: Notation) -> bool:
    """Whether readers get a value back from its rendered text.

    Notations without escapes cannot carry some texts and keys, raw texts no white space at their ends, and none of them
    a reserved character.
    """
    if isinstance(notation, str):  # it has escapes
        return not RESERVED_CHARACTER.search(text)
    if RESERVED_CHARACTER.search(text.replace(notation.mark, "")):
        return False
    if isinstance(notation, RawText):
        core, content = notation.mark.lstrip("\n"), _content(text, notation)[0]
        return text.find(core) + len(core) == len(text) and content == content.strip()
    try:
        return read_literal(text, 0, inside(notation).syntax)[1] == len(text)
    except LiteralError:
        return False


def is_key(name: str, notation: Notation) -> bool:
    """Whether an object in a value may have this key."""
    return is_literal(name if isinstance(notation, str) else render_value({name: 0}, notation), notation)
