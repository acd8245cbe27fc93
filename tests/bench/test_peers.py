"""Other libraries: absent ones are named, and what they admit of the wanted call is found out."""

import re
import sys

import pytest
import torch
from tiny_bench import subject, workload
from transformers import LogitsProcessor

from eval.bench.methods import Constraint
from eval.bench.peers import PEERS, admitted_path, call_pattern, constraint_of, installed
from eval.bench.workload import Workload
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS

TABLE = subject().decoder.table


def constraint(name: str, work: Workload) -> Constraint | str:
    return constraint_of(name, subject().decoder.model, subject().tokenizer, TABLE, work)


@pytest.mark.parametrize("call_format", list(CALL_FORMATS))
def test_the_pattern_is_that_of_the_call(call_format: str) -> None:
    work = workload(call_format=call_format, batch=3)
    for task in work.tasks:
        assert re.fullmatch(call_pattern(work), task.call)
        assert not re.fullmatch(call_pattern(work), task.call[:-1])
        if "='" in task.call:
            assert not re.fullmatch(call_pattern(work), task.call.replace("='", "=''", 1))


@pytest.mark.parametrize("name", list(PEERS))
def test_a_library_that_cannot_be_used_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("eval.bench.peers.installed", lambda _: None)
    assert constraint(name, workload()) == "not installed; pip install 'tooldecoding[bench]'"
    monkeypatch.setattr("eval.bench.peers.installed", lambda _: "1.0")
    for module in ("xgrammar", "llguidance", "outlines", "lmformatenforcer"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in [m for m in sys.modules if m.startswith(("lmformatenforcer.", "outlines.", "xgrammar."))]:
        monkeypatch.delitem(sys.modules, module)
    reason = constraint(name, workload())
    assert isinstance(reason, str) and reason.startswith("ModuleNotFoundError: ")


@pytest.mark.parametrize("name", list(PEERS))
def test_an_installed_library_admits_the_call(name: str) -> None:
    if installed(name) is None:
        pytest.skip(f"{name} is not installed")
    work = workload()
    ready = constraint(name, work)
    assert isinstance(ready, Constraint), ready
    assert TABLE.join(ready.calls[0]).decode() == work.tasks[0].call


class Refusing(LogitsProcessor):
    """Admits all tokens but some."""

    def __init__(self, *refused: int) -> None:
        self.refused = list(refused)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores[:, self.refused] = -torch.inf
        return scores


def test_a_refused_token_is_written_by_others() -> None:
    [task] = workload().tasks
    own = list(task.call_ids)
    assert admitted_path("refusing", Refusing(), task.prompt_ids, own, TABLE) == own
    long = max(own, key=lambda token: len(TABLE.texts[token] or b""))
    path = admitted_path("refusing", Refusing(long), task.prompt_ids, own, TABLE)
    assert long not in path and len(path) > len(own) and TABLE.join(path) == TABLE.join(own)
    with pytest.raises(EvalError, match="refusing does not admit the wanted call: nothing can follow ''"):
        admitted_path("refusing", Refusing(*range(len(TABLE.texts))), task.prompt_ids, own, TABLE)
