"""The engine on llama.cpp: its logits are the model's, a tree is its lines, calls are those of the packed engine."""

import ctypes
import gc
import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from test_engines import Traffic, alone
from test_loading import MODEL, PROMPTS, write_gguf

from command_line import Cli
from eval.methods.llama_cpp_python import LlamaCppPython
from eval.methods.prediction import ScoredText
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines import llama_cpp_engine
from tooldecoding.engines.engine import Feed, Need
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.llama_cpp import is_installed, library
from tooldecoding.models.loading import load_model
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tools import WEATHER, lookup

pytestmark = pytest.mark.skipif(not is_installed(), reason="make llama-cpp installs llama-cpp-python")
TYPES = {"Q8_0": 7, "Q4_K_M": 15}
"""Types of quantised files, as llama.cpp numbers them."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tiny model in full, and as llama.cpp quantises it: type -> file."""
    folder = tmp_path_factory.mktemp("models")
    files = {"F32": write_gguf(folder / "tiny-F32.gguf", 0)}
    for name, number in TYPES.items():
        files[name] = folder / f"tiny-{name}.gguf"
        how = library().llama_model_quantize_default_params()
        how.ftype, how.nthread = number, 1
        paths = (str(files[each]).encode() for each in ("F32", name))
        assert library().llama_model_quantize(*paths, ctypes.byref(how)) == 0
    return files


def factory(file: Path, cached_mb: int = 0) -> llama_cpp_engine.LlamaCppFactory:
    model: Any = load_model(str(file), engine="llama.cpp", threads=1)[0]
    return llama_cpp_engine.LlamaCppFactory(model, "auto", cached_mb << 20)


@pytest.mark.parametrize("caching", [False, True])
def test_who_joins_and_leaves_changes_nothing(files: dict[str, Path], caching: bool) -> None:
    engine = factory(files["F32"], 8 * caching)()
    traffic = Traffic(engine, partial(alone, model=MODEL), Random(int(caching)))
    traffic.run(60)
    assert traffic.joined > 10 and (traffic.reused > 0) == caching
    traffic.close()
    assert len(engine._cache._free) == 256 - len(engine._cache.prefixes._entries)


@pytest.mark.parametrize("kind", TYPES)
def test_a_tree_is_its_lines(files: dict[str, Path], kind: str) -> None:
    make = factory(files[kind])
    line = make()

    def as_a_line(tokens: list[int], count: int) -> torch.Tensor:
        [root] = line.open(1)
        parts = [tokens[: len(tokens) - count], *([token] for token in tokens[-count:])]
        found = [line.extend([Feed(root, part)])[0][0].logits for part in parts if part]
        line.close(root)
        return torch.stack(found[-count:])

    Traffic(make(), as_a_line, difference=0).run(25)


@pytest.mark.parametrize("worth", [32, 0])
def test_calls_are_those_of_the_packed_engine(files: Any, worth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_cpp_engine, "_worth_a_pass", lambda _: worth)
    path = str(files["F32"])
    packed = ToolDecoder.from_pretrained(path, engine="transformers", max_value_tokens=8, order_limit=12)
    own = ToolDecoder.from_pretrained(path, engine="llama.cpp", max_value_tokens=8, order_limit=12)
    for _ in range(2):  # the second time from the prefix cache
        for wanted, found in zip(*(decoder.decode(PROMPTS, lookup(WEATHER)) for decoder in (packed, own)), strict=True):
            assert found.text == wanted.text
            a, b = found.counters, wanted.counters
            # the last tokens are computed anew: few rows would round in another way
            later = b.reused_positions - a.reused_positions
            assert 0 <= later < 16 and (later >= 7 or not b.reused_positions)
            if later:
                continue
            same = (a.forward_passes, a.positions) == (b.forward_passes, b.positions)
            assert same if worth else a.positions < b.positions  # no draft is tried


def test_the_cache_grows(files: dict[str, Path]) -> None:
    engine = factory(files["F32"])()
    roots = engine.open(3)
    texts = [[5 + (7 * i + n) % 200 for i in range(1500)] for n in range(3)]
    engine.extend([Feed(root, text) for root, text in zip(roots, texts, strict=True)])
    assert engine._cache._positions == 8192
    for [found], text in zip(engine.extend([Feed(root, [9]) for root in roots]), texts, strict=True):
        torch.testing.assert_close(found.logits, alone([*text, 9], model=MODEL)[0], atol=1e-3, rtol=1e-3)


def test_the_cache_of_a_model_that_rotates_by_length_grows_no_further(tmp_path: Path) -> None:
    engine = factory(write_gguf(tmp_path / "long.gguf", 0, long_factors=4096))()
    [root] = engine.open(1)
    engine.extend([Feed(root, [5] * 4000)])
    with pytest.raises(ModelError, match=r"has 4,096 positions.*--engine transformers"):
        engine.extend([Feed(root, [5] * 200)])


def test_what_nobody_closes_is_free_again(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    make, freed = factory(files["F32"], 8), list[str]()
    for _ in range(300):
        [root] = (gone := make()).open(1)
        gone.__del__()  # as behind an error or a stream that is given up; a piece of decoding may end behind it
        gone.release(root)
    with pytest.raises(ModelError, match="at most 256 sequences"):
        (engine := make()).open(257)
    roots = engine.open(256)
    assert len({engine._branches[root].sequence for root in roots}) == 256
    engine.reuse(roots[0], text := list(range(5, 30)))
    engine.extend([Feed(roots[0], text)])  # there is no sequence to keep it in
    assert engine._cache.lock is engine._cache.prefixes.lock  # of two, each could wait for the other
    with pytest.raises(ModelError, match="invalid token"):
        engine.extend([Feed(roots[0], [10**6])])
    gc.collect()
    for name, free in [(name, getattr(library(), name)) for name in ("llama_free", "llama_model_free")]:
        monkeypatch.setattr(library(), name, lambda what, name=name, free=free: (freed.append(name), free(what)))
    ring: list[Any] = [factory(files["F32"])]
    ring.append(ring)
    ring = []
    gc.collect()
    assert freed == ["llama_free", "llama_model_free"]


def test_limits_are_clear(files: dict[str, Path], cli: Cli, tiny_model_path: str) -> None:
    engine = factory(files["F32"])()
    [root], needs = engine.open(1), [Need(9, branches=15, drafts=3, each=5)] * 16
    assert engine.bytes_for(needs) < engine.bytes_for([*needs, Need(1)]) == math.inf
    with pytest.raises(ModelError, match="at most 256 sequences"):
        for _ in range(256):
            engine.fork(root)
    wrong: dict[str, dict[str, Any]] = {"runs GGUF": {"model": tiny_model_path}, "takes no dtype": {"dtype": "bf16"}}
    wrong |= {"packs all branches": {"strategy": "batched"}, "leaves no": {"device": "cpu", "gpu-layers": 4}}
    wrong |= {"transformers runs": {"engine": "transformers", "threads": 2}}
    for said, given in wrong.items():
        options = {"model": files["F32"], "engine": "llama.cpp", **given}
        ran = cli("doctor", *(part for name, value in options.items() for part in (f"--{name}", value)))
        assert ran.code == 2 and said in ran.err and ran.err.count("\n") == 1
    for said, given in {"unknown engine": {"engine": "llamacpp"}, "1 or more, got 0": {"threads": 0}}.items():
        with pytest.raises(ModelError, match=said):
            load_model(str(files["F32"]), **given)
    sgd = ["eval", "sgd", "--data", "x", "--out", "y", "--method"]
    assert "that of transformers" in cli(*sgd, "greedy", "--engine", "llama.cpp").err
    assert "that of llama.cpp" in cli(*sgd, "llama-cpp", "--engine", "transformers").err
    assert "give --template chat" in cli(*sgd, "llama-cpp").err


def test_the_package_itself_writes_documented_calls(files: dict[str, Path]) -> None:
    model, tokenizer = load_model(str(files["F32"]), engine="llama.cpp", threads=1)
    method = LlamaCppPython(model, tokenizer, ScoredText(CALL_FORMATS["hermes"], CALL_FORMATS["pythonic"], False))
    asked = {"a": 400, "b " * 1100: 9}
    requests = [Request(prompt, lookup(WEATHER), DecodeOptions(max_text_tokens=most)) for prompt, most in asked.items()]
    whole, cut = method.run(requests)
    written = json.loads(str(whole.written), strict=False)  # it allows line breaks in texts
    assert written["name"] == "GetWeather" and {"city", "days", "unit", "price"} <= set(written["arguments"])
    assert cut.counters["forward_passes"] == 9 and cut.counters["positions"] > 2048
    with pytest.raises(PromptError, match="the model's context is"):
        method.run([Request("b " * 40_000, lookup(WEATHER), DecodeOptions())])


def test_it_is_the_default_for_such_files_and_silent(files: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "tooldecoding", "doctor", "--model", str(files["Q8_0"])]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "llama.cpp runs the file as it is" in ran.stdout and "Q8_0 on cpu, as the file has them" in ran.stdout
    assert ran.stderr == ""
