"""Ragged passes: rows of different widths in one forward pass, one after the other in a single line of tokens.

All but attention treats tokens alone, so the line costs no padding. Attention is computed run by run: a run is a few
rows of one width, with the keys and values of these rows alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from tooldecoding.engines.slot_cache import Run, SlotCache
from tooldecoding.engines.tree_attention import Masks
from tooldecoding.models.places import input_device

RAGGED: Final = "tooldecoding_sdpa"
"""Name of the attention function that a model has while a ragged pass runs. Otherwise it has ``sdpa``."""


class _RaggedPass(NamedTuple):
    cache: SlotCache
    runs: Sequence[Run]
    masks: Sequence[Masks | None]
    """By run; None if its rows were empty."""
    kinds: Sequence[str]


_running: ContextVar[_RaggedPass | None] = ContextVar("ragged_pass", default=None)

_allowed: "WeakSet[PreTrainedModel]" = WeakSet()
"""The models that may run ragged passes."""
_passes: "WeakKeyDictionary[PreTrainedModel, int]" = WeakKeyDictionary()
"""How many ragged passes of a model run now; threads may share it."""
_lock = Lock()


def switch_on(model: PreTrainedModel) -> bool:
    """Let a model that uses ``sdpa`` run ragged passes; returns whether it uses it. Other passes are as before."""
    if _attention_of(model) == "sdpa":
        AttentionInterface.register(RAGGED, _attention)
        AttentionMaskInterface.register(RAGGED, sdpa_mask)
        _allowed.add(model)
    return is_on(model)


def switch_off(model: PreTrainedModel) -> None:
    """Undo ``switch_on``."""
    _allowed.discard(model)


def is_on(model: PreTrainedModel) -> bool:
    """Whether the model runs ragged passes."""
    return model in _allowed and _attention_of(model) in ("sdpa", RAGGED)


def _attention_of(model: PreTrainedModel) -> str | None:
    name: str | None = model.config.get_text_config()._attn_implementation
    return name


@contextmanager
def _named(model: PreTrainedModel) -> Iterator[None]:
    """Let the model find our attention function: only now, for others may use the model between two passes."""
    config = model.config.get_text_config()
    with _lock:
        _passes[model] = _passes.get(model, 0) + 1
        config._attn_implementation = RAGGED
    try:
        yield
    finally:
        with _lock:
            _passes[model] -= 1
            if not _passes[model]:
                config._attn_implementation = "sdpa"


@contextmanager
def ragged_pass(
    model: PreTrainedModel, cache: SlotCache, runs: Sequence[Run], masks: Sequence[Masks | None], kinds: Sequence[str]
) -> Iterator[dict[str, torch.Tensor]]:
    """Make the forward passes of the block ragged.

    Parameters
    ----------
    model : PreTrainedModel
        Switched on.
    masks : sequence
        For each run; None if the rows of the run were empty.
    kinds : sequence of str
        The layer types of the masks.

    Yields
    ------
    dict of str to torch.Tensor
        For each layer type what the model takes for a mask: its width tells the attention function the type.
    """
    token = _running.set(_RaggedPass(cache, runs, masks, kinds))
    device = input_device(model)
    try:
        with _named(model):
            yield {kind: torch.zeros((1, 1, 1, number), device=device) for number, kind in enumerate(kinds, 1)}
    finally:
        _running.reset(token)


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
