"""Other libraries: absent ones are named, and what they admit of the wanted call is found out."""

import re
import sys

import pytest
import torch
from tiny_bench import decoder, workload
from transformers import LogitsProcessor

from eval.bench.generate_method import call_pattern
from eval.bench.peers import PEERS, Peer, admitted_path, installed, ready_peer
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS


@pytest.mark.parametrize("call_format", list(CALL_FORMATS))
def test_the_pattern_is_that_of_the_call(call_format: str) -> None:
    work = workload(call_format=call_format, batch=3)
    for task in work.tasks:
        assert re.fullmatch(call_pattern(work), task.call)
        assert not re.fullmatch(call_pattern(work), task.call[:-1])
        if "='" in task.call:
            assert not re.fullmatch(call_pattern(work), task.call.replace("='", "=''", 1))


@pytest.mark.parametrize("name", list(PEERS))
def test_an_absent_library_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("eval.bench.peers.installed", lambda _: None)
    reason = ready_peer(name, decoder().model, decoder().tokenizer, "a")
    assert reason == "not installed; pip install 'tooldecoding[bench]'"


@pytest.mark.parametrize("name", list(PEERS))
def test_a_library_that_cannot_be_imported_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("eval.bench.peers.installed", lambda _: "1.0")
    for module in ("xgrammar", "llguidance", "outlines", "lmformatenforcer"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in [m for m in sys.modules if m.startswith(("lmformatenforcer.", "outlines.", "xgrammar."))]:
        monkeypatch.delitem(sys.modules, module)
    reason = ready_peer(name, decoder().model, decoder().tokenizer, "a")
    assert isinstance(reason, str) and reason.startswith("ModuleNotFoundError: ")


@pytest.mark.parametrize("name", list(PEERS))
def test_an_installed_library_admits_the_call(name: str) -> None:
    if installed(name) is None:
        pytest.skip(f"{name} is not installed")
    work = workload()
    [task] = work.tasks
    ready = ready_peer(name, decoder().model, decoder().tokenizer, call_pattern(work))
    assert not isinstance(ready, str), ready
    path = admitted_path(ready[0], task.prompt_ids, task.call_ids, decoder().table)
    assert decoder().table.join(path).decode() == task.call


class Refusing(Peer):
    """Admits all tokens but some."""

    name = package = "refusing"

    def __init__(self, *refused: int) -> None:
        self.refused = list(refused)

    def prepare(self, model: object, tokenizer: object) -> None:
        pass

    def compile(self, pattern: str) -> None:
        pass

    def processor(self) -> LogitsProcessor:
        class Processor(LogitsProcessor):
            def __call__(_, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
                scores[:, self.refused] = -torch.inf
                return scores

        return Processor()


def test_a_refused_token_is_written_by_others() -> None:
    [task] = workload().tasks
    table = decoder().table
    own = list(task.call_ids)
    assert admitted_path(Refusing(), task.prompt_ids, own, table) == own
    long = max(own, key=lambda token: len(table.texts[token] or b""))
    path = admitted_path(Refusing(long), task.prompt_ids, own, table)
    assert long not in path and len(path) > len(own)
    assert table.join(path) == table.join(own)


def test_a_call_that_is_refused_is_an_error_that_names_the_library() -> None:
    [task] = workload().tasks
    everything = range(len(decoder().table.texts))
    with pytest.raises(EvalError, match="refusing does not admit the wanted call: nothing can follow ''"):
        admitted_path(Refusing(*everything), task.prompt_ids, task.call_ids, decoder().table)
