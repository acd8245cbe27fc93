"""This project's own values."""

from collections.abc import Sequence
from itertools import cycle
from time import process_time_ns
from typing import Any, Final

import torch

from eval.schemas.engine import Engine
from lookup.errors import ToolDecodingError
from lookup.schema.law import Law
from lookup.values.grammar import law_grammar
from tooldecoding.calls.value_end import ValueState
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.hermes import HERMES
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.likeliest import likeliest
from tooldecoding.tokens.token_table import TokenTable

_ROWS: Final = 8
"""Rows of random logits that take turns."""
_SEARCHES: Final = 4
"""Searches in one instance."""


class OwnEngine(Engine):
    """Values as the decoder writes them in JSON, where ``}`` or a comma follows."""

    name = "tool-decoding"
    package = "tooldecoding"
    timed = "the token alone, as no mask is made, and the parts of the grammar that it needs first"

    def __init__(self, tokenizer: str) -> None:
        self._table = TokenTable(load_tokenizer(tokenizer))
        rows = torch.randn(_ROWS, len(self._table.texts), generator=torch.Generator().manual_seed(0))
        self._logits = cycle([NextTokenLogits(row) for row in rows])

    def compile(self, schema: Any) -> None:
        """See Engine."""
        self._law = Law(schema)
        self._grammar = law_grammar(self._law, "json")
        self.start()
        self._state.first_bytes()

    def notes(self) -> Sequence[str]:
        """See Engine."""
        return self._law.notes

    def start(self) -> None:
        """See Engine."""
        self._state = ValueState(self._grammar, HERMES)
        self._given = self._grammar.opener.encode()

    def take(self, token: int) -> bool:
        """See Engine. The opening bracket or quote is given, so the tokens that write it write only what goes on."""
        piece = self._table.texts[token]
        if piece is None or self._state.closed:
            return False
        if self._given:
            same = min(len(self._given), len(piece))
            if self._given[:same] != piece[:same]:
                return False
            self._given, piece = self._given[same:], piece[same:]
        if not piece:
            return True
        wanted = len(self._state.tail) + len(piece)
        step = self._state(piece)
        if step is None:
            return False
        self._state.write(piece)
        return len(step.value.encode()) + len(step.tail) == wanted  # else the value ended inside the token

    def complete(self) -> bool:
        """See Engine."""
        state = self._state
        return not self._given and not state.tail and (state.closed or self._grammar.complete(state.text))

    def allows(self, value: Any) -> bool:
        """See Engine."""
        try:
            self._law.check(value)
        except (ToolDecodingError, ValueError):
            return False
        return True

    def search(self, tokens: Sequence[int]) -> list[int]:
        """See Engine. With random logits, under which nearly every likely token is refused."""
        every = max(1, len(tokens) // _SEARCHES)
        times = []
        self.start()
        for number, token in enumerate(tokens):
            if number % every == every - 1 and not self._given and not self._state.closed:
                times.append(self._search())
            self.take(token)
        return times

    def _search(self) -> int:
        logits = next(self._logits)
        _ = logits.best  # sampling needs it without a constraint, too
        start = process_time_ns()
        likeliest(logits, self._state, self._table, b"")
        return process_time_ns() - start
