"""Which engine a model supports, found out by trying it on a few tokens."""

import inspect

from transformers import PreTrainedModel

from tooldecoding.cache_engine import CacheEngine, Layout
from tooldecoding.engine import Engine, Feed
from tooldecoding.errors import ModelError
from tooldecoding.options import Strategy
from tooldecoding.recurrent_engine import RecurrentEngine

_TRIAL = ([5, 9, 7], [4, 6], [8, 3])
_LARGEST_DIFFERENCE = 0.2
"""In standard deviations of the logits; a wrong mask differs by about one, rounding in fp16 by far less."""
_LAYERS = {"full_attention", "sliding_attention"}
_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, AttributeError)


def is_recurrent(model: PreTrainedModel) -> bool:
    """Whether the model keeps a state that no mask can correct afterwards."""
    layers = getattr(model.config.get_text_config(), "layer_types", None) or ()
    attention = all(layer.endswith("attention") and not layer.startswith("linear") for layer in layers)
    return bool(getattr(model, "_is_stateful", False)) or not attention


def supports_packed(model: PreTrainedModel) -> bool:
    """Whether branches packed behind one prompt give the logits that each gives alone."""
    config = model.config.get_text_config()
    if is_recurrent(model) or "position_ids" not in inspect.signature(model.forward).parameters:
        return False
    if not set(getattr(config, "layer_types", None) or ()) <= _LAYERS:
        return False
    prompt, first, second = _TRIAL
    engine = CacheEngine(model, "packed")
    try:
        [root] = engine.open(1)
        engine.extend([Feed(root, prompt)])
        fork = engine.fork(root)
        packed = engine.extend([Feed(root, first), Feed(fork, second)])
        alone = []
        for branch in (first, second):
            [reference] = (plain := CacheEngine(model, "batched")).open(1)
            alone += plain.extend([Feed(reference, [*prompt, *branch])])
    except _REFUSALS:
        return False
    return all(
        float((a.logits - b.logits).abs().max()) <= _LARGEST_DIFFERENCE * float(b.logits.std())
        for (a, _), (b, _) in zip(packed, alone, strict=True)
    )


class EngineFactory:
    """Makes engines for one model with the strategy that was asked for.

    Raises
    ------
    ModelError
        If ``packed`` is asked for and the model does not support it.
    """

    def __init__(self, model: PreTrainedModel, strategy: Strategy) -> None:
        self._model = model
        self.recurrent = is_recurrent(model)
        packed = strategy != "batched" and supports_packed(model)
        if strategy == "packed" and not packed:
            raise ModelError(
                f"{type(model).__name__} does not support the packed strategy (its attention takes no 4-D mask "
                "or no position ids); use batched or auto"
            )
        self.strategy: Layout = "packed" if packed else "batched"

    def __call__(self) -> Engine:
        """A new engine without branches."""
        if self.recurrent:
            return RecurrentEngine(self._model)
        return CacheEngine(self._model, self.strategy)
