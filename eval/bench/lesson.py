"""The lesson of the teacher: the wanted next tokens after any prefix of the call, with keys in any order."""

from collections.abc import Sequence

from eval.bench.workload import END, OPENING, SEPARATOR, Task
from tooldecoding.tokens.token_table import TokenTable

BONUS = 1000.0
"""Added to the wanted token's logit; far above any logit of a model."""

_CONTEXT = 128
"""Bytes of context for tokenising the text after them."""


class Lesson:
    """The wanted tokens of one task.

    After a prefix of the call, the lesson wants the rest of the current value or key, then the missing keys in
    documentation order, then the end. After any other text it wants nothing.

    The token that the tokenizer writes there has the bonus; half of it and more the longer they are have other tokens
    that begin the same text, for libraries that refuse the tokenizer's own.
    """

    def __init__(self, task: Task, table: TokenTable) -> None:
        self._table = table
        self._prompt = table.join(task.prompt_ids)
        self._pairs = list(task.pairs.values())
        self._tokens = {piece: token for token, piece in enumerate(table.texts) if piece}
        self._longest = max(map(len, self._tokens))
        self._known: dict[bytes, dict[int, float]] = {}

    def wanted(self, text: bytes) -> dict[int, float]:
        """Return token -> bonus after ``text``, which contains at least the prompt without its last token."""
        behind = text[len(self._prompt) :] if len(text) >= len(self._prompt) else text
        if behind not in self._known:
            self._known[behind] = self._find(text)
        return self._known[behind]

    def _find(self, text: bytes) -> dict[int, float]:
        written = text[len(self._prompt) :]
        held = self._prompt[len(text) :]  # the part of the prompt that ``text`` lacks
        rest = self._rest(written)
        if not rest:
            return {}
        whole = held + rest
        lengths = range(1, min(len(whole), self._longest) + 1)
        begun = {self._tokens[whole[:n]]: BONUS / 2 + n for n in lengths if whole[:n] in self._tokens}
        return begun | {self._table.encode_after(text[-_CONTEXT:], whole)[0]: BONUS}

    def _rest(self, written: bytes) -> bytes | None:
        """Return what is missing after a prefix of the call; None if ``written`` is not a prefix."""
        done, left = list[str](), list(self._pairs)
        while pair := next((pair for pair in left if written.startswith(_text([*done, pair]))), None):
            done.append(pair)
            left.remove(pair)
        for first in left or [""]:
            others = [first, *(pair for pair in left if pair != first)] if first else []
            whole = _text([*done, *others]) + END.encode()
            if whole.startswith(written):
                return whole[len(written) :]
        return None


def _text(pairs: Sequence[str]) -> bytes:
    return (OPENING + SEPARATOR.join(pairs)).encode()
