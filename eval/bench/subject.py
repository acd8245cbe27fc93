"""The subject of a bench: a model, loaded or of random weights, and the prompts and calls that every method writes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from eval.bench.machine import PassClock
from eval.bench.options import HEADS, TAILS, BenchOptions
from eval.errors import EvalError
from lookup import extract
from lookup.dictionary import ToolSpec
from tooldecoding.chat.templates import api_bank_prompt
from tooldecoding.cli.console import stderr_line
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.engines.language_model import LanguageModel, Wanted
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import ModelError
from tooldecoding.models.loading import DTYPES, load_quietly, load_tokenizer
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.token_texts import token_texts

TOOL: Final = "MakeAppointment"
RAGGED: Final = 0.2
"""Largest relative difference of a prompt in a batch from the requested length."""
OPENING: Final = f"[{TOOL}("
SEPARATOR: Final = ", "
END: Final = ")]"
_ENDING: Final = "API-Request:\n"
_FILLER: Final = "<filler>"
_TRIES: Final = 4000

_COMMON: Final = tuple(
    "after again air all back ball big blue book box boy bread car city cold cup dark day door dry east end face fall "
    "fast field fire fish five food friend game garden girl gold good green hand hard head high hill home horse hot "
    "house ice island key king lake land last left letter light line list long map market milk money moon morning "
    "music name new night north old open order paper park people place plan point power rain red rest right river "
    "road rock room sea ship short side sky small snow song sound south star stone story street summer sun table ten "
    "tree turn two wall warm water west white wind window winter wood work world year young".split()
)
"""Words that any tokenizer writes as one or two tokens."""


def _shape(vocabulary: int, width: int, inner: int, layers: int, heads: int, kv: int, **more: Any) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "max_position_embeddings": 8192,
    } | more


SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "tiny": _shape(4096, 64, 96, 2, 4, 2, max_position_embeddings=16_384),
    "llama-134m": _shape(32_000, 768, 2048, 12, 12, 12),
    "llama-1b": _shape(128_256, 2048, 8192, 16, 32, 8, tie_word_embeddings=True),  # Llama 3.2 1B
    "llama-7b": _shape(32_000, 4096, 11_008, 32, 32, 32),  # Llama 2 7B
    "mistral-7b": _shape(32_768, 4096, 14_336, 32, 32, 8, model_type="mistral", sliding_window=None),  # v0.3
}
"""Name -> configuration. ``tiny`` costs so little that the time outside of the model shows. The figures in
docs/bench.md are of ``llama-134m``. The others have the shapes of public models."""


class WatchedEngines(EngineFactory):
    """The product's engines, with a clock that times their forward passes and output layers.

    ``clock``: set before each run.
    """

    clock: PassClock

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model, "auto", 0)
        self._model = _WatchedModel(model, self)


class _WatchedModel(LanguageModel):
    def __init__(self, model: PreTrainedModel, factory: WatchedEngines) -> None:
        super().__init__(model)
        self._factory = factory

    def forward(self, arguments: Mapping[str, Any], wanted: Sequence[Sequence[Wanted]]) -> list[list[NextTokenLogits]]:
        with self._factory.clock.forward_pass():
            return super().forward(arguments, wanted)


@dataclass(frozen=True)
class Subject:
    """A loaded model.

    ``label``: its shape, folder or hub id.
    """

    label: str
    decoder: ToolDecoder
    engines: WatchedEngines


def load_subject(options: BenchOptions, label: str, device: torch.device) -> Subject:
    """Load a model, or make one from a shape.

    ModelError if the model, the tokenizer or the dtype is unknown, or the model keeps a recurrent state. EvalError if a
    shape does not fit on the device.
    """
    logging.set_verbosity_error()
    name = label
    tokenizer: PreTrainedTokenizerBase
    if label not in options.shapes:
        model, tokenizer = load_quietly(
            label, str(device), options.dtype, options.trust_remote_code, stderr_line, engine="transformers"
        )
    else:
        size = SHAPES[label]["vocab_size"]
        tokenizer = load_tokenizer(options.tokenizer or REFERENCE_MODEL, options.trust_remote_code)
        if options.tokenizer is not None:
            size = len(token_texts(tokenizer))
            name = f"{label} with {Path(options.tokenizer).resolve().name}"
        dtype = DTYPES.get(options.dtype or ("fp32" if device.type == "cpu" else "bf16"))
        if not isinstance(dtype, torch.dtype):
            raise ModelError(f"unknown dtype {options.dtype!r} for a shape; known: fp32, bf16, fp16")
        model = random_model(label, device, dtype, options.seed, size)
    engines = WatchedEngines(model)
    if engines.recurrent:
        raise ModelError(f"{label} keeps a recurrent state; bench measures models with attention alone")
    return Subject(name, ToolDecoder(model, tokenizer, prompt_cache_mb=0), engines)


def random_model(name: str, device: torch.device, dtype: torch.dtype, seed: int, vocabulary: int) -> PreTrainedModel:
    """Make a model of a shape with seeded random weights, directly on the device; EvalError if it does not fit."""
    special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    config = AutoConfig.for_model(**{**SHAPES[name], **special, "vocab_size": vocabulary})
    torch.manual_seed(seed)
    try:
        with device:
            model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=dtype)
    except torch.OutOfMemoryError:
        raise EvalError(f"--shape: {name} does not fit on {device}; take a smaller shape or --dtype bf16") from None
    return model.to(device).eval()


@dataclass(frozen=True)
class Example:
    """One prompt and its call, in API-Bank's format.

    Attributes
    ----------
    values : mapping
        Key -> text, in documentation order.
    call_ids : tuple of int
        The tokens of the call after the prompt.
    """

    prompt_ids: tuple[int, ...]
    values: Mapping[str, str]
    call_ids: tuple[int, ...]

    @property
    def pairs(self) -> dict[str, str]:
        """Key -> the key with its value as it is written."""
        return {key: f"{key}='{value}'" for key, value in self.values.items()}

    def text(self, order: Sequence[str] = ()) -> str:
        """Return the call with its keys in an order, by default in documentation order."""
        return OPENING + SEPARATOR.join(self.pairs[key] for key in order or self.values) + END


@dataclass(frozen=True)
class Workload:
    """The tool, the examples of one batch, and how many values of each call occur in its prompt."""

    tool: ToolSpec
    examples: tuple[Example, ...]
    copied_values: int


def make_workload(options: BenchOptions, batch: int, table: TokenTable) -> Workload:
    """Make the seeded examples of one cell.

    EvalError if a prompt of this length cannot hold the documentation, or the tokenizer cannot write such values.

    Parameters
    ----------
    options : BenchOptions
        Says what prompts and values are like.
    batch : int
        Number of prompts that are decoded together.
    """
    mean = options.prompt_tokens
    # of two words each; none is a prefix of another
    names = tuple(f"{HEADS[n % 8]}_{TAILS[(n + n // 8) % 8]}" for n in range(options.required))
    docs = _documentation(names)
    [tool] = extract(docs, origin="<bench>").tools
    random = Random(f"{options.seed}/{batch}/{mean}/{options.required}/{options.value_tokens}/{options.copied}")
    copied = round(options.copied * options.required)
    examples = []
    for _ in range(batch):
        length = round(mean * random.uniform(1 - RAGGED, 1 + RAGGED)) if batch > 1 else mean
        values = {key: _value(options.value_tokens, table, random) for key in names}
        said = [f"the {key.replace('_', ' ')} is {values[key]}" for key in random.sample(names, copied)]
        request = f"User: Please make an appointment{''.join(f', {each}' for each in said)}."
        filler = " ".join(random.choices(_COMMON, k=length))  # a word takes at least one token
        prompt = _prompt_ids(table.tokenizer, api_bank_prompt(docs, [_FILLER, request], ending=_ENDING), filler, length)
        example = Example(prompt, values, ())
        call = table.encode_after(table.join(prompt[-64:]), example.text().encode())
        examples.append(Example(prompt, values, tuple(call)))
    return Workload(tool, tuple(examples), copied)


def _value(tokens: int, table: TokenTable, random: Random) -> str:
    """Return words that the tokenizer writes in so many tokens behind a quote."""
    for _ in range(_TRIES):
        value = " ".join(random.choices(_COMMON, k=random.randint(1, tokens)))
        if len(table.encode_after(b"='", value.encode())) == tokens:
            return value
    raise EvalError(f"tokenizer {table.name}: found no value of exactly {tokens} tokens; try another --value-tokens")


def _prompt_ids(tokenizer: PreTrainedTokenizerBase, text: str, filler: str, length: int) -> tuple[int, ...]:
    """Return exactly ``length`` tokens of a prompt, with as many of the filler as there is room for."""
    before, after = text.split(_FILLER)
    begun = tokenizer.encode(f"{before}User: ")
    ended = tokenizer.encode(f"\n{after.lstrip()}", add_special_tokens=False)
    room = length - len(begun) - len(ended)
    if room < 0:
        raise EvalError(
            f"--prompt-tokens: the documentation, the instruction and the values that stand in the prompt take "
            f"{length - room} tokens, so that a prompt of {length} is too short"
        )
    return (*begun, *tokenizer.encode(filler, add_special_tokens=False)[:room], *ended)


def _documentation(required: Sequence[str]) -> str:
    """Document one tool with these keys, in API-Bank's form."""
    row = {
        "name": TOOL,
        "description": "Makes an appointment and returns its number.",
        "input_parameters": {
            key: {"type": "str", "description": f"The {key.replace('_', ' ')} as the user gave it."} for key in required
        },
        "output_parameters": {"status": {"type": "str", "description": "success or failed"}},
    }
    return json.dumps(row)
