"""One forward pass of the model. Logits are computed only at the positions, and for the tokens, that are needed."""

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

import torch
from torch.nn.functional import linear
from transformers import PreTrainedModel

from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import FewLogits, LogitRows, NextTokenLogits, Tokens
from tooldecoding.models.sources import input_device

_KEPT = 4
"""Free buffers to keep. More are in use at once only while rows of earlier passes are held."""


class LogitBuffers:
    """Computes the logits of one output layer into reused buffers, on a CPU in fp32. Threads may share it.

    On a CPU, freshly allocated blocks of some megabytes go back to the system when they are freed, and every page of
    the next block is a page fault. With a vocabulary of 150,000 tokens that takes longer than all of the decoder.

    Parameters
    ----------
    weight : torch.Tensor
        Shape (vocabulary, width).
    bias : torch.Tensor, optional
        Shape (vocabulary,).
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._weight = weight.t()
        self._bias = bias
        self._free: list[torch.Tensor] = []

    def rows(self, hidden: torch.Tensor, few: Sequence[torch.Tensor]) -> LogitRows:
        """Compute the logits of hidden states of shape (rows, width); ``few`` see ``LogitRows``."""
        buffer = self._take(len(hidden))
        logits = buffer[: len(hidden)]
        if self._bias is None:
            torch.mm(hidden, self._weight, out=logits)
        else:
            torch.addmm(self._bias, hidden, self._weight, out=logits)
        return LogitRows(logits, few, partial(self._give_back, buffer))

    def _take(self, rows: int) -> torch.Tensor:
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = None
        if buffer is None or len(buffer) < rows:
            buffer = torch.empty((rows, self._weight.shape[1]))
        return buffer

    def _give_back(self, buffer: torch.Tensor) -> None:
        if len(self._free) < _KEPT:
            self._free.append(buffer)


_SAME = 1e-3
"""Largest difference between our logits and the model's, in standard deviations of the logits."""
_FEW = 8
"""Rows of the output layer are gathered if the vocabulary is at least this many times larger than their number."""


class Wanted(NamedTuple):
    """A position of the pass whose logits are needed: of the tokens ``candidates``, or of all if None."""

    row: int
    column: int
    candidates: Tokens | None


def wanted_by(feed: Feed, row: int, end: int) -> list[Wanted]:
    """Return the positions whose logits a feed needs. Its last token is at column ``end - 1`` of ``row``."""
    first = end - feed.answers
    return [Wanted(row, first + i, candidates) for i, candidates in enumerate(feed.candidates or [None] * feed.answers)]


class LanguageModel:
    """Runs the model up to its last hidden state, then the output layer on the positions and rows that are needed.

    If a model does more to its logits than a linear layer (scaling, capping), or has that layer on another device, its
    own output layer is run instead.

    Attributes
    ----------
    device : torch.device
        Where inputs go.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self.device = input_device(model)
        self._accepted = inspect.signature(model.forward).parameters
        self._weight, self._bias = _linear_output_layer(model)
        self._buffers: LogitBuffers | None = None
        if self._weight is not None and self._weight.device.type == "cpu" and self._weight.dtype == torch.float32:
            self._buffers = LogitBuffers(self._weight, self._bias)

    @property
    def takes_positions(self) -> bool:
        """Whether the model accepts position ids."""
        return "position_ids" in self._accepted

    @torch.inference_mode()
    def forward(self, arguments: Mapping[str, Any], wanted: Sequence[Sequence[Wanted]]) -> list[list[NextTokenLogits]]:
        """Run one forward pass; return logits in the layout of ``wanted``."""
        run = self._with_own_output_layer if self._weight is None else self._with_linear_layer
        left = iter(run(arguments, [place for group in wanted for place in group]))
        return [[next(left) for _ in group] for group in wanted]

    def _with_linear_layer(self, arguments: Mapping[str, Any], wanted: Sequence[Wanted]) -> list[NextTokenLogits]:
        hidden = self.model.base_model(**arguments).last_hidden_state
        full = [w for w in wanted if not self._are_few(w.candidates)]
        few = [(hidden[w.row, w.column][None], w.candidates) for w in wanted if self._are_few(w.candidates)]
        states, chosen = _at(hidden, full), [self._among(state, tokens) for state, tokens in few]
        rows = self._buffers.rows(states, chosen) if self._buffers else LogitRows(self._complete(states), chosen)
        complete = iter([NextTokenLogits(rows, i) for i in range(len(full))])
        partly = iter(
            [
                # a view would keep the whole pass's states alive
                FewLogits(rows, number, tokens, partial(self._complete, state.clone()))
                for number, (state, tokens) in enumerate(few)
            ]
        )
        return [next(partly if self._are_few(w.candidates) else complete) for w in wanted]

    def _are_few(self, tokens: Tokens | None) -> TypeGuard[Tokens]:
        assert self._weight is not None
        return tokens is not None and len(tokens) * _FEW <= len(self._weight)

    @torch.inference_mode()
    def _complete(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the logits of the whole vocabulary."""
        assert self._weight is not None
        return linear(hidden, self._weight, self._bias)

    def _among(self, hidden: torch.Tensor, tokens: Tokens) -> torch.Tensor:
        """Compute the logits of these tokens behind one position; shape (tokens,)."""
        weight, bias = self._weight, self._bias
        assert weight is not None
        ids = torch.from_numpy(tokens).to(hidden.device)
        return linear(hidden, weight[ids], None if bias is None else bias[ids])[0]

    def _with_own_output_layer(self, arguments: Mapping[str, Any], wanted: Sequence[Wanted]) -> list[NextTokenLogits]:
        columns = sorted({w.column for w in wanted})
        place = {column: i for i, column in enumerate(columns)}
        keep: dict[str, Any] = {}
        if "logits_to_keep" in self._accepted:
            keep["logits_to_keep"] = torch.tensor(columns, device=self.device)
        logits = self.model(**arguments, **keep).logits
        logits = logits if keep else logits[:, columns]
        rows = LogitRows(_at(logits, [w._replace(column=place[w.column]) for w in wanted]))
        return [NextTokenLogits(rows, i) for i in range(len(wanted))]


def _at(states: torch.Tensor, places: Sequence[Wanted]) -> torch.Tensor:
    """Pick the states at these positions; shape (places, width)."""
    return states[[p.row for p in places], [p.column for p in places]]


def _linear_output_layer(model: PreTrainedModel) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Return weight (vocabulary, width) and bias of the output layer; None if it alone does not give the logits."""
    layer = model.get_output_embeddings()
    base = model.base_model
    if type(layer) is not torch.nn.Linear or not layer.weight.is_floating_point() or base is model:
        return None, None
    ids = torch.tensor([[5, 9, 7]], device=input_device(model))
    with torch.inference_mode():
        expected = model(ids).logits.float()
        hidden = getattr(base(ids), "last_hidden_state", None)
        if hidden is None or hidden.shape[-1] != layer.weight.shape[-1] or hidden.device != layer.weight.device:
            return None, None
        found = linear(hidden, layer.weight, layer.bias).float()
    if found.shape != expected.shape or float((found - expected).abs().max()) > _SAME * float(expected.std()):
        return None, None
    return layer.weight, layer.bias
