"""Notations of values: Python literals, quoted literals, JSON, raw text between tags, or JSON with bare keys.

``python`` writes Python literals (``days=3``). ``quoted`` writes every value between single quotes (``days='3'``), as
in API-Bank; strings inside a list or dict have double quotes, or the escaped single ones that models write. A quoted
value is never empty, because API-Bank's reader skips empty ones. ``json`` writes JSON; a tuple is an array.
``json-lines`` is JSON whose brackets may be spread over lines, as models do that write their calls so.
``python-lists`` is ``python`` with lists for tuples, which parsers of native formats do not read, and ``python-json``
moreover writes an object that is the whole value as JSON. ``RawText`` and ``BareKeys`` have parameters.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from lookup.languages.codepoints import RESERVED, RESERVED_CHARACTER
from lookup.literals import syntaxes
from lookup.literals.syntaxes import JSON, PYTHON_OR_JSON, QUOTED, LiteralSyntax


@dataclass(frozen=True)
class RawText:
    """Texts as they are, everything else as JSON, up to a mark: ``Paris\\n</parameter>``.

    The mark belongs to the literal, like a closing quote. A text has no white space at its ends, because readers strip
    it, and no mark inside.

    Attributes
    ----------
    mark : str
        Newlines at its beginning are framing: the rest of the mark may not stand inside a value even without them.
    text_lead, other_lead : str
        What stands before a text, and before other values.
    """

    mark: str
    text_lead: str = ""
    other_lead: str = ""


@dataclass(frozen=True)
class BareKeys:
    """JSON without spaces, with bare keys, and with unescaped texts between two marks: ``{k:<|"|>v<|"|>}`` (Gemma)."""

    mark: str


Notation = Literal["python", "quoted", "json", "json-lines", "python-lists", "python-json"] | RawText | BareKeys

_RESERVED = f"{chr(RESERVED.start)}-{chr(RESERVED.stop - 1)}"
_CONTROL = rf"\x00-\x1f\x7f{_RESERVED}"
_NO_ESCAPE = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
_SPACES = "".join(f"\\u{code:04x}" for code in range(0x3001) if chr(code).isspace())
_CERTAIN: Final = 6
"""After this many characters of a mark, a text is taken to be the mark."""
_BASIC = r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_PAIR = (  # a lone surrogate is not valid; DB80 DC00 begins RESERVED
    rf"(?:[dD](?:[89aA][0-9a-fA-F]{{2}}|[bB](?:[0-79a-fA-F][0-9a-fA-F]|8[1-9a-fA-F])){_LOW}"
    r"|[dD][bB]80\\u[dD][d-fD-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True)
class TextSyntax:
    """The syntax of a text.

    Attributes
    ----------
    opening, closing : str
        What stands around it. ``opening`` may be empty.
    contents : str
        Pattern of the texts that it can write.
    unit : str, optional
        ``regex`` pattern of one character or escape; without it, each character stands for itself.
    """

    opening: str
    closing: str
    contents: str
    unit: str | None = None


_SINGLE: Final = TextSyntax("'", "'", rf"^[^{_NO_ESCAPE}]*$", rf"(?:[^'\\{_CONTROL}]|\\['\"\\nrt])")
_DOUBLE: Final = TextSyntax('"', '"', rf"^[^{_NO_ESCAPE}]*$", rf'(?:[^"\\{_CONTROL}]|\\[\'"\\nrt])')
_INNER: Final = TextSyntax('"', '"', r'^[^"\\\x00-\x1f\x7f]*$', rf"(?:[^\"'\\{_CONTROL}]|\\')")
_INNER_SINGLE: Final = TextSyntax(r"\'", r"\'", r"^[^'\\\x00-\x1f\x7f]*$", rf"[^'\\{_CONTROL}]")
_JSON: Final = TextSyntax('"', '"', "", rf'(?:[^"\\\x00-\x1f{_RESERVED}]|\\(?:["\\/bfnrt]|u(?:{_BASIC}|{_PAIR})))')

QUOTED_TEXT: Final = replace(_SINGLE, contents=rf"^[^{_NO_ESCAPE}]+$")
"""A non-empty text in quoted notation."""

BARE_KEY: Final = TextSyntax("", ":", rf'^[^{_SPACES}:,{{}}\[\]<>"|\x00-\x1f]+$')
"""The key of an object, without quotes, with its colon."""


def raw_text(notation: RawText, not_first: str = "") -> TextSyntax:
    """The syntax of a text with its mark that does not begin with some characters.

    Where white space stands before a mark, where none may, the mark is not even begun: readers would cut it off there.
    """
    core = notation.mark.lstrip("\n")
    framing = notation.mark[: len(notation.mark) - len(core)]
    refused = f"(?![{_escaped(not_first)}])" if not_first else ""
    if not RESERVED_CHARACTER.search(core):
        other_space = _SPACES.replace("\\u000a", "") if framing else _SPACES
        refused += f"(?![^]*(?:[{_SPACES}]{_escaped(framing)}|[{other_space}]){_escaped(core[:_CERTAIN])})"
    stripped = f"(?:[^{_SPACES}](?:[^]*[^{_SPACES}])?)?$"
    return TextSyntax(notation.text_lead, notation.mark, f"^{_without(core)}{refused}{stripped}")


def _without(mark: str) -> str:
    """The pattern before which a mark does not follow."""
    return "" if RESERVED_CHARACTER.search(mark) else f"(?![^]*{_escaped(mark)})"  # no text has a reserved character


def _escaped(text: str) -> str:
    """The pattern of a text, and of the characters of a set."""
    return re.sub(r"\W", lambda found: f"\\u{{{ord(found[0]):x}}}", text)


class Spacing(NamedTuple):
    """What stands between a key and its value (a bare key ends with its colon itself), and between two members.

    ``lines`` says whether each member, and the closing bracket, may begin in a line of its own.
    """

    colon: str
    comma: str
    lines: bool = False


SPACED: Final = Spacing(": ", ", ")


@dataclass(frozen=True)
class Inside:
    """How a notation writes the members of lists, tuples and dicts.

    Attributes
    ----------
    texts : tuple of TextSyntax
        The alternatives for a text, the usual one first.
    render : callable
        Value -> literal.
    keys : callable
        Key -> the alternatives for writing it.
    free_keys : tuple of TextSyntax
        The alternatives for any key.
    syntax : LiteralSyntax
        How literals are read.
    """

    texts: tuple[TextSyntax, ...]
    render: Callable[[Any], str]
    keys: Callable[[str], list[str]]
    free_keys: tuple[TextSyntax, ...]
    has_tuples: bool = True
    spacing: Spacing = SPACED
    syntax: LiteralSyntax = PYTHON_OR_JSON


def _between_quotes(value: Any) -> str:
    """A literal inside a list or dict that is written between single quotes."""
    return syntaxes.escape(syntaxes.render_literal(value, '"'), "'")


_PYTHON: Final = Inside(
    (_SINGLE, _DOUBLE),
    syntaxes.render_literal,
    lambda key: [syntaxes.render_literal(key), syntaxes.render_literal(key, '"')],
    (_SINGLE, _DOUBLE),
)
_PYTHON_LISTS: Final = replace(_PYTHON, render=syntaxes.render_python_lists, has_tuples=False)
_QUOTED: Final = Inside(
    (_INNER, _INNER_SINGLE),
    _between_quotes,
    lambda key: [_between_quotes(key), syntaxes.escape(syntaxes.render_literal(key), "'")],
    (_INNER, _INNER_SINGLE),
    syntax=QUOTED,
)
_AS_JSON: Final = Inside(
    (_JSON,), syntaxes.render_json, lambda key: [syntaxes.render_json(key)], (_JSON,), has_tuples=False, syntax=JSON
)
_IN_LINES: Final = replace(_AS_JSON, spacing=SPACED._replace(lines=True))


def is_json(notation: Notation) -> bool:
    """Whether all of a notation's values are JSON."""
    return notation in ("json", "json-lines")


@lru_cache(maxsize=64)
def inside(notation: Notation) -> Inside:
    """Return how a notation writes the inside of brackets."""
    match notation:
        case "python":
            return _PYTHON
        case "python-lists" | "python-json":
            return _PYTHON_LISTS
        case "quoted":
            return _QUOTED
        case "json-lines":
            return _IN_LINES
        case BareKeys(mark):
            return Inside(
                (TextSyntax(mark, mark, f"^{_without(mark.lstrip(chr(10)))}[^]*$"),),
                partial(syntaxes.render_bare, mark=mark),
                lambda key: [f"{key}:"],
                (BARE_KEY,),
                has_tuples=False,
                spacing=Spacing(colon="", comma=","),
                syntax=syntaxes.bare_keys(mark),
            )
    return _AS_JSON
