"""The optional-key trie: the unused optional keys and the end of the call, among which the model chooses."""

from collections.abc import Sequence

from lookup.dictionary import ParameterSpec
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie


class OptionalKeyTries:
    """The optional-key tries of one tool, made when they are needed."""

    def __init__(self, table: TokenTable, call_format: CallFormat) -> None:
        self._table = table
        self._format = call_format
        self._made: dict[tuple[tuple[str, ...], bool], Trie] = {}

    def of(self, unused: Sequence[ParameterSpec], first: bool) -> Trie:
        """Return the trie of the unused keys, in this sequence, and of the end of the call, its last text.

        Parameters
        ----------
        first : bool
            Whether the call has no key yet, so that no separator stands before the next one.
        """
        names = tuple(spec.name for spec in unused)
        if (names, first) not in self._made:
            separator = "" if first else self._format.separator
            texts = [*(separator + self._format.key(name) for name in names), self._format.end_of(first)]
            self._made[names, first] = Trie(self._table, texts)
        return self._made[names, first]
