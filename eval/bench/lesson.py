"""The lesson of the teacher: the wanted next token after any prefix of the call, with keys in any order."""

from collections.abc import Iterator

from eval.bench.workload import Task, Workload
from tooldecoding.tokens.token_table import TokenTable

_CONTEXT = 128
"""Bytes of context for tokenising the text after them."""


class Lesson:
    """The wanted tokens of one task.

    After a prefix of the call, the lesson wants the rest of the current value or key, then the missing keys in
    the format's own order, then the end. After any other text it wants nothing.
    """

    def __init__(self, workload: Workload, task: Task, table: TokenTable) -> None:
        parts = workload.parts(task, table)
        self._table = table
        self._prompt = table.join(task.prompt_ids)
        self._opening = parts.start.encode()
        self._pairs = [pair.text.encode() for pair in parts.pairs.values()]
        self._separator = parts.separator.encode()
        self._end = parts.end.encode()
        self._known: dict[bytes, int | None] = {}

    def wanted(self, text: bytes) -> int | None:
        """Return the wanted token after ``text``, which contains at least the prompt without its last token."""
        behind = text[len(self._prompt) :] if len(text) >= len(self._prompt) else text
        if behind not in self._known:
            self._known[behind] = self._find(text)
        return self._known[behind]

    def _find(self, text: bytes) -> int | None:
        written = text[len(self._prompt) :]
        held = self._prompt[len(text) :]  # the part of the prompt that ``text`` lacks
        rest = self._rest(written)
        if not rest:
            return None
        return self._table.encode_after(text[-_CONTEXT:], held + rest)[0]

    def _rest(self, written: bytes) -> bytes | None:
        """Return what is missing after a prefix of the call; None if ``written`` is not a prefix."""
        if self._opening.startswith(written):
            return self._opening[len(written) :] + b"".join(self._missing(self._pairs, first=True)) + self._end
        if not written.startswith(self._opening):
            return None
        place, left, first = len(self._opening), list(self._pairs), True
        while True:
            begun = written[place:]
            pieces = {pair: (b"" if first else self._separator) + pair for pair in left}
            whole = next((pair for pair, piece in pieces.items() if begun.startswith(piece)), None)
            if whole is None:
                break
            place, first = place + len(pieces[whole]), False
            left.remove(whole)
        if not left:
            return self._end[len(begun) :] if self._end.startswith(begun) else None
        for pair, piece in pieces.items():
            if piece.startswith(begun):
                left.remove(pair)
                return piece[len(begun) :] + b"".join(self._missing(left, first=False)) + self._end
        return None

    def _missing(self, pairs: list[bytes], first: bool) -> Iterator[bytes]:
        for number, pair in enumerate(pairs):
            yield pair if first and number == 0 else self._separator + pair
