"""Which engine a model supports, found out by trying it on a few tokens."""

from typing import Literal

from transformers import PreTrainedModel

from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.engines.recurrent_engine import RecurrentEngine
from tooldecoding.errors import ModelError
from tooldecoding.models.weights_state import weights_state
from tooldecoding.options import Strategy

Layout = Literal["packed", "batched"]
"""Which branches share a row of the cache: those of a prompt, or none."""

_TRIAL = ([5, 9, 7], [4, 6], [8, 3])
_LARGEST_DIFFERENCE = 0.2
"""In standard deviations of the logits; a wrong mask differs by about one, rounding in fp16 by far less."""
_LAYERS = {"full_attention", "sliding_attention"}
_MASKS_BY_PLACE = {"gpt_neo"}
"""Models with a mask of their own that counts places in the cache, not positions."""
_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, AttributeError)


def is_recurrent(model: PreTrainedModel) -> bool:
    """Whether the model keeps a state that no mask can correct afterwards."""
    layers = getattr(model.config.get_text_config(), "layer_types", None) or ()
    attention = all(layer.endswith("attention") and not layer.startswith("linear") for layer in layers)
    return bool(getattr(model, "_is_stateful", False)) or not attention


def supports_packed(head: LanguageModel) -> bool:
    """Whether branches packed behind one prompt give the logits that each gives alone."""
    model = head.model
    config = model.config.get_text_config()
    if is_recurrent(model) or not head.takes_positions:
        return False
    if not set(getattr(config, "layer_types", None) or ()) <= _LAYERS or config.model_type in _MASKS_BY_PLACE:
        return False
    prompt, first, second = _TRIAL
    engine = PackedEngine(head)
    try:
        [root] = engine.open(1)
        engine.extend([Feed(root, prompt)])
        fork = engine.fork(root)
        packed = engine.extend([Feed(root, first), Feed(fork, second)])
        alone = []
        for branch in (first, second):
            [reference] = (plain := BatchedEngine(head)).open(1)
            alone += plain.extend([Feed(reference, [*prompt, *branch])])
    except _REFUSALS:
        return False
    return all(
        float((a.logits - b.logits).abs().max()) <= _LARGEST_DIFFERENCE * float(b.logits.std())
        for [a], [b] in zip(packed, alone, strict=True)
    )


def _rotates_by_length(model: PreTrainedModel) -> bool:
    """Whether the keys of a prompt's beginning depend on how long the prompt is (rotary embeddings of Phi-3 long)."""
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    kinds = [rope.get("rope_type"), *(r.get("rope_type") for r in rope.values() if isinstance(r, dict))]
    return any(kind == "longrope" or "dynamic" in (kind or "") for kind in kinds)


class EngineFactory:
    """Makes engines for one model with the strategy that was asked for.

    Parameters
    ----------
    prompt_cache_bytes : int
        Memory for the prompts of former requests; 0 for none.

    Raises
    ------
    ModelError
        If ``packed`` is asked for and the model does not support it.
    """

    def __init__(self, model: PreTrainedModel, strategy: Strategy, prompt_cache_bytes: int = 0) -> None:
        self._head = LanguageModel(model)
        self._weights = weights_state(model)
        self.recurrent = is_recurrent(model)
        packed = strategy != "batched" and supports_packed(self._head)
        if strategy == "packed" and not packed:
            raise ModelError(
                f"{type(model).__name__} does not support the packed strategy (its attention takes no 4-D mask "
                "or no position ids); use batched or auto"
            )
        self.strategy: Layout = "packed" if packed else "batched"
        self.prompts = PrefixCache(0 if self.recurrent or _rotates_by_length(model) else prompt_cache_bytes)

    def __call__(self) -> Engine:
        """A new engine without branches; what was computed with other weights is forgotten."""
        weights = weights_state(self._head.model)
        if weights != self._weights:
            self._weights = weights
            self.prompts.clear()
            self._head = LanguageModel(self._head.model)
        if self.recurrent:
            return RecurrentEngine(self._head.model)
        prompts = self.prompts if self.prompts.max_bytes else None
        return PackedEngine(self._head, prompts) if self.strategy == "packed" else BatchedEngine(self._head, prompts)
