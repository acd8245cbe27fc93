"""The keys of objects: named ones, which may be required, and others."""

from collections.abc import Callable
from typing import NamedTuple

from lookup.grammar.parsers import ValueParser, byte_length
from lookup.grammar.texts import Text


class Key(NamedTuple):
    """A named key.

    Attributes
    ----------
    texts : tuple of str
        The alternatives for writing it, the usual one first.
    parser : ValueParser
        The parser of its value.
    needs : tuple of int
        The numbers of the keys that must stand in the object if this one does.
    """

    texts: tuple[str, ...]
    parser: ValueParser
    required: bool
    needs: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """About the bytes of the key with its shortest value, see ``ValueParser.rank``."""
        return byte_length(self.texts[0]) + self.parser.rank


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
