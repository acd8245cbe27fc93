"""The language head, computed only for the positions, and where few tokens are allowed the rows, that matter."""

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn.functional import linear
from transformers import PreTrainedModel

from tooldecoding.engines.logit_buffers import LogitBuffers
from tooldecoding.engines.logits import LogitRows, NextTokenLogits, Tokens

_SAME = 1e-3
"""Largest difference between our logits and the model's, in standard deviations of them."""
_FEW = 8
"""Rows of the head are gathered if they are fewer than the vocabulary by this factor."""


class Wanted(NamedTuple):
    """A position (row and column of the pass) whose scores are wanted, of all tokens or ``among`` some."""

    row: int
    column: int
    among: Tokens | None


class LanguageModel:
    """Runs the model up to its last hidden state, and the head on chosen positions and rows.

    Where a model does more to its logits than a linear layer (scaling, capping), its own head is run instead.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self._accepted = inspect.signature(model.forward).parameters
        self._weight, self._bias = _linear_head(model)
        self._buffers: LogitBuffers | None = None
        if self._weight is not None and self._weight.device.type == "cpu" and self._weight.dtype == torch.float32:
            self._buffers = LogitBuffers(self._weight, self._bias)

    @property
    def takes_positions(self) -> bool:
        """Whether the model accepts position ids."""
        return "position_ids" in self._accepted

    @torch.inference_mode()
    def forward(self, arguments: Mapping[str, Any], wanted: Sequence[Wanted]) -> tuple[list[NextTokenLogits], Any]:
        """One forward pass: the scores that are wanted, in their sequence, and the model's output."""
        if self._weight is None:
            return self._whole(arguments, wanted)
        output = self.model.base_model(**arguments)
        hidden = output.last_hidden_state
        few = [w.among is not None and len(w.among) * _FEW <= len(self._weight) for w in wanted]
        full = [w for w, narrow in zip(wanted, few, strict=True) if not narrow]
        rows = self._rows(self._at(hidden, full)) if full else None
        scores, taken = [], 0
        for place, narrow in zip(wanted, few, strict=True):
            if narrow:
                assert place.among is not None
                scores.append(self._among(hidden[place.row, place.column], place.among))
            elif rows is not None:
                scores.append(NextTokenLogits(rows, taken))
                taken += 1
        return scores, output

    def _rows(self, hidden: torch.Tensor) -> LogitRows:
        """Logits of the whole vocabulary for states of shape (rows, width)."""
        assert self._weight is not None
        if self._buffers is not None:
            return self._buffers.rows(hidden)
        return LogitRows(linear(hidden, self._weight, self._bias))

    def _among(self, hidden: torch.Tensor, tokens: Tokens) -> NextTokenLogits:
        weight, bias = self._weight, self._bias
        assert weight is not None
        ids = torch.from_numpy(tokens).to(hidden.device)
        logits = linear(hidden[None], weight[ids], None if bias is None else bias[ids])
        whole = partial(self._row, hidden.clone())  # not the whole pass's states
        return NextTokenLogits(LogitRows(logits), 0, tokens, whole)

    @torch.inference_mode()
    def _row(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of the whole vocabulary."""
        assert self._weight is not None
        return linear(hidden, self._weight, self._bias)

    def _whole(self, arguments: Mapping[str, Any], wanted: Sequence[Wanted]) -> tuple[list[NextTokenLogits], Any]:
        columns = sorted({w.column for w in wanted})
        place = {column: i for i, column in enumerate(columns)}
        keep: dict[str, Any] = {}
        if "logits_to_keep" in self._accepted:
            keep["logits_to_keep"] = torch.tensor(columns, device=self.model.device)
        output = self.model(**arguments, **keep)
        logits = output.logits if keep else output.logits[:, columns]
        picked = [Wanted(w.row, place[w.column], None) for w in wanted]
        rows = LogitRows(self._at(logits, picked))
        return [NextTokenLogits(rows, i) for i in range(len(wanted))], output

    @staticmethod
    def _at(states: torch.Tensor, places: Sequence[Wanted]) -> torch.Tensor:
        """Shape (places, width)."""
        rows, columns = [p.row for p in places], [p.column for p in places]
        return states[rows, columns]


def _linear_head(model: PreTrainedModel) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Weight (vocabulary, width) and bias; None where they are not the whole way from hidden state to logits."""
    layer = model.get_output_embeddings()
    base = model.base_model
    if type(layer) is not torch.nn.Linear or not layer.weight.is_floating_point() or base is model:
        return None, None
    ids = torch.tensor([[5, 9, 7]], device=model.device)
    with torch.inference_mode():
        expected = model(ids).logits.float()
        hidden = getattr(base(ids), "last_hidden_state", None)
        if hidden is None or hidden.shape[-1] != layer.weight.shape[-1] or hidden.device != layer.weight.device:
            return None, None
        found = linear(hidden, layer.weight, layer.bias).float()
    if found.shape != expected.shape or float((found - expected).abs().max()) > _SAME * float(expected.std()):
        return None, None
    return layer.weight, layer.bias
