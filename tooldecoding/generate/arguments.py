"""The arguments that the caller of ``model.generate`` gave: Tool Decoding obeys or refuses each of them.

``generate`` passes a custom method one configuration, which mixes the caller's arguments with defaults of the model's
folder, and neither streamer nor assistant. So the arguments are read from the calling frame of ``generate``. Settings
that only the folder makes (``do_sample``, ``temperature``, …) are not arguments and have no effect.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

from transformers import GenerationConfig, GenerationMixin, PreTrainedModel

from tooldecoding.errors import ConfigError

_GENERATE = inspect.unwrap(GenerationMixin.generate).__code__
_NAMED = set(inspect.signature(GenerationMixin.generate).parameters) - {"self", "generation_config", "kwargs"}

_HELD = {
    *("inputs", "input_ids", "attention_mask", "custom_generate", "streamer", "tokenizer"),
    *("max_new_tokens", "max_length", "eos_token_id", "pad_token_id", "return_dict_in_generate"),
    *("bos_token_id", "transformers_version"),  # no meaning with a prompt
}
_ROWS = "there is one voted call a prompt; pass 1; order_limit of tool_decoding says how many orders vote"
_OTHERWISE = "calls are decoded greedily by the documentation; leave it out (docs/transformers-generate.md says why)"

_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "top_k": (0, 1, 50),
    "num_assistant_tokens": (0, 1, 20),
    "num_assistant_tokens_schedule": ("constant",),
    "assistant_confidence_threshold": (0, 0.4, 1),
    "assistant_lookbehind": (0, 1, 10),
    "target_lookbehind": (0, 1, 10),
    "use_cache": (True,),
    **dict.fromkeys(("no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "min_length", "min_new_tokens"), (0,)),
    **dict.fromkeys(("max_time", "forced_bos_token_id", "forced_eos_token_id"), ()),
}
"""Values that ask for nothing; of all others these are False, 0 and 1."""


def asked_of_generate(model: PreTrainedModel) -> tuple[dict[str, Any], bool]:
    """Return the arguments of the calling ``model.generate``; no arguments if it is not the caller.

    Returns
    -------
    asked : dict
        Arguments by name, without those of a ``GenerationConfig``.
    default_length : bool
        Whether neither the caller nor the model's folder limits the length of the text.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        given = frame.f_locals if frame.f_code is _GENERATE else {}
        if given.get("self") is model:
            named = {name: given.get(name) for name in _NAMED}
            return named | given["kwargs"], given.get("has_default_max_length", True)
        frame = frame.f_back
    return {}, True


def refuse_unheld(asked: Mapping[str, Any], config: GenerationConfig, model: PreTrainedModel) -> None:
    """Refuse arguments of ``generate`` that Tool Decoding cannot obey.

    ConfigError, with the argument's name and what to do.
    """
    for name, value in _asked_for(asked, config, model.generation_config):
        if not _changes_nothing(name, value):
            shown = value if isinstance(value, str | int | float) else type(value).__name__
            advice = _ROWS if name in ("num_beams", "num_return_sequences") else _OTHERWISE
            raise ConfigError(f"generate(…, {name}={shown}) cannot be held by tool_decoding: {advice}")


def _asked_for(asked: Mapping[str, Any], config: GenerationConfig, own: GenerationConfig) -> Iterator[tuple[str, Any]]:
    yield from ((name, value) for name, value in asked.items() if name not in _HELD)
    for name, value in sorted(vars(config).items(), reverse=True):  # min_length follows from min_new_tokens
        if not name.startswith("_") and name not in _HELD and value != getattr(own, name, None):
            yield name, value  # from a GenerationConfig that was passed to generate
    for name in ("num_beams", "num_return_sequences"):  # from the model's folder too: generate has multiplied the rows
        yield name, getattr(config, name, None)


def _changes_nothing(name: str, value: Any) -> bool:
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return True
    neutral = _NEUTRAL.get(name, (False, 0, 1))
    if value is True:
        return name == "use_cache"
    return isinstance(value, str | int | float) and value in neutral


class Limit(NamedTuple):
    """The most tokens that may follow each prompt, and the argument that says so."""

    tokens: int
    said: str


def most_tokens(config: GenerationConfig, default_length: bool, width: int) -> Limit | None:
    """Return the limit for prompts of ``width`` tokens; None if nobody sets one."""
    if config.max_new_tokens is not None:
        return Limit(int(config.max_new_tokens), f"max_new_tokens={config.max_new_tokens}")
    if config.max_length is None or default_length:
        return None
    return Limit(int(config.max_length) - width, f"max_length={config.max_length}")
