"""Value grammars: for each type a ``regex`` pattern that says complete or still possible.

All patterns are bounded (digits, white space, depth) and built from possessive pieces, so matching
takes time linear in the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

import regex

from lookup.notations import INSIDE, PLAIN_TEXT, RENDERERS, Inside, Notation
from lookup.schema import ANY, MISSING, Kind, ParameterSpec, ValueType
from lookup.unions import united

Constraint = Literal["typed", "free"]

MAX_DEPTH = 5
"""Deepest nesting of lists, tuples and dicts in a value that the model writes."""

_INT = r"-?+(?:0|[1-9][0-9]{0,17})"
_FLOAT = r"-?+(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?"

_BRACKETS: Final[Mapping[Kind, str]] = {"list": "[", "dict": "{", "tuple": "("}
_ANY_CHARACTER = "\u4e00"  # a string that takes this one takes every character beyond ASCII
_ASCII = tuple(map(chr, range(128)))
_LEADING = frozenset(range(0xC2, 0xF5))  # of all characters beyond ASCII
_EXTENDING = "0123456789.eE"


@dataclass(frozen=True)
class ValueGrammar:
    """The literals that one parameter may take in one notation.

    Attributes
    ----------
    pattern : str
        ``regex`` pattern of a whole literal.
    opener : str
        Text that every literal begins with (an opening quote or bracket), empty if there is none.
    choices : tuple of str, or None
        All literals, when they are few and none is a prefix of another (enums, booleans).
    words : tuple of str
        Atoms from which an unfinished literal can be closed, beside the keys of objects.
    letters : frozenset of str
        The characters of words and keys.
    value_type : ValueType
        Of the literals between the brackets: tells which keys an object has.
    beside : tuple of str
        Whole literals that are admitted beside those of the type.
    """

    pattern: str
    opener: str
    choices: tuple[str, ...] | None
    words: tuple[str, ...]
    letters: frozenset[str] = frozenset()
    value_type: ValueType = ANY
    beside: tuple[str, ...] = ()

    @property
    def _compiled(self) -> "regex.Pattern[str]":
        return _compile(self.pattern)

    def complete(self, text: str) -> bool:
        """Whether ``text`` is a whole literal."""
        return self._compiled.fullmatch(text) is not None

    def possible(self, text: str) -> bool:
        """Whether ``text`` is a literal or the beginning of one."""
        return self._compiled.fullmatch(text, partial=True) is not None

    @property
    def wraps_literal(self) -> bool:
        """Whether a leading quote wraps a literal (quoted notation) and begins no string of its own."""
        return not self.possible("'\u00e9")

    def characters_from(self, part: bytes) -> set[str]:
        """Characters whose UTF-8 begins with ``part``, among them all that the grammar treats differently."""
        return {c for c in self.letters if c.encode().startswith(part)}.union(_ANY_CHARACTER)

    def bytes_after(self, text: str) -> frozenset[int]:
        """What the UTF-8 of a character that may follow ``text`` can begin with."""
        return _bytes_after(self.pattern, self.letters, text)

    def extendable(self, text: str) -> bool:
        """Whether the complete literal ``text`` is also the beginning of a longer one (``1`` of ``13``)."""
        tails = {w[len(text) : len(text) + 1] for w in self.words if w.startswith(text)}
        return any(self.possible(text + c) for c in tails.union(_EXTENDING) if c)


@lru_cache(maxsize=4096)
def _bytes_after(pattern: str, letters: frozenset[str], text: str) -> frozenset[int]:
    compiled = _compile(pattern)
    characters = {c for c in {*_ASCII, *letters, _ANY_CHARACTER} if compiled.fullmatch(text + c, partial=True)}
    return frozenset(c.encode()[0] for c in characters) | (_LEADING if _ANY_CHARACTER in characters else frozenset())


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> "regex.Pattern[str]":
    return regex.compile(pattern)


def value_grammar(spec: ParameterSpec, notation: Notation, constraint: Constraint = "typed") -> ValueGrammar:
    """The grammar of a parameter's values.

    ``typed`` admits literals of the documented type, only members where an enum is documented, the documented
    default beside both, and null where it is allowed. ``free`` is the paper's way (section 3.2): any literal, to be
    dropped by the type check when voting.
    """
    if constraint == "free":
        return _grammar(ANY, notation)
    grammar = _grammar(_with_arrays(spec.value_type) if notation == "json" else spec.value_type, notation)
    render = RENDERERS[notation]
    beside = [] if spec.default is MISSING else [render(spec.default)]
    if spec.type.nullable:
        beside.append(render(None))
    for literal in beside:
        # In quoted notation a value is never empty.
        if literal != "''" and not grammar.complete(literal):
            grammar = _with_literal(grammar, literal)
    return grammar


def _with_literal(grammar: ValueGrammar, literal: str) -> ValueGrammar:
    """The grammar, and one literal more."""
    return replace(
        grammar,
        pattern=f"(?:{grammar.pattern}|{_alternatives([literal])})",
        opener=grammar.opener if literal.startswith(grammar.opener) else "",
        choices=None if grammar.choices is None else _members([*grammar.choices, literal]).choices,
        words=(*grammar.words, literal),
        letters=grammar.letters | frozenset(literal),
        beside=(*grammar.beside, literal),
    )


def _grammar(value_type: ValueType, notation: Notation) -> ValueGrammar:
    kind, inside = value_type.kind, INSIDE[notation]
    if value_type.enum:
        return _members(RENDERERS[notation](m) for m in value_type.enum)
    if kind == "bool":
        return _members(RENDERERS[notation](m) for m in (True, False))
    if notation == "quoted" and admits_text(value_type):
        return ValueGrammar(PLAIN_TEXT, "'", None, ("0",))
    if kind == "str":
        body, opener = inside.plain_string, inside.plain_string[0]
    else:
        body, opener = _body(replace(value_type, nullable=False), inside), _BRACKETS.get(kind, "")
    if notation == "quoted":
        body, opener = f"'{body}'", f"'{opener}"
    words = (*_inner_words(value_type, inside), *inside.words)
    letters = frozenset("".join([*words, *_key_names(value_type)]))
    return ValueGrammar(body, opener, None, words, letters, value_type)


def _with_arrays(value_type: ValueType) -> ValueType:
    """The type with a list wherever the documentation has a tuple, which JSON cannot tell apart."""
    changed = replace(
        value_type,
        kind="list" if value_type.kind == "tuple" else value_type.kind,
        items=value_type.items and _with_arrays(value_type.items),
        properties=value_type.properties
        and tuple(replace(p, type=_with_arrays(p.type)) for p in value_type.properties),
    )
    if not value_type.any_of:
        return changed
    branches = united(_with_arrays(branch) for branch in value_type.any_of)
    return replace(branches, enum=value_type.enum, nullable=value_type.nullable)


def admits_text(value_type: ValueType) -> bool:
    """Whether any text is a value of the type, so that a quoted text is itself and no literal in quotes."""
    branches = value_type.any_of or (value_type,)
    return any(branch.kind in ("str", "any") and not branch.enum and not branch.any_of for branch in branches)


def _members(literals: Iterable[str]) -> ValueGrammar:
    unique = tuple(dict.fromkeys(literals))
    prefix_free = not any(a != b and b.startswith(a) for a in unique for b in unique)
    return ValueGrammar(_alternatives(unique), "", unique if prefix_free else None, unique, frozenset("".join(unique)))


def _alternatives(literals: Iterable[str]) -> str:
    return f"(?:{'|'.join(regex.escape(m, special_only=True) for m in literals)})"


def _inner_words(value_type: ValueType, inside: Inside) -> Iterator[str]:
    """The literals of all enums of elements and objects, and of the defaults of objects, at any depth."""
    for inner in (*value_type.any_of, *filter(None, [value_type.items])):
        yield from (inside.render(member) for member in inner.enum or ())
        yield from _inner_words(inner, inside)
    for spec in value_type.properties or ():
        yield from (inside.render(member) for member in (*(spec.enum or ()), *_plain_default(spec)))
        yield from _inner_words(spec.value_type, inside)


def _key_names(value_type: ValueType) -> Iterator[str]:
    for inner in (*value_type.any_of, *filter(None, [value_type.items])):
        yield from _key_names(inner)
    for spec in value_type.properties or ():
        yield spec.name
        yield from _key_names(spec.type)


def _plain_default(spec: ParameterSpec) -> list[Any]:
    """The default of an object's key, if it is no list, tuple or dict."""
    return [] if spec.default is MISSING or isinstance(spec.default, list | tuple | dict) else [spec.default]


def _body(value_type: ValueType, inside: Inside) -> str:
    """Pattern of a bare literal."""
    string = inside.string
    scalar = f"(?:{string}|{_FLOAT}|{inside.boolean}|{inside.null})"
    # Named, since a pattern that holds another one twice at each level would double in length.
    named = [f"(?<any0>{scalar})"]
    for depth in range(1, MAX_DEPTH + 1):
        element = f"(?&any{depth - 1})"
        nested = [_list(element), *([_tuple(element)] if inside.has_tuples else []), _dict(f"{string}:[ ]?{element}")]
        named.append(f"(?<any{depth}>{scalar}|{'|'.join(nested)})")

    def literal(of: ValueType, depth: int) -> str:
        if of.nullable:
            return f"(?:{literal(replace(of, nullable=False), depth)}|{inside.null})"
        if of.enum:
            return _alternatives(inside.render(m) for m in of.enum)
        if of.any_of:
            return f"(?:{'|'.join(literal(branch, depth) for branch in of.any_of)})"
        below = max(depth - 1, 0)
        match of.kind:
            case "str":
                return string
            case "int":
                return _INT
            case "float":
                return _FLOAT
            case "bool":
                return inside.boolean
            case "any":
                return f"(?&any{depth})"
        element = name(literal(of.items, below)) if of.items else f"(?&any{below})"
        if of.kind == "list":
            return _list(element)
        if of.kind == "tuple":
            return _tuple(element)
        if not of.properties:
            return _dict(f"{string}:[ ]?{element}")
        return _dict(name("|".join(pair(spec, below) for spec in of.properties)))

    def pair(spec: ParameterSpec, depth: int) -> str:
        default = [_alternatives([inside.render(value)]) for value in _plain_default(spec)]
        values = "|".join([literal(spec.value_type, depth), *default])
        return f"{_alternatives(inside.keys(spec.name))}:[ ]?(?:{values})"

    def name(pattern: str) -> str:
        label = f"part{len(named)}"
        named.append(f"(?<{label}>{pattern})")
        return f"(?&{label})"

    pattern = literal(value_type, MAX_DEPTH)
    return f"(?(DEFINE){''.join(named)}){pattern}" if "(?&" in pattern else pattern


def _list(element: str) -> str:
    return rf"\[(?:{element}(?:,[ ]?{element})*+)?\]"


def _tuple(element: str) -> str:
    return rf"\((?:{element}(?:,|(?:,[ ]?{element})++))?\)"


def _dict(pair: str) -> str:
    return rf"\{{(?:{pair}(?:,[ ]?{pair})*+)?\}}"
