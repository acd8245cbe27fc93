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


class LinearOutput:
    """Computes logits of a linear output layer; on a CPU in fp32 into reused buffers. Threads may share it.

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
        self._weight = weight
        self._bias = bias
        self._has_buffers = weight.device.type == "cpu" and weight.dtype == torch.float32
        self._free: list[torch.Tensor] = []

    def logits(self, hidden: torch.Tensor, wanted: Sequence[Wanted]) -> list[NextTokenLogits]:
        """Compute the wanted logits from the hidden states of a pass, shape (rows, columns, width)."""
        full = [w for w in wanted if not self._are_few(w.candidates)]
        few = [(hidden[w.row, w.column][None], w.candidates) for w in wanted if self._are_few(w.candidates)]
        rows = self._rows(_at(hidden, full), [self._among(state, tokens) for state, tokens in few])
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
        return tokens is not None and len(tokens) * _FEW <= len(self._weight)

    def _rows(self, hidden: torch.Tensor, few: Sequence[torch.Tensor]) -> LogitRows:
        """Compute the logits of hidden states of shape (rows, width); ``few`` see ``LogitRows``."""
        if not self._has_buffers:
            return LogitRows(self._complete(hidden), few)
        buffer = self._take(len(hidden))
        logits = buffer[: len(hidden)]
        if self._bias is None:
            torch.mm(hidden, self._weight.t(), out=logits)
        else:
            torch.addmm(self._bias, hidden, self._weight.t(), out=logits)
        return LogitRows(logits, few, partial(self._give_back, buffer))

    @torch.inference_mode()
    def _complete(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the logits of the whole vocabulary."""
        return linear(hidden, self._weight, self._bias)

    def _among(self, hidden: torch.Tensor, tokens: Tokens) -> torch.Tensor:
        """Compute the logits of these tokens behind one position; shape (tokens,)."""
        ids = torch.from_numpy(tokens).to(hidden.device)
        return linear(hidden, self._weight[ids], None if self._bias is None else self._bias[ids])[0]

    def _take(self, rows: int) -> torch.Tensor:
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = None
        if buffer is None or len(buffer) < rows:
            buffer = torch.empty((rows, len(self._weight)))
        return buffer

    def _give_back(self, buffer: torch.Tensor) -> None:
        if len(self._free) < _KEPT:
            self._free.append(buffer)


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
        self._output = _linear_output(model)

    @property
    def takes_positions(self) -> bool:
        """Whether the model accepts position ids."""
        return "position_ids" in self._accepted

    @torch.inference_mode()
    def forward(self, arguments: Mapping[str, Any], wanted: Sequence[Sequence[Wanted]]) -> list[list[NextTokenLogits]]:
        """Run one forward pass; return logits in the layout of ``wanted``."""
        places = [place for group in wanted for place in group]
        if self._output is None:
            left = iter(self._with_own_output_layer(arguments, places))
        else:
            left = iter(self._output.logits(self.model.base_model(**arguments).last_hidden_state, places))
        return [[next(left) for _ in group] for group in wanted]

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


def _linear_output(model: PreTrainedModel) -> LinearOutput | None:
    """Return the output layer of a model; None if it alone does not give the logits."""
    layer = model.get_output_embeddings()
    base = model.base_model
    if type(layer) is not torch.nn.Linear or not layer.weight.is_floating_point() or base is model:
        return None
    ids = torch.tensor([[5, 9, 7]], device=input_device(model))
    with torch.inference_mode():
        expected = model(ids).logits.float()
        hidden = getattr(base(ids), "last_hidden_state", None)
        if hidden is None or hidden.shape[-1] != layer.weight.shape[-1] or hidden.device != layer.weight.device:
            return None
        found = linear(hidden, layer.weight, layer.bias).float()
    if found.shape != expected.shape or float((found - expected).abs().max()) > _SAME * float(expected.std()):
        return None
    return LinearOutput(layer.weight, layer.bias)
