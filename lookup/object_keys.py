"""The keys of the objects inside a literal that is still being written.

A regular expression says which keys an object may have, but not which it has already. This says of a beginning that a
grammar admits whether it can still become a literal whose objects give no key twice and every required one.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from lookup.literal_text import escape
from lookup.literals import parse_literal
from lookup.schema import ANY, Kind, ParameterSpec, ValueType

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*(?P<single>'?)|"(?:[^"\\]|\\.)*(?P<double>"?)|[\[\](){}:,]""", re.DOTALL)
_KINDS: Final[dict[str, Kind]] = {"{": "dict", "[": "list", "(": "tuple"}
_CLOSERS: Final = frozenset("]})")


@dataclass
class _Container:
    """A bracket that is open: what its next member must be."""

    type: ValueType
    keyed: bool
    expects_key: bool
    used: set[str] = field(default_factory=set)
    key: str = ""
    begun: str = ""  # a key that is under way

    @property
    def properties(self) -> tuple[ParameterSpec, ...]:
        return (self.keyed and self.type.properties) or ()

    @property
    def member_type(self) -> ValueType:
        """The type of the value of ``key``, or of an element."""
        found = next((p.value_type for p in self.properties if p.name == self.key), None)
        return found or self.type.items or ANY

    @property
    def left(self) -> list[ParameterSpec]:
        """The documented keys that are not used yet."""
        return [p for p in self.properties if p.name not in self.used]

    def lacks_required(self) -> bool:
        return any(p.required and p.name not in self.used for p in self.properties)

    def take_key(self, begun: str, complete: bool) -> bool:
        """Whether a key, or the beginning of one, is possible here."""
        if not complete:
            self.begun = begun
            return not self.properties or bool(self.rests())
        key = str(parse_literal(begun))
        if key in self.used:
            return False
        self.used.add(key)
        self.key, self.expects_key = key, False
        return True

    def rests(self) -> list[str]:
        """What completes the key that is under way or comes next, required keys first."""
        quote = self.begun[:1] or '"'
        left = sorted(self.left, key=lambda spec: not spec.required)
        written = (f"{quote}{escape(spec.name, quote)}{quote}" for spec in left)
        return [text[len(self.begun) :] for text in written if text.startswith(self.begun)]


def keys_are_possible(beginning: str, value_type: ValueType) -> bool:
    """Whether the objects in a beginning repeat no key, close with all required ones, and can go on.

    Parameters
    ----------
    beginning : str
        The beginning of a literal that the grammar of ``value_type`` admits; time linear in its length.
    """
    return "{" not in beginning or _open_containers(beginning, value_type) is not None


def rests_of_keys(beginning: str, value_type: ValueType) -> list[str]:
    """What completes the key of an object that a possible beginning ends in, or the keys that may come next.

    Empty where no key is expected, or any key may be written.
    """
    stack = _open_containers(beginning, value_type)
    return stack[-1].rests() if stack and stack[-1].expects_key else []


def _open_containers(beginning: str, value_type: ValueType) -> list[_Container] | None:
    """The brackets that are open at the end, innermost last; ``None`` if the beginning is impossible."""
    stack: list[_Container] = []
    for token in _TOKEN.finditer(beginning):
        char = token[0][0]
        top = stack[-1] if stack else None
        if char in _KINDS:
            inside = _inside(top.member_type if top else value_type, _KINDS[char])
            stack.append(_Container(inside, keyed=char == "{", expects_key=char == "{"))
        elif top is None:
            continue
        elif char in _CLOSERS:
            if top.lacks_required():
                return None
            stack.pop()
        elif char == ",":
            top.expects_key = top.keyed
            if top.properties and not top.left:
                return None
        elif char != ":" and top.expects_key:
            complete = bool(token["single"] or token["double"])
            if not top.take_key(token[0] if complete else beginning[token.start() :], complete):
                return None
    return stack


def _inside(value_type: ValueType, kind: Kind) -> ValueType:
    """The type of a bracket's content: of a union the branch that such a bracket opens; an enum says all by itself."""
    branches = [branch for branch in value_type.any_of or (value_type,) if branch.kind == kind]
    return branches[0] if len(branches) == 1 and not value_type.enum and not branches[0].enum else ANY
