"""Every method of the bench writes the wanted call, in the passes of the formula; the command as a user types it."""

import json
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from boundaries.vocabularies import FOLDER, FOUND
from command_line import Cli
from eval.bench.methods import EngineMethod, GenerateMethod, Measurement, Method, library
from eval.bench.methods import tool_decoding as method_of
from eval.bench.options import BenchOptions
from eval.bench.subject import Example, Subject, Workload, load_subject, make_workload
from eval.options import PEER_METHODS
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from voting import draw_orders


@lru_cache(maxsize=2)
def subject(vocabulary: str = "") -> Subject:
    """A tiny model of random weights, around one of the vocabularies in ``FOLDER``."""
    tokenizer = str(FOLDER / vocabulary) if vocabulary else None
    return load_subject(BenchOptions(shapes=("tiny",), tokenizer=tokenizer), "tiny", torch.device("cpu"))


def workload(batch: int = 1, vocabulary: str = "", **changes: Any) -> Workload:
    fields: dict[str, Any] = {"prompt_tokens": 400, "value_tokens": 5}
    made, options = subject(vocabulary), BenchOptions(shapes=("tiny",), **(fields | changes))
    return make_workload(options, batch, made.decoder.table)


def generate(work: Workload, beams: int = 1) -> Method:
    return GenerateMethod("greedy", subject().decoder, work, beams)


def tool_decoding(work: Workload, limit: int, vocabulary: str = "", **options: Any) -> Method:
    return method_of(subject(vocabulary), work, DecodeOptions(order_limit=limit, max_calls=1, **options))


def timed(method: Method) -> Measurement:
    """A run of the method, which checks what was written; its times add up."""
    run = method.run()
    assert 0 <= run.constraint <= run.outside < run.decode < run.total and run.teacher > 0
    return run


def formula_passes(example: Example, limit: int, table: TokenTable) -> int:
    """The passes of a voted call without drafts, from its text alone: the most decisions that one of its orders takes.

    A decision is a token that writes a part of a value or its closing quote, even if it also writes other text. One
    pass more computes the prompt before the orders fork. All other text costs none: the teacher wants the tokenizer's
    own tokens for it.
    """
    options = DecodeOptions(order_limit=limit)
    orders = draw_orders(tuple(example.values), limit, options.orders, options.seed)
    return max(_free_tokens(example, order, table) for order in orders) + (len(orders) > 1)


def _free_tokens(example: Example, order: tuple[str, ...], table: TokenTable) -> int:
    text = example.text(order)
    free = bytearray(len(text.encode()))
    for key in order:
        start = text.index(example.pairs[key]) + len(f"{key}='")
        size = len(example.values[key]) + 1
        free[start : start + size] = b"\1" * size
    place, count = 0, 0
    for token in table.encode_after(table.join(example.prompt_ids[-64:]), text.encode()):
        size = len(table.text(token))
        count += any(free[place : place + size])
        place += size
    return count


@pytest.mark.parametrize(
    ("vocabulary", "batch", "limit"),
    [("", 1, 1), ("", 3, 2), ("", 1, 24), *((name, 1, limit) for name in FOUND for limit in (1, 12))],
)
def test_tool_decoding_writes_the_call_in_the_passes_of_the_formula(vocabulary: str, batch: int, limit: int) -> None:
    work, table = workload(batch, vocabulary, value_tokens=3), subject(vocabulary).decoder.table
    run = timed(tool_decoding(work, limit, vocabulary, draft_tokens=0))
    assert run.passes == max(formula_passes(example, limit, table) for example in work.examples) >= 4 * 3
    assert subject(vocabulary).label == (f"tiny with {Path(vocabulary).name}" if vocabulary else "tiny")
    assert not vocabulary or subject(vocabulary).decoder.model.config.vocab_size == len(table.texts)


@pytest.mark.parametrize(("batch", "beams"), [(1, 1), (1, 2), (3, 6)])
def test_generate_writes_the_call(batch: int, beams: int) -> None:
    work = workload(batch)
    run = timed(generate(work, beams))
    calls, prompts = [len(t.call_ids) for t in work.examples], [len(t.prompt_ids) for t in work.examples]
    assert (run.passes, run.written) == (max(calls), sum(calls))
    assert run.positions == beams * (sum(prompts) + sum(calls) - batch)
    cached = beams * batch * (max(prompts) + max(calls) - 1)
    assert run.positions <= cached
    assert run.cache_bytes == cached * 2 * 2 * 2 * 16 * 4  # keys and values, 2 layers, 2 heads of 16, fp32


OPTIONS = DecodeOptions(format="api-bank", max_calls=1)


@pytest.mark.parametrize("name", PEER_METHODS)
@pytest.mark.parametrize("batch", [1, 3])
def test_an_installed_library_writes_the_call(monkeypatch: pytest.MonkeyPatch, name: str, batch: int) -> None:
    pytest.importorskip(name)
    work = workload(batch)
    ready = library(name, subject(), work, OPTIONS)
    assert isinstance(ready, EngineMethod), ready
    run = ready.run()  # it checks what was written
    assert run.passes >= generate(work).run().passes and 0 < run.constraint < run.decode
    assert ready.preparation["tools"] > 0 and ready.note.startswith("version ")
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    assert "ModuleNotFoundError" in str(library(name, subject(), work, OPTIONS))


@pytest.mark.parametrize(("copied", "count"), [(0, 0), (0.5, 2), (0.7, 3), (1, 4)])
@pytest.mark.parametrize("length", [280, 281, 350])
def test_prompt_and_values_have_so_many_tokens_and_a_share_stands_in_the_prompt(
    length: int, copied: float, count: int
) -> None:
    made, table = workload(prompt_tokens=length, copied=copied), subject().decoder.table
    [example] = made.examples
    assert len(example.prompt_ids) == length and table.join(example.call_ids).decode() == example.text()
    assert all(len(table.encode_after(b"='", value.encode())) == 5 for value in example.values.values())
    prompt = table.join(example.prompt_ids).decode()
    assert sum(value in prompt for value in example.values.values()) == count == made.copied_values


QUICK = ("--prompt-tokens", 320, "--value-tokens", 3, "--repeat", 2, "--required", 3)


@pytest.fixture
def command(tmp_path: Path) -> tuple[Any, ...]:
    return ("bench", "--shape", "tiny", *QUICK, "--out", tmp_path)


def found(folder: Path) -> Any:
    return json.loads((folder / "bench.json").read_text())


def test_a_bench(cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.bench.methods.version", Mock(side_effect=PackageNotFoundError))
    ran = cli(*command, "--order-limit", "1,6", "--batch", "1,2", "--draft-tokens", 0)
    assert ran.code == 0, ran.err
    missing = [f"Not measured: {peer}: not installed" for peer in PEER_METHODS]
    for text in ("tiny, float32, batch 1, rounds 2", "2 of 3 values stand in the prompt; no drafts", *missing):
        assert text in " ".join(ran.out.split())
    bench = found(tmp_path)
    assert bench["settings"]["shapes"] == ["tiny"]
    assert {"cpu", "cores", "threads", "device", "versions"} <= bench["machine"].keys()
    assert [cell["batch"] for cell in bench["cells"]] == [1, 2]
    for cell in bench["cells"]:
        assert cell["rounds"] == 2
        methods = {m["name"]: m for m in cell["methods"]}
        assert list(methods) == ["1 order", "6 orders", "greedy", "beam6"]
        assert (methods["1 order"]["passes"], methods["6 orders"]["passes"]) == (12, 13)
        for method in methods.values():
            assert len(method["runs"]) == 2
            ratios = [r["decode"] / g["decode"] for r, g in zip(method["runs"], methods["greedy"]["runs"], strict=True)]
            assert method["decode_to_greedy"]["median"] == pytest.approx(sum(ratios) / 2)
            assert method["decode_to_greedy"]["p10"] == pytest.approx(0.9 * min(ratios) + 0.1 * max(ratios))
            outside = [r["outside"] / (r["passes"] - 1) for r in method["runs"]]
            assert method["outside_us_per_pass"] == pytest.approx(1e6 * sum(outside) / 2)
            assert 0 <= method["constraint_us_per_token"] < method["outside_us_per_pass"]


def test_a_model(cli: Cli, tmp_path: Path, tiny_model_path: str) -> None:
    options = ("--order-limit", 1, "--value-tokens", 12, "--required", 2, "--repeat", 1, "--against", "")
    ran = cli("bench", "--model", tiny_model_path, *options, "--out", tmp_path)
    assert ran.code == 0, ran.err
    [cell] = found(tmp_path)["cells"]
    assert (cell["model"], cell["prompt_tokens"]) == (tiny_model_path, [1000])
    assert cell["methods"][0]["decode_to_greedy"] is None  # greedy was not asked for


def test_an_interrupt_leaves_the_finished_rounds(
    cli: Cli, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = iter(range(3))

    def run(method: EngineMethod, real: Callable[[EngineMethod], Measurement] = EngineMethod.run) -> Measurement:
        if next(some, None) is None:
            raise KeyboardInterrupt
        return real(method)

    monkeypatch.setattr(EngineMethod, "run", run)
    assert cli(*command, "--order-limit", 1, "--against", "greedy", "--repeat", 5).code == 130
    [cell] = found(tmp_path)["cells"]
    assert cell["rounds"] == 2 and [len(m["runs"]) for m in cell["methods"]] == [2, 2]
