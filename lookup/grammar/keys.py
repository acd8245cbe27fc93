"""The keys of objects: which there are, which of them are required, and which others may stand beside them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from lookup.errors import LiteralError
from lookup.grammar.notations import SPACED, Spacing
from lookup.grammar.parsers import ValueParser, byte_length
from lookup.grammar.plain_parsers import SortedTexts
from lookup.grammar.texts import Text
from lookup.literals.literal_reader import parse_key
from lookup.literals.syntaxes import PYTHON_OR_JSON, LiteralSyntax


class Key(NamedTuple):
    """A named key.

    Attributes
    ----------
    texts : tuple of str
        The alternatives for writing it, the usual one first.
    parser : ValueParser
        The parser of its value.
    spacing : Spacing
        What stands behind it; a bare key ends with its colon itself.
    needs : tuple of int
        The numbers of the keys that must stand in the object if this one does.
    """

    texts: tuple[str, ...]
    parser: ValueParser
    required: bool

    spacing: Spacing = SPACED
    needs: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """About the bytes of the key with its shortest value, see ``ValueParser.rank``."""
        return byte_length(self.texts[0]) + self.parser.rank

    def shortest(self) -> str:
        """The key with its shortest value."""
        return self.texts[0] + self.spacing.colon + self.parser.shortest()


class FreeKeys(NamedTuple):
    """Keys that are not named.

    Attributes
    ----------
    texts : tuple of Text
        The alternatives for writing one.
    value : callable
        Key -> the parser of its value; ``None`` if the object may not have this key.
    values : tuple of ValueParser
        What values there are.
    is_open : bool
        Whether they may be any text, and all have a value, so that what is begun can always go on.
    """

    texts: tuple[Text, ...]
    value: Callable[[str], ValueParser | None]
    values: tuple[ValueParser, ...]
    is_open: bool = False


class KeyRules:
    """What the keys of an object obey.

    Parameters
    ----------
    keys : sequence of Key
        The named keys.
    free : FreeKeys, optional
        Other keys; without them there are none.
    least, most : int
        The number of keys; ``most`` may be ``None``.
    syntax : LiteralSyntax
        How keys are read.
    """

    def __init__(
        self,
        keys: Sequence[Key],
        free: FreeKeys | None = None,
        spacing: Spacing = SPACED,
        least: int = 0,
        most: int | None = None,
        syntax: LiteralSyntax = PYTHON_OR_JSON,
    ) -> None:
        self.syntax = syntax
        self.keys = tuple(keys)
        self.free = free
        self.least = least
        self.most = most
        self.spacing = spacing
        self.texts = SortedTexts(text for key in keys for text in key.texts)
        places = {text: place for place, text in enumerate(self.texts.texts)}
        # A set of keys is an integer with a bit for each text of a key, at the position of that text.
        self.bits = [sum(1 << places[text] for text in key.texts) for key in keys]
        self.key_at: Mapping[int, int] = {places[text]: n for n, key in enumerate(keys) for text in key.texts}
        self.all_bits = (1 << len(self.texts.texts)) - 1
        self.required_bits = sum(bits for bits, key in zip(self.bits, keys, strict=True) if key.required)
        self._has_needs = any(key.needs for key in keys)

    @cached_property
    def names(self) -> frozenset[str]:
        """The named keys as they are read, but for those with escapes in escapes, which no free key has."""
        found = set[str]()
        for text in self.texts.texts:
            with suppress(LiteralError):
                found.add(parse_key(text, self.syntax))
        return frozenset(found)

    def needed(self, used: int) -> int:
        """The keys that must stand in an object with the keys ``used``, as bits."""
        needed = self.required_bits
        if self._has_needs:
            while True:
                more = needed
                for bits, key in zip(self.bits, self.keys, strict=True):
                    if bits & (used | needed):
                        more |= sum(self.bits[number] for number in key.needs)
                if more == needed:
                    break
                needed = more
        return needed

    def missing(self, used: int) -> list[Key]:
        """The unused keys that an object needs, in documentation order."""
        needed = self.needed(used) & ~used
        return [key for key, bits in zip(self.keys, self.bits, strict=True) if bits & needed] if needed else []
