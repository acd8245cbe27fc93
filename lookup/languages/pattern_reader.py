"""Read regular expressions of ECMA 262, with the flag ``u`` and the leniency of real engines."""

import re
from typing import Final

from lookup.languages import codepoints
from lookup.languages.codepoints import DIGIT, EVERY, LINE_ENDS, SPACE, WORD, CodePoints
from lookup.languages.limits import MAX_DEPTH, MAX_PATTERN, MAX_PROPERTIES, MAX_READ, TooLarge, UnsupportedPattern, Work
from lookup.languages.syntax_tree import Edge, Look, Node, characters, choice, repeat, sequence

_LITERAL: Final = re.compile(r"[^\\^$.|?*+()\[{]+(?![*+?{])")
_COUNTS: Final = re.compile(r"\{(\d{1,9})(?:(,)(\d{1,9})?)?\}")
_GROUP_NAME: Final = re.compile(r"\?P?<[A-Za-z_$][\w$]*>")
_FLAGS: Final = re.compile(r"\?([is]{1,2})(:|\))")
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,8})\}")
_LOW: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY: Final = re.compile(r"\{([^{}]*)\}|([A-Z])")
_SETS: Final = {"d": DIGIT, "w": WORD, "s": SPACE}
_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_EDGES: Final = {
    "b": Edge("boundary"),
    "B": Edge("no boundary"),
    "A": Edge("start"),
    "z": Edge("end"),
    "Z": Edge("end"),
}


def read_pattern(pattern: str) -> Node:
    """Read a pattern.

    UnsupportedPattern if it is malformed, or has what no automaton can do: backreferences, lookbehind, possessive
    quantifiers. TooLarge if it is too long, or nested too deep.
    """
    if len(pattern) > MAX_PATTERN:
        raise TooLarge(f"the pattern has more than {MAX_PATTERN} characters")
    return _Reader(pattern).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.flags = frozenset[str]()
        self.work = Work(MAX_READ)
        self.properties: set[str] = set()

    def read(self) -> Node:
        flags = _FLAGS.match(self.text, 1) if self.text.startswith("(") else None
        if flags and flags[2] == ")":
            self.flags = frozenset(flags[1])
            self.at = flags.end()
        node = self.choice()
        if self.at < len(self.text):
            raise self.unsupported("a ')' that closes nothing")
        return node

    def unsupported(self, what: str) -> UnsupportedPattern:
        return UnsupportedPattern(f"{what}, at offset {self.at} of the pattern")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, prefix: str) -> bool:
        found = self.text.startswith(prefix, self.at)
        if found:
            self.at += len(prefix)
        return found

    def choice(self) -> Node:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        return choice(branches)

    def sequence(self) -> Node:
        parts: list[Node] = []
        while (character := self.peek()) and character not in "|)":
            literal = _LITERAL.match(self.text, self.at)
            if literal:
                self.at = literal.end()
                parts += [self.single(ord(character)) for character in literal[0]]
            else:
                parts.append(self.quantified())
        return sequence(parts)

    def quantified(self) -> Node:
        atom = self.atom()
        counts = self.counts()
        if counts is None:
            return atom
        self.take("?")
        if self.peek() in ("*", "+", "?") or self.counts():
            raise self.unsupported("a quantifier behind a quantifier")
        least, most = counts
        if most is not None and most < least:
            raise self.unsupported("a quantifier whose numbers are out of order")
        return repeat(atom, least, most)

    def counts(self) -> tuple[int, int | None] | None:
        sign = self.peek()
        if sign in _SIGNS:
            self.at += 1
            return _SIGNS[sign]
        found = _COUNTS.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        least = int(found[1])
        if not found[2]:
            return least, least
        return least, int(found[3]) if found[3] else None

    def atom(self) -> Node:
        character = self.text[self.at]
        if character in "*+?" or _COUNTS.match(self.text, self.at):
            raise self.unsupported("a quantifier with nothing to repeat")
        self.at += 1
        match character:
            case "^":
                return Edge("start")
            case "$":
                return Edge("end")
            case ".":
                return characters(EVERY if "s" in self.flags else codepoints.complement(LINE_ENDS))
            case "[":
                return characters(self.bracket())
            case "(":
                return self.group()
            case "\\":
                edge = _EDGES.get(self.peek())
                if edge:
                    self.at += 1
                    return edge
                escaped = self.escape()
                return self.single(escaped) if isinstance(escaped, int) else characters(escaped)
        return self.single(ord(character))

    def single(self, point: int) -> Node:
        return characters(self.cased((point, point + 1)))

    def cased(self, points: CodePoints) -> CodePoints:
        self.work.take(len(points) // 4)
        return codepoints.either_case(points) if "i" in self.flags else points

    def group(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"the pattern has more than {MAX_DEPTH} groups inside each other")
        flags = self.flags
        kind = self.group_kind()
        node = self.choice()
        if not self.take(")"):
            raise self.unsupported("a '(' without ')'")
        self.depth -= 1
        self.flags = flags
        return node if kind is None else Look(node, kind)

    def group_kind(self) -> bool | None:
        """``None``: a plain group; else whether the lookahead is negative."""
        if not self.take("?"):
            return None
        for sign, kind in ((":", None), ("=", False), ("!", True)):
            if self.take(sign):
                return kind
        self.at -= 1
        name = _GROUP_NAME.match(self.text, self.at)
        flags = _FLAGS.match(self.text, self.at)
        if name:
            self.at = name.end()
        elif flags and flags[2] == ":":
            self.at = flags.end()
            self.flags |= set(flags[1])
        elif self.text.startswith(("?<=", "?<!"), self.at):
            raise self.unsupported("lookbehind")
        else:
            raise self.unsupported(f"a group that begins with {self.text[self.at : self.at + 2]!r}")
        return None

    def escape(self, in_brackets: bool = False) -> int | CodePoints:
        """What a backslash stands for: a character, or a set of them."""
        letter = self.peek()
        if not letter:
            raise self.unsupported("a backslash at the end")
        if letter in "xu":
            return self.numbered()
        self.at += 1
        if letter in "dws":
            return _SETS[letter]
        if letter in "DWS":
            return codepoints.complement(_SETS[letter.lower()])
        if letter in "pP":
            return self.property(letter == "P")
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "0" and not self.peek().isdecimal():
            return 0
        if letter == "c" and self.peek().isascii() and self.peek().isalpha():
            self.at += 1
            return ord(self.text[self.at - 1]) % 32
        if in_brackets and letter == "b":
            return 8
        if letter.isascii() and letter.isalnum():
            self.at -= 1
            raise self.unsupported(
                "a backreference" if letter.isdecimal() or letter == "k" else f"the escape \\{letter}"
            )
        return ord(letter)

    def numbered(self) -> int:
        found = _HEX.match(self.text, self.at)
        if not found:
            raise self.unsupported(f"the escape \\{self.peek()} without its digits")
        self.at = found.end()
        point = int(found[1] or found[2] or found[3], 16)
        if point > 0x10FFFF:
            raise self.unsupported("a code point beyond U+10FFFF")
        if found[2] and 0xD800 <= point < 0xDC00 and (low := _LOW.match(self.text, self.at)):
            self.at = low.end()
            return 0x10000 + (point - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00
        return point

    def property(self, negative: bool) -> CodePoints:
        found = _PROPERTY.match(self.text, self.at)
        if not found:
            raise self.unsupported("\\p without the name of a property")
        self.at = found.end()
        name = found[1] or found[2] or ""
        self.properties.add(name)
        if len(self.properties) > MAX_PROPERTIES:
            raise TooLarge(f"the pattern has more than {MAX_PROPERTIES} Unicode properties")
        points = self.cased(codepoints.property_set(name))
        return codepoints.complement(points) if negative else points

    def bracket(self) -> CodePoints:
        negative = self.take("^")
        sets: list[CodePoints] = []
        while not self.take("]"):
            first = self.bracket_atom()
            if isinstance(first, int) and self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self.bracket_atom()
                if isinstance(last, int):
                    if last < first:
                        raise self.unsupported("a range whose ends are out of order")
                    sets.append((first, last + 1))
                    continue
                sets += (45, 46), last
            sets.append((first, first + 1) if isinstance(first, int) else first)
        self.work.take(sum(map(len, sets)) // 4)
        points = self.cased(codepoints.union(sets))
        return codepoints.complement(points) if negative else points

    def bracket_atom(self) -> int | CodePoints:
        character = self.peek()
        if not character:
            raise self.unsupported("a '[' without ']'")
        self.at += 1
        return self.escape(in_brackets=True) if character == "\\" else ord(character)
