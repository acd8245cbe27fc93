"""The steps of ``tune`` on made-up candidates whose right answers are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import eval_data
from eval.benchmarks.registry import find_benchmark
from eval.errors import EvalError
from eval.tuning.decoded_prompt import DecodedCall, DecodedPrompt, VoteOptions
from eval.tuning.decodes import Latency
from eval.tuning.options import TuneOptions
from eval.tuning.output import tables
from eval.tuning.prompts import TuningPrompt
from eval.tuning.reasons import limit_reasons, reasons
from eval.tuning.tuner import Tuner, Tuning
from eval_data import write_sgd
from tooldecoding.decoder import Request
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from voting import CandidateCall, CandidateValue, merge

SGD = find_benchmark("sgd")
FORM = CALL_FORMATS["api-bank"]
LAMP = {"room": "hall", "state": "off", "colour": "red"}
BASE = VoteOptions(2)
Candidates = Sequence[Mapping[str, str]]


@dataclass
class MadeUp:
    """Stands for the decodes: candidates from a table, milliseconds from the order limit."""

    candidates_by_id: Mapping[str, Candidates]

    def candidates(self, items: Sequence[TuningPrompt], variant: VoteOptions) -> dict[str, list[DecodedPrompt]]:
        return {item.id: [self._record(item, variant)] for item in items}

    def again(self, items: Sequence[TuningPrompt], variant: VoteOptions) -> dict[str, DecodedPrompt]:
        raise AssertionError("a single call is always derived")

    def _record(self, item: TuningPrompt, variant: VoteOptions) -> DecodedPrompt:
        assert item.sample is not None
        given = self.candidates_by_id[item.id]
        if not given:
            return DecodedPrompt(variant, "", "", (), "too long")
        tool = item.sample.documentation.lookup[item.sample.calls[0].name]
        orders = [("room", "state"), ("state", "room")]
        calls = tuple(
            CandidateCall(tool.name, order, tuple(CandidateValue(k, v, repr(v), -0.1) for k, v in values.items()))
            for order, values in zip(orders, given, strict=True)
        )
        voted = merge(calls, tool, variant.optional_share)
        text = FORM.render_call(voted.name, voted.arguments)
        return DecodedPrompt(variant, f"[{text}]", "", (DecodedCall(tool, calls, text),))

    def measure(
        self, items: Sequence[TuningPrompt], variants: Sequence[VoteOptions], base: VoteOptions
    ) -> dict[VoteOptions, Latency]:
        faster = {"none": 1.0, "exact": 0.5, "posterior": 0.4}
        ms = {v: 100.0 * v.order_limit * faster[v.stopping] for v in variants}
        ratios = {v: ms[v] / ms[base] for v in variants}
        return {v: Latency(ms[v], ms[v], ms[v], r, r, r, 1, 1, len(items)) for v, r in ratios.items()}


def tune(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: Sequence[Candidates],
    answers: bool = True,
    **decision: float,
) -> Tuning:
    """Tune on as many lamps as there are pairs of candidates."""
    monkeypatch.setattr(eval_data, "CALLS", [(f"d{n:02}", "Lamps_1", "SetLamp", LAMP) for n in range(len(given))])
    samples = SGD.load(str(write_sgd(tmp_path / "sgd")), SGD.categories)
    requests = [Request("x", s.documentation.lookup, DecodeOptions()) for s in samples]
    items = [TuningPrompt(s.id, r, "", s, {"id": s.id}) for s, r in zip(samples, requests, strict=True)]
    made_up = MadeUp({item.id: candidates for item, candidates in zip(items, given, strict=True)})
    wanted = TuneOptions(benchmark="sgd", data="x", limits="1,2", margin=100.0, latency_prompts=3, **decision)  # type: ignore[arg-type]
    tuner = Tuner(items, wanted, BASE, SGD if answers else None, None, made_up, 0)  # type: ignore[arg-type]
    return tuner.run({"benchmark": "sgd", "model": "made up", "machine": "none"})


PLAIN = {"room": "hall", "state": "off"}
WRONG = {"room": "attic", "state": "off", "colour": "red"}


def test_a_share_that_is_significantly_better_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tune(tmp_path, monkeypatch, [(PLAIN, LAMP)] * 8 + [(LAMP, LAMP)] * 2)
    right = {row.share: row.right.right for row in found.shares}
    assert right == {n / 10: 10 if n < 5 else 2 if n < 10 else 0 for n in range(11)}
    assert found.deployed is not None
    assert found.deployed.optional_share == 0.4  # of equal ones the nearest to the default
    assert "optional_share 0.4 is 80.0 points more accurate" in reasons(found)[0]
    # with it the second order adds what the first lacks
    assert [row.right.right for row in found.limits] == [2, 10]
    assert found.choice.limit == 2


def test_a_share_that_is_not_significantly_better_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tune(tmp_path, monkeypatch, [(PLAIN, LAMP)] * 6 + [(LAMP, LAMP)] * 4)
    assert found.deployed is not None
    assert found.deployed.optional_share == 0.5  # six gains alone have p = 0.016, among ten comparisons 0.16
    assert "optional_share stays 0.5" in reasons(found)[0]


def test_curve_and_value_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tie the first order's value wins, so that a limit of 2 mends nothing here."""
    found = tune(tmp_path, monkeypatch, [(WRONG, LAMP)] * 3 + [(LAMP, WRONG)] * 4 + [()])
    assert [row.value_errors for row in found.limits] == [3, 3]
    assert [row.right.right for row in found.limits] == [4, 4]
    assert [row.right.total for row in found.limits] == [8, 8]  # what could not be decoded counts as wrong
    assert found.failures == ["too long"]
    assert found.reduction(found.limits[1]) == 0
    assert found.choice.limit == 1


def test_stopping_exact_is_deployed_where_it_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tune(tmp_path, monkeypatch, [(PLAIN, LAMP)] * 10)
    assert found.deployed == replace(BASE, optional_share=0.4, stopping="exact")
    rows = {row.stopping: row for row in found.stopping}
    assert rows["exact"].changed == 0
    assert rows["none"].orders_used == rows["none"].orders_possible == 2
    assert any("stopping exact changes no call and takes 0.50" in reason for reason in reasons(found))


def test_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [(PLAIN, LAMP)] * 10
    found = tune(tmp_path, monkeypatch, given, max_latency_ms=150.0)
    assert found.choice.limit == 1
    assert limit_reasons(found.choice, found.wanted, True)[0] == "order limits within 150 ms: 1"
    none = tune(tmp_path, monkeypatch, given, max_latency_ms=50.0)
    assert none.deployed is None
    assert reasons(none)[1:2] == ["no limit keeps within 50 ms: the nearest is limit 1 with 100"]


def test_without_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    third = {**LAMP, "room": "zoo"}
    found = tune(tmp_path, monkeypatch, [(LAMP, LAMP)] * 6 + [(PLAIN, third)] * 2 + [()], answers=False)
    assert found.samples == 8
    assert [row.right.right for row in found.limits] == [8, 8]
    assert not found.shares
    titles = [table.title for table in tables(found)]
    assert titles == ["Order limit", "Adaptive stopping"]
    notes = " ".join(tables(found)[0].notes)
    assert "this is not accuracy" in notes
    assert "have no part in any figure: 1; the first: too long" in notes


def test_too_few_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EvalError, match="4, but 5 are needed"):
        tune(tmp_path, monkeypatch, [(LAMP, LAMP)] * 4)
    with pytest.raises(EvalError, match=r"4 \(3 more cannot be decoded\), but 5 are needed"):
        tune(tmp_path, monkeypatch, [(LAMP, LAMP)] * 4 + [()] * 3)
    with pytest.raises(EvalError, match="none of the 5 prompts can be decoded; the first: too long"):
        tune(tmp_path, monkeypatch, [()] * 5)
