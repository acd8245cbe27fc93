"""Attention of rows that branches share: full, with a sliding window, or layers of both types; and ragged passes.

A ragged pass has rows of different widths, one after the other in a single line of tokens. All but attention treats
tokens alone, so the line costs no padding. Attention is computed run by run: a run is a few rows of one width, with the
keys and values of these rows alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from tooldecoding.engines.slot_cache import RowRun, SlotCache
from tooldecoding.models.sources import input_device

Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

Masks = Mapping[str, torch.Tensor]
"""By layer type: additive masks of shape (rows, 1, queries, slots)."""


class VisibleSlots(NamedTuple):
    """Which slots the queries of a row see in a pass.

    Attributes
    ----------
    queries : sequence of int
        Position of each query.
    seen : numpy.ndarray, optional
        Shape (queries, slots), bool: which slots each query sees; later slots are hidden. If None, the queries' own
        tokens are there in order, and each query sees those up to itself.
    positions : numpy.ndarray
        Shape (slots,), int64: position of the token in each slot.
    """

    queries: Sequence[int]
    seen: Booleans | None
    positions: Integers

    @property
    def end(self) -> int:
        """No query sees this slot or a later one."""
        return len(self.positions)

    def show(self, hidden: Booleans, window: int | None) -> None:
        """Mark in ``hidden``, of shape (queries, slots), what each query sees; ``window`` is how far it sees."""
        seen = np.tri(len(self.queries), self.end, dtype=bool) if self.seen is None else self.seen
        np.logical_not(seen, out=hidden[:, : self.end])
        if window is not None:
            hidden[:, : self.end] |= np.asarray(self.queries)[:, None] - self.positions >= window


class AttentionMasks:
    """Makes the attention masks of a model.

    Attributes
    ----------
    window : int or None
        Window of the model's sliding layers; None if it has none.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._dtype = model.dtype
        self._device = input_device(model)
        config = model.config.get_text_config()
        layer_types = set(getattr(config, "layer_types", None) or ())
        slides = not layer_types or "sliding_attention" in layer_types
        self.window: int | None = getattr(config, "sliding_window", None) if slides else None
        self._windows: dict[str, int | None] = {"sliding_attention": self.window}
        """Window by layer type. Without types, all layers are alike."""
        if layer_types and self.window is not None:
            self._windows["full_attention"] = None

    @property
    def kinds(self) -> Sequence[str]:
        """The layer types. A model that does not distinguish them has one."""
        return list(self._windows)

    def argument(self, masks: Masks) -> Any:
        """Return what the model takes: masks by layer type if it distinguishes them, otherwise its one mask."""
        return masks if len(masks) > 1 else masks["sliding_attention"]

    def __call__(self, visible: Sequence[VisibleSlots], size: int) -> Masks:
        """Return additive masks: 0 where attention is allowed, the lowest number elsewhere.

        Parameters
        ----------
        visible : sequence of VisibleSlots
            For each row of the pass; all with the same number of queries.
        size : int
            The pass may see the slots before this one.
        """
        return {kind: self._mask(window, visible, size) for kind, window in self._windows.items()}

    def _mask(self, window: int | None, visible: Sequence[VisibleSlots], size: int) -> torch.Tensor:
        hidden = np.ones((len(visible), 1, len(visible[0].queries), size), bool)
        for row, slots in zip(hidden[:, 0], visible, strict=True):
            slots.show(row, window)
        on_device = torch.from_numpy(hidden).to(self._device)
        mask = torch.zeros(hidden.shape, dtype=self._dtype, device=self._device)
        return mask.masked_fill_(on_device, torch.finfo(self._dtype).min)


RAGGED: Final = "tooldecoding_sdpa"
"""Name of the attention function that a model has while a ragged pass runs. Otherwise it has ``sdpa``."""


class RaggedPass(NamedTuple):
    """What attention is computed from in a ragged pass.

    Attributes
    ----------
    masks : sequence
        For each run; None if the rows of the run were empty.
    kinds : sequence of str
        The layer types of the masks.
    """

    cache: SlotCache
    runs: Sequence[RowRun]
    masks: Sequence[Masks | None]
    kinds: Sequence[str]


_running: ContextVar[RaggedPass | None] = ContextVar("ragged_pass", default=None)

ragged_models: "WeakSet[PreTrainedModel]" = WeakSet()
"""The models that may run ragged passes."""
_passes: "WeakKeyDictionary[PreTrainedModel, int]" = WeakKeyDictionary()
"""How many ragged passes of a model run now; threads may share it."""
_lock = Lock()


def is_ragged(model: PreTrainedModel) -> bool:
    """Whether the model runs ragged passes: it may, and all others are computed by ``sdpa``."""
    return model in ragged_models and model.config.get_text_config()._attn_implementation in ("sdpa", RAGGED)


@contextmanager
def ragged_pass(model: PreTrainedModel, ragged: RaggedPass) -> Iterator[dict[str, torch.Tensor]]:
    """Make the forward passes of the block ragged; the model is one of ``ragged_models``.

    Yields
    ------
    dict of str to torch.Tensor
        For each layer type what the model takes for a mask: its width tells the attention function the type.
    """
    token = _running.set(ragged)
    device, config = input_device(model), model.config.get_text_config()
    with _lock:
        _passes[model] = _passes.get(model, 0) + 1
        config._attn_implementation = RAGGED  # only now, for others may use the model between two passes
    try:
        yield {kind: torch.zeros((1, 1, 1, number), device=device) for number, kind in enumerate(ragged.kinds, 1)}
    finally:
        _running.reset(token)
        with _lock:
            _passes[model] -= 1
            if not _passes[model]:
                config._attn_implementation = "sdpa"


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **kwargs: Any,
) -> tuple[torch.Tensor, Any]:
    """Compute attention; ``query`` has the shape (1, heads, tokens, width) in ragged passes."""
    ragged = _running.get()
    if ragged is None:
        plain: tuple[torch.Tensor, Any] = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
        return plain
    assert attention_mask is not None
    kind = ragged.kinds[attention_mask.shape[-1] - 1]
    outputs = []
    for run, masks, (keys, values) in zip(ragged.runs, ragged.masks, ragged.cache.seen, strict=True):
        mask = None if masks is None else masks[kind].to(query.device)
        output, _ = sdpa_attention_forward(module, run.of(query), keys, values, mask, **kwargs)
        outputs.append(output.reshape(1, run.tokens, *output.shape[2:]))
    return torch.cat(outputs, 1), None


AttentionInterface.register(RAGGED, _attention)
AttentionMaskInterface.register(RAGGED, sdpa_mask)
