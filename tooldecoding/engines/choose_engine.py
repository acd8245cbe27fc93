"""Choosing the engine of a model. What the model supports is found by trying it on a few tokens."""

from collections.abc import Sequence
from typing import Literal

from transformers import PreTrainedModel

from tooldecoding.engines.attention import is_ragged, ragged_models
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.llama_cpp_engine import LlamaCppFactory
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache, States
from tooldecoding.engines.recurrent_engine import RecurrentEngine
from tooldecoding.engines.upstream_engine import UpstreamFactory
from tooldecoding.errors import ModelError
from tooldecoding.models.llama_cpp import LlamaCppModel
from tooldecoding.models.sources import Model, weights_state
from tooldecoding.models.upstream import UpstreamModel
from tooldecoding.options import Strategy

Layout = Literal["packed", "batched"]
"""Whether the branches of a prompt share a row of the cache."""

_TRIAL = ([5, 9, 7], [4, 6], [8, 3])
_LARGEST_DIFFERENCE = 0.2
"""In standard deviations of the logits. A wrong mask changes them by about one, rounding in fp16 by far less."""
_LAYERS = {"full_attention", "sliding_attention"}
_MASKS_BY_PLACE = {"gpt_neo"}
"""Models with a mask of their own that counts places in the cache instead of positions."""
_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, AttributeError)


def is_recurrent(model: PreTrainedModel) -> bool:
    """Whether the model keeps a state that no mask can correct afterwards."""
    layers = getattr(model.config.get_text_config(), "layer_types", None) or ()
    attention = all(layer.endswith("attention") and not layer.startswith("linear") for layer in layers)
    return bool(getattr(model, "_is_stateful", False)) or not attention


def why_not_packed(model: LanguageModel) -> str:
    """Return why branches cannot be packed behind one prompt; empty if each gets the logits that it would get alone."""
    config = model.model.config.get_text_config()
    if is_recurrent(model.model):
        return "it keeps a recurrent state"
    if not model.takes_positions:
        return "it takes no position ids"
    others = set(getattr(config, "layer_types", None) or ()) - _LAYERS
    if others:
        return f"it has layers of type {', '.join(sorted(others))}"
    if config.model_type in _MASKS_BY_PLACE:
        return "its own mask counts places in the cache instead of positions"
    prompt, first, second = _TRIAL
    engine = PackedEngine(model)
    try:
        [root] = engine.open(1)
        engine.extend([Feed(root, prompt)])
        fork = engine.fork(root)
        packed = engine.extend([Feed(root, first), Feed(fork, second)])
        same = _agree(packed, [_alone(model, [*prompt, *branch]) for branch in (first, second)])
    except _REFUSALS as error:
        return f"its attention takes no 4-D mask ({type(error).__name__})"
    return "" if same else "packed branches get other logits than they would get alone"


def _alone(model: LanguageModel, tokens: list[int]) -> NextTokenLogits:
    """Return the logits behind these tokens."""
    [root] = (engine := BatchedEngine(model)).open(1)
    [[logits]] = engine.extend([Feed(root, tokens)])
    return logits


def _agree(found: Sequence[Sequence[NextTokenLogits]], expected: Sequence[NextTokenLogits]) -> bool:
    return all(
        float((a.logits - b.logits).abs().max()) <= _LARGEST_DIFFERENCE * float(b.logits.std())
        for [a], b in zip(found, expected, strict=True)
    )


def allow_ragged(model: LanguageModel) -> None:
    """Let a model that can be packed run ragged passes, if each branch gets the logits that it would get alone."""
    if is_ragged(model.model):
        return  # tried before; another thread may run one now
    short, first, second = _TRIAL
    prompts = ([7], short, [*short, *first, *second])
    ragged_models.add(model.model)
    engine, same = PackedEngine(model), False
    try:
        if is_ragged(model.model):
            roots = engine.open(len(prompts))
            engine.extend([Feed(root, prompt) for root, prompt in zip(roots, prompts, strict=True)])
            found = engine.extend([Feed(root, [*first, *[6] * n]) for n, root in enumerate(roots)])
            same = _agree(found, [_alone(model, [*prompt, *first, *[6] * n]) for n, prompt in enumerate(prompts)])
    except _REFUSALS:
        pass
    finally:
        if not same:
            ragged_models.discard(model.model)


def _rotates_by_length(model: PreTrainedModel) -> bool:
    """Whether the keys of a prefix depend on the length of the whole prompt (rotary embeddings of Phi-3 long)."""
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    kinds = [rope.get("rope_type"), *(r.get("rope_type") for r in rope.values() if isinstance(r, dict))]
    return any(kind == "longrope" or "dynamic" in (kind or "") for kind in kinds)


def make_engines(
    model: Model, strategy: Strategy, prompt_cache_bytes: int = 0
) -> "EngineFactory | LlamaCppFactory | UpstreamFactory":
    """Return what makes the engines of a model; see ``EngineFactory``."""
    if isinstance(model, LlamaCppModel):
        return LlamaCppFactory(model, strategy, prompt_cache_bytes)
    if isinstance(model, UpstreamModel):
        return UpstreamFactory(model.server, model.config.get_text_config().vocab_size)
    return EngineFactory(model, strategy, prompt_cache_bytes)


class EngineFactory:
    """Makes the engines of one model.

    ModelError if ``packed`` is asked for and the model does not support it.

    Parameters
    ----------
    model : PreTrainedModel
    strategy : {"auto", "packed", "batched"}
    prompt_cache_bytes : int
        Memory of the prefix cache, which keeps prompts of earlier requests; 0 for none.

    Attributes
    ----------
    strategy : {"packed", "batched"}
        The layout in use.
    prompts : PrefixCache
    recurrent : bool
        Whether the model keeps a recurrent state.
    reason : str
        Why this engine, as a clause.
    """

    def __init__(self, model: PreTrainedModel, strategy: Strategy, prompt_cache_bytes: int = 0) -> None:
        self._model = LanguageModel(model)
        self._weights = weights_state(model)
        self.recurrent = is_recurrent(model)
        obstacle = why_not_packed(self._model) if strategy != "batched" else "batched was asked for"
        self.reason = obstacle or "packed branches get the logits that they would get alone"
        if strategy == "packed" and obstacle:
            raise ModelError(
                f"{type(model).__name__} does not support the packed strategy (its attention takes no 4-D mask "
                "or no position ids); use batched or auto"
            )
        self.strategy: Layout = "batched" if obstacle else "packed"
        if not obstacle:
            allow_ragged(self._model)
        keeps_prompts = not self.recurrent and not _rotates_by_length(model)
        self.prompts: PrefixCache[States] = PrefixCache(prompt_cache_bytes if keeps_prompts else 0)

    def __call__(self) -> Engine:
        """Return a new engine without branches. Clears the prefix cache if the model's weights changed."""
        model = self._model.model
        weights = weights_state(model)
        if weights != self._weights:
            self._weights = weights
            self.prompts.clear()
            self._model = LanguageModel(model)
        if self.recurrent:
            return RecurrentEngine(model)
        engine = PackedEngine if self.strategy == "packed" else BatchedEngine
        return engine(self._model, self.prompts)
