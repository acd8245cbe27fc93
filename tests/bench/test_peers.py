"""Other libraries: absent ones are named, and what they admit of the wanted call is found out."""

import sys

import numpy as np
import pytest
from tiny_bench import generate, subject, workload

from eval.bench.methods import Constraint, GenerateMethod
from eval.bench.peers import admitted_path, constraint_of
from eval.errors import EvalError
from eval.methods.peers import Bits, Matcher
from eval.options import PEER_METHODS

TABLE = subject().decoder.table


@pytest.mark.parametrize("name", PEER_METHODS)
def test_a_library_that_cannot_be_used_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert constraint_of("no-such-library", TABLE, workload()) == "not installed; pip install 'tooldecoding[bench]'"
    pytest.importorskip(name)
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    reason = constraint_of(name, TABLE, workload())
    assert isinstance(reason, str) and "ModuleNotFoundError" in reason


@pytest.mark.parametrize("name", PEER_METHODS)
@pytest.mark.parametrize("batch", [1, 3])
def test_an_installed_library_writes_the_call(name: str, batch: int) -> None:
    pytest.importorskip(name)
    work = workload(batch)
    ready = constraint_of(name, TABLE, work)
    assert isinstance(ready, Constraint), ready
    assert TABLE.join(ready.calls[0]).decode() == work.tasks[0].text()
    decoder = subject().decoder
    run = GenerateMethod(name, decoder.model, subject().tokenizer, work, 1, ready).run()  # it checks what was written
    assert run.passes >= generate(work).run().passes and run.constraint > 0


def matcher(*refused: int) -> Matcher:
    """Admits all tokens but some."""
    allowed = np.ones(32 * (len(TABLE.texts) // 32 + 1), dtype=bool)
    allowed[list(refused)] = False
    bits: Bits = np.packbits(allowed, bitorder="little").view(np.int32)
    return Matcher(lambda: bits, lambda token: None)


def test_a_refused_token_is_written_by_others() -> None:
    [task] = workload().tasks
    own = list(task.call_ids)
    assert admitted_path("refusing", matcher(), own, TABLE) == own
    long = max(own, key=lambda token: len(TABLE.text(token)))
    path = admitted_path("refusing", matcher(long), own, TABLE)
    assert long not in path and len(path) > len(own) and TABLE.join(path) == TABLE.join(own)
    with pytest.raises(EvalError, match="refusing does not admit the wanted call: nothing can follow ''"):
        admitted_path("refusing", matcher(*range(len(TABLE.texts))), own, TABLE)
