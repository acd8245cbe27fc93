"""What the model is made to want: the next token behind any beginning of the wanted call, keys in any order."""

from collections.abc import Iterator

from eval.bench.workload import Task, Workload
from lookup.values.literal_values import render_value
from tooldecoding.tokens.token_table import TokenTable

_CONTEXT = 128
"""Bytes behind which text is tokenised."""


class Lesson:
    """The wishes for one task.

    What is to come behind a text: the rest of the value or key under way, then the keys that are missing, in
    documentation order, and the end. Nothing is wanted behind a text that begins no such call.
    """

    def __init__(self, workload: Workload, task: Task, table: TokenTable) -> None:
        form = workload.form
        self._table = table
        self._prompt = table.join(task.prompt_ids)
        self._opening = f"{form.opener}{workload.tools.tools[0].name}{form.bracket}".encode()
        self._pairs = [
            (form.key(key) + render_value(value, form.notation)).encode() for key, value in task.values.items()
        ]
        self._separator = form.separator.encode()
        self._end = (form.end + form.closer).encode()
        self._known: dict[bytes, int | None] = {}

    def wanted(self, text: bytes) -> int | None:
        """The token that is wanted behind ``text``, which begins with all of the prompt but for its last token."""
        behind = text[len(self._prompt) :] if len(text) >= len(self._prompt) else text
        if behind not in self._known:
            self._known[behind] = self._find(text)
        return self._known[behind]

    def _find(self, text: bytes) -> int | None:
        written = text[len(self._prompt) :]
        held = self._prompt[len(text) :]  # of the prompt's last token
        rest = self._rest(written)
        if not rest:
            return None
        return self._table.encode_after(text[-_CONTEXT:], held + rest)[0]

    def _rest(self, written: bytes) -> bytes | None:
        """What is missing behind a beginning of the call; None if it is none."""
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
