"""The steps of ``tune`` on made-up candidates whose right answers are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval.methods.scored_text import ScoredText
from eval.tuning.decoded_prompt import DecodedCall, DecodedPrompt, VoteOptions
from eval.tuning.evidence import Evidence
from eval.tuning.options import TuneOptions
from eval.tuning.output import tables
from eval.tuning.tuner import Tuner, Tuning
from eval_data import write_sgd
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from voting import CandidateCall, CandidateValue, merge

FORM = CALL_FORMATS["api-bank"]
LAMP = {"room": "hall", "state": "off", "colour": "red"}
BASE = VoteOptions(2)
Candidates = Sequence[Mapping[str, str]]


def decoded(sample: Sample, given: Candidates) -> DecodedPrompt:
    request = Request("x", sample.documentation.lookup, DecodeOptions())
    if not given:
        return DecodedPrompt(None, BASE, "", "", (), "too long")
    tool = sample.documentation.lookup[sample.calls[0].name]
    orders = [("room", "state"), ("state", "room")]
    calls = tuple(
        CandidateCall(tool.name, order, tuple(CandidateValue(k, v, repr(v), -0.1) for k, v in values.items()))
        for order, values in zip(orders, given, strict=True)
    )
    voted = merge(calls, tool, BASE.optional_share)
    text = FORM.render_call(voted.name, voted.arguments)
    return DecodedPrompt(request, BASE, f"[{text}]", "", (DecodedCall(tool, calls, text),))


def again(requests: Mapping[str, Request], variant: VoteOptions) -> dict[str, DecodedPrompt]:
    raise AssertionError("a single call is always derived")


def measure(requests: Mapping[str, Request], variants: Sequence[VoteOptions]) -> pd.DataFrame:
    """Milliseconds from the order limit."""
    faster = {"none": 1.0, "exact": 0.5}
    same = {"forward_passes": 1, "positions": 1, "text": ""}
    return pd.DataFrame(
        {"id": name, "options": v.label, "seconds": 0.1 * orders, "orders": orders, **same}
        for name in requests
        for v in variants
        for orders in [v.order_limit * faster[v.stopping]]
    )


def tune(tmp_path: Path, given: Sequence[Candidates], **decision: Any) -> Tuning:
    """Tune on as many lamps as there are pairs of candidates."""
    calls = [(f"d{n:02}", "Lamps_1", "SetLamp", LAMP) for n in range(len(given))]
    samples = SGD.load(str(write_sgd(tmp_path / "sgd", calls)), SGD.categories)
    found = {s.id: [decoded(s, candidates)] for s, candidates in zip(samples, given, strict=True)}
    evidence = Evidence({s.id: s for s in samples}, found, again, SGD, ScoredText(FORM, FORM, as_it_stands=True))
    wanted = TuneOptions(benchmark="sgd", data="x", limits=(1, 2), margin=100.0, latency_prompts=3, **decision)
    return Tuner(evidence, wanted, BASE, measure, 0).run({"benchmark": "sgd", "model": "made up"})


PLAIN = {"room": "hall", "state": "off"}
WRONG = {"room": "attic", "state": "off", "colour": "red"}


def counts(found: Tuning, name: str = "right") -> list[int]:
    return [row[name] for row in found.record["limits"]]


def test_a_share_that_is_significantly_better_is_chosen(tmp_path: Path) -> None:
    found = tune(tmp_path, [(PLAIN, LAMP)] * 8 + [(LAMP, LAMP)] * 2)
    right = {row["share"]: row["right"] for row in found.record["optional_shares"]}
    assert right == {n / 10: 10 if n < 5 else 2 if n < 10 else 0 for n in range(11)}
    # of equal shares the nearest to the default; with it the second order adds what the first lacks
    assert found.deployed == replace(BASE, optional_share=0.4, stopping="exact") and counts(found) == [2, 10]
    assert "optional_share 0.4 is 80.0 points more accurate" in found.record["chosen"]["reasons"][0]
    stopping = found.record["stopping"]
    assert (stopping["orders_used"], stopping["orders_possible"], stopping["changed"]) == (1, 2, 0)
    assert "stopping exact changes no call and takes 0.50" in found.record["chosen"]["reasons"][-1]
    titles = [table.title for table in tables(found.record)]
    assert titles == ["Order limit", "Optional keys", "Adaptive stopping"]


def test_a_share_that_is_not_significantly_better_stays(tmp_path: Path) -> None:
    found = tune(tmp_path, [(PLAIN, LAMP)] * 6 + [(LAMP, LAMP)] * 4)
    assert found.deployed is not None
    assert found.deployed.optional_share == 0.5  # six gains alone have p = 0.016, among ten comparisons 0.16
    assert "optional_share stays 0.5" in found.record["chosen"]["reasons"][0]


def test_curve_and_value_errors(tmp_path: Path) -> None:
    """At a tie the first order's value wins, so that a limit of 2 mends nothing here."""
    found = tune(tmp_path, [(WRONG, LAMP)] * 3 + [(LAMP, WRONG)] * 4 + [()])
    assert (counts(found, "value_errors"), counts(found)) == ([3, 3], [4, 4])
    assert counts(found, "total") == [8, 8]  # what could not be decoded counts as wrong
    assert found.record["failures"] == ["too long"] and counts(found, "value_errors_removed_percent") == [0, 0]
    assert found.deployed == VoteOptions(1) and found.record["stopping"] is None


def test_too_few_samples(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"4 \(3 more cannot be decoded\), but 5 are needed"):
        tune(tmp_path, [(LAMP, LAMP)] * 4 + [()] * 3)
