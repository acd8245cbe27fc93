"""The arguments that the caller of ``model.generate`` gave: Tool Decoding obeys or refuses each of them.

``generate`` passes a custom method one configuration, which mixes the caller's arguments with defaults of the model's
folder, and neither streamer nor assistant. So the arguments are read from the calling frame of ``generate``. Settings
that only the folder makes (``do_sample``, ``temperature``, …) are not arguments and have no effect.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
_SAMPLING = "calls are decoded greedily; leave it out, or pass do_sample=False"
_ROWS = "there is one voted call a prompt; pass 1; order_limit of tool_decoding says how many orders vote"
_ENDS = (
    "a call ends where its format ends; leave it out: max_value_tokens, max_text_tokens, max_calls and order_limit of "
    "tool_decoding bound the work, max_new_tokens the length"
)
_LOGITS = "the documentation alone says which tokens may follow; leave it out"
_OUTPUT = "leave it out: with return_dict_in_generate=True the results hold candidates, votes and log-probabilities"
_PROMPTS = "leave it out: prompts are given as input_ids and attention_mask alone"
_OTHERWISE = "Tool Decoding has no use for it; leave it out"

_ADVICE = {
    _SAMPLING: "do_sample temperature top_k top_p min_p top_h typical_p epsilon_cutoff eta_cutoff",
    _ROWS: "num_beams num_return_sequences num_beam_groups early_stopping length_penalty diversity_penalty",
    _ENDS: "max_time stop_strings stopping_criteria min_length min_new_tokens",
    _LOGITS: "logits_processor prefix_allowed_tokens_fn bad_words_ids force_words_ids constraints forced_bos_token_id "
    "forced_eos_token_id suppress_tokens begin_suppress_tokens sequence_bias repetition_penalty guidance_scale "
    "encoder_repetition_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size watermarking_config "
    "exponential_decay_length_penalty negative_prompt_ids negative_prompt_attention_mask",
    _OUTPUT: "output_scores output_logits output_attentions output_hidden_states",
    _PROMPTS: "inputs_embeds past_key_values position_ids token_type_ids",
}
_ADVICE_OF = {name: advice for advice, names in _ADVICE.items() for name in names.split()}

_CHANGES_NOTHING: Mapping[str, tuple[Any, ...]] = {
    "top_k": (0, 1, 50),
    "use_cache": (True,),
    "renormalize_logits": (True, False),
    "num_assistant_tokens": (20,),
    "num_assistant_tokens_schedule": ("constant",),
    "assistant_confidence_threshold": (0.4,),
    "assistant_lookbehind": (10,),
    "target_lookbehind": (10,),
    "use_mtp": (False,),
    "early_stopping": (True, False, "never"),
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "min_length": (0,),
    "min_new_tokens": (0,),
    "max_time": (),
    "forced_bos_token_id": (),
    "forced_eos_token_id": (),
}
"""Values that do not change what ``generate`` does. For arguments that are not listed: False, 0 and 1."""


@dataclass(frozen=True)
class Asked:
    """The arguments of the caller of ``generate``.

    Attributes
    ----------
    arguments : mapping
        Arguments by name, without those of a ``GenerationConfig``.
    default_length : bool
        Whether neither the caller nor the model's folder limits the length of the text.
    """

    arguments: Mapping[str, Any]
    default_length: bool


def asked_of_generate(model: PreTrainedModel) -> Asked:
    """Return the arguments of the calling ``model.generate``; no arguments if it is not the caller."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        given = frame.f_locals if frame.f_code is _GENERATE else {}
        if given.get("self") is model:
            named = {name: given.get(name) for name in _NAMED}
            return Asked(named | given["kwargs"], given.get("has_default_max_length", True))
        frame = frame.f_back
    return Asked({}, True)


def refuse_unheld(asked: Asked, config: GenerationConfig, model: PreTrainedModel) -> None:
    """Refuse arguments of ``generate`` that Tool Decoding cannot obey.

    Raises
    ------
    ConfigError
        With the argument's name and what to do.
    """
    for name, value in _asked_for(asked, config, model.generation_config):
        if not _changes_nothing(name, value):
            shown = value if isinstance(value, str | int | float) else type(value).__name__
            advice = _ADVICE_OF.get(name, _OTHERWISE)
            raise ConfigError(f"generate(…, {name}={shown}) cannot be held by tool_decoding: {advice}")


def _asked_for(asked: Asked, config: GenerationConfig, own: GenerationConfig) -> Iterator[tuple[str, Any]]:
    yield from ((name, value) for name, value in asked.arguments.items() if name not in _HELD)
    for name, value in sorted(vars(config).items(), reverse=True):  # min_length follows from min_new_tokens
        if not name.startswith("_") and name not in _HELD and value != getattr(own, name, None):
            yield name, value  # from a GenerationConfig that was passed to generate
    for name in ("num_beams", "num_return_sequences"):  # from the model's folder too: generate has multiplied the rows
        yield name, getattr(config, name, None)


def _changes_nothing(name: str, value: Any) -> bool:
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return True
    if name in _CHANGES_NOTHING:
        return any(type(value) is type(same) and value == same for same in _CHANGES_NOTHING[name])
    return value is False or (isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 1))


class Limit(NamedTuple):
    """The most tokens that may follow each prompt, and the argument that says so."""

    tokens: int
    said: str


def most_tokens(asked: Asked, config: GenerationConfig, width: int) -> Limit | None:
    """Return the limit for prompts of ``width`` tokens; None if nobody sets one."""
    if config.max_new_tokens is not None:
        return Limit(int(config.max_new_tokens), f"max_new_tokens={config.max_new_tokens}")
    if config.max_length is None or asked.default_length:
        return None
    return Limit(int(config.max_length) - width, f"max_length={config.max_length}")
