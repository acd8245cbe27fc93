"""Values as text: reading a literal that a model wrote, writing one, closing an unfinished one."""

import re
from typing import Any

from lookup.errors import LiteralError
from lookup.literal_text import escape, render_json, render_quoted
from lookup.literals import parse_literal
from lookup.notations import RENDERERS, Notation
from lookup.object_keys import keys_are_possible, rests_of_keys
from lookup.schema import ANY, MISSING, ParameterSpec, ValueType
from lookup.value_grammar import ValueGrammar, admits_text

_MAX_CLOSING_STEPS = 1024
_OUTER_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def read_value(text: str, spec: ParameterSpec, notation: Notation) -> Any:
    """The Python value of a literal; in quoted notation the content is read by the documented type.

    A quoted content that is no literal of its type stays a string, so that the type check can say so. In JSON the
    documentation says which arrays are tuples.

    Raises
    ------
    LiteralError
        If ``text`` is not one literal.
    """
    value = parse_literal(text)
    if notation == "json":
        if spec.default is not MISSING and render_json(spec.default) == render_json(value):
            return spec.default
        return _with_tuples(value, spec.value_type)
    if notation == "python" or not isinstance(value, str):
        return value
    for member in spec.enum or ():
        if render_quoted(member) == render_quoted(value):
            return member
    if admits_text(spec.value_type):
        return value
    if spec.default is not MISSING and render_quoted(spec.default) == render_quoted(value):
        return spec.default
    try:
        return parse_literal(value)
    except LiteralError:
        return value


def _with_tuples(value: Any, value_type: ValueType) -> Any:
    """A value read from JSON with tuples where the documentation has them."""
    for member in value_type.enum or ():
        if render_json(member) == render_json(value):
            return member
    kinds = ("list", "tuple") if isinstance(value, list) else ("dict",)
    branch = next((t for t in value_type.any_of or (value_type,) if t.kind in kinds), ANY)
    if isinstance(value, list):
        members = [_with_tuples(v, branch.items or ANY) for v in value]
        return tuple(members) if branch.kind == "tuple" else members
    if isinstance(value, dict):
        known = {spec.name: spec.value_type for spec in branch.properties or ()}
        return {k: _with_tuples(v, known.get(k) or branch.items or ANY) for k, v in value.items()}
    return value


def render_value(value: Any, notation: Notation) -> str:
    """The literal of ``value``: ``True``, ``'True'`` and ``true`` in python, quoted and json notation."""
    return RENDERERS[notation](value)


def admissible(text: str, grammar: ValueGrammar) -> bool:
    """Whether ``text`` can become a literal of this grammar whose objects have each key once and all required ones."""
    if not grammar.possible(text):
        return False
    if any(literal.startswith(text) for literal in grammar.beside):
        return True
    return keys_are_possible(_inner(text, grammar), grammar.value_type)


def admissible_behind(text: str, part: bytes, grammar: ValueGrammar) -> bool:
    """Whether a character whose UTF-8 begins with ``part`` may follow ``text``."""
    return any(admissible(text + character, grammar) for character in grammar.characters_from(part))


def _inner(text: str, grammar: ValueGrammar) -> str:
    """The literal as it is without quotes around it."""
    if _is_wrapped(text, grammar):
        return _OUTER_ESCAPE.sub(_unescape, text[1:])
    return text


def _is_wrapped(text: str, grammar: ValueGrammar) -> bool:
    return text.startswith("'") and grammar.wraps_literal


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[1])


def close_literal(text: str, grammar: ValueGrammar) -> str:
    """What must follow ``text``, the beginning of a literal, to complete it, in a few characters.

    Raises
    ------
    LiteralError
        If ``text`` is not the beginning of a literal of this grammar.
    """
    closed = text
    for _ in range(_MAX_CLOSING_STEPS):
        if grammar.complete(closed):
            return closed[len(text) :]
        piece = next((p for p in _closing_pieces(closed, grammar) if admissible(closed + p, grammar)), None)
        if piece is None:
            break
        closed += piece
    raise LiteralError("the beginning of a literal of the documented type", len(text))


def _closing_pieces(text: str, grammar: ValueGrammar) -> list[str]:
    """Pieces to try in turn: end the open string or bracket, else a separator, an atom or the rest of one."""
    closers, in_string, escaped = _open_parts(text, _is_wrapped(text, grammar))
    if keys := rests_of_keys(_inner(text, grammar), grammar.value_type):
        if not _is_wrapped(text, grammar):
            return [*closers[-1:], *keys]
        written = [escape(key, "'") for key in keys]
        # Behind an open escape the first backslash stands there already.
        return [key[1:] for key in written if key.startswith("\\")] if escaped else [*closers[-1:], *written]
    rests = sorted({w[i:] for w in grammar.words for i in range(len(w))}, key=len)
    if in_string:
        return [*("\\'" if escaped else closers[-1]), *rests]
    return [*closers[-1:], ",", ": ", *rests, "[", "{", "("]


def _open_parts(text: str, wrapped: bool) -> tuple[list[str], bool, bool]:
    """Closers still owed (innermost last), whether a string is open, whether an escape is open.

    ``wrapped`` says that a leading quote wraps a literal and is no string itself.
    """
    closers: list[str] = []
    in_string = escaped = False
    for position, character in enumerate(text):
        if escaped:
            escaped = False
        elif in_string:
            escaped = character == "\\"
            if character == closers[-1]:
                closers.pop()
                in_string = False
        elif closers and character == closers[-1]:
            closers.pop()
        elif character in "'\"":
            closers.append(character)
            in_string = not (wrapped and position == 0)
        elif character in "[{(":
            closers.append({"[": "]", "{": "}", "(": ")"}[character])
    return closers, in_string, escaped
