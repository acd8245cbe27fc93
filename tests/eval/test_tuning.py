"""What ``tune`` does: the choice of a limit and its steps, on candidates whose right answers are known; derived votes.

Law: a row of candidates holds what was decoded, and any other vote over it is what a direct decode gives.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd import SGD
from eval.errors import EvalError
from eval.methods.prediction import Prediction, ScoredText, candidate_rows
from eval.tuning.choice import choose, demand_enough, p_of_loss, samples_needed
from eval.tuning.decoded_prompt import DecodedPrompt, at_limit, read_decoded
from eval.tuning.evidence import Evidence
from eval.tuning.options import TuneOptions
from eval.tuning.output import limit_table
from eval.tuning.tune import decoding_again
from eval.tuning.tuner import Row, tuned
from eval_data import decoded_call, write_sgd
from formats.law.law import KINDS
from lookup import extract
from synthetic import Eager, RandomEngine, synthetic
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import documented


def hits(right: int, total: int) -> dict[str, bool]:
    """The first ones are right."""
    return {f"{n:04}": n < right for n in range(total)}


def wanted(**decision: Any) -> TuneOptions:
    return TuneOptions(benchmark="sgd", data="x", **decision)


SLOW = {1: 100.0, 4: 150.0, 12: 250.0}


@pytest.mark.parametrize(
    ("right", "costs", "decision", "limit", "best", "reason"),
    [
        ({1: 50, 4: 56, 12: 60}, SLOW, {}, 4, 12, "limit 4 is the smallest that is not"),  # four losses: 0.0625
        ({1: 50, 4: 55, 12: 60}, SLOW, {}, 12, 12, "limit 12 has the highest accuracy"),  # five: 0.031
        ({1: 56, 4: 57, 12: 60}, SLOW, {}, 1, 12, "limit 1 is the smallest"),
        ({1: 60, 4: 60, 12: 60}, SLOW, {}, 1, 1, "limit 1 has the highest accuracy"),
        ({1: 60, 4: 50, 12: 40}, SLOW, {}, 1, 1, "limit 1 has the highest accuracy"),
        ({1: 0, 4: 0}, SLOW, {}, 1, 1, "nothing is right at any limit, so "),
        ({1: 30, 4: 50, 12: 60}, SLOW, {}, 12, 12, "limit 12 has the highest accuracy"),
        ({1: 30, 4: 50, 12: 60}, SLOW, {"max_latency_ms": 200}, 4, 4, "order limits within 200 ms: 1, 4"),
        ({1: 30, 4: 50, 12: 60}, SLOW, {"max_latency_ms": 300}, 12, 12, "order limits within 300 ms: all of them"),
        ({1: 30, 4: 50}, {1: 1.0, 4: 1.5}, {"max_slowdown": 1.2}, 1, 1, "order limits within 1.2 times the latency"),
        ({1: 30, 4: 50}, {1: 120.0, 4: 100.0}, {"max_latency_ms": 90}, None, 4,
         "no limit keeps within 90 ms: the nearest is limit 4 with 100"),
    ],
)  # fmt: skip
def test_the_smallest_within_the_budget_that_is_not_worse(
    right: dict[int, int], costs: dict[int, float], decision: dict[str, Any], limit: int | None, best: int, reason: str
) -> None:
    found = choose({n: hits(count, 100) for n, count in right.items()}, costs, wanted(**decision))
    assert (found.limit, found.best) == (limit, best) and found.reasons[0].startswith(reason)
    if limit is not None:
        assert all(p <= 0.05 for n, p in found.p.items() if n < limit) and found.p[best] == 1


@pytest.mark.parametrize(("level", "margin"), [(0.01, 3), (0.05, 5), (0.2, 20)])
def test_samples_needed(level: float, margin: float) -> None:
    """So many samples can show a loss of the margin, fewer cannot."""
    decision = wanted(level=level, margin=margin)
    needed = samples_needed(decision)
    for total, shown in ((needed, True), (needed - 1, False)):
        lost = math.floor(total * margin / 100 + 1e-9)
        assert (p_of_loss(hits(total - lost, total), hits(total, total)) <= level) == shown
    demand_enough(needed, decision)
    with pytest.raises(EvalError, match=rf"{needed - 1} \(3 more cannot be decoded\), but {needed} are needed"):
        demand_enough(needed - 1, decision, lost=3)


FORM = CALL_FORMATS["api-bank"]
LAMP = {"room": "hall", "state": "off", "colour": "red"}
NEVER_AGAIN = Mock(side_effect=AssertionError("a single call is always derived"))
Candidates = Sequence[Mapping[str, str]]


def decoded(sample: Sample, given: Candidates) -> DecodedPrompt:
    request = Request("x", sample.documentation.lookup, DecodeOptions(order_limit=2))
    if not given:
        return DecodedPrompt(None, "", (), "too long")
    call = decoded_call(sample, given[0], dict(reversed(given[1].items())))
    return DecodedPrompt(request, f"[{FORM.render_call(call.name, call.arguments)}]", (call,))


def measure(requests: Mapping[str, Request], limits: Sequence[int]) -> pd.DataFrame:
    """Milliseconds from the order limit."""
    same = {"forward_passes": 1, "positions": 1}
    return pd.DataFrame(
        {"id": name, "limit": limit, "seconds": 0.1 * limit, **same} for name in requests for limit in limits
    )


def tune(tmp_path: Path, given: Sequence[Candidates], **decision: Any) -> Row:
    """Tune on as many lamps as there are pairs of candidates."""
    calls = [(f"d{n:02}", "Lamps_1", "SetLamp", LAMP) for n in range(len(given))]
    samples = SGD.load(str(write_sgd(tmp_path / "sgd", calls)), SGD.categories)
    found = {s.id: [decoded(s, candidates)] for s, candidates in zip(samples, given, strict=True)}
    evidence = Evidence({s.id: s for s in samples}, found, NEVER_AGAIN, SGD, ScoredText(FORM, FORM, as_it_stands=True))
    asked = wanted(limits=(1, 2), margin=100.0, latency_prompts=3, **decision)
    return tuned(evidence, asked, measure, 0, {"benchmark": "sgd", "model": "made up"})


WRONG = {"room": "attic", "state": "off", "colour": "red"}


def counts(found: Row, name: str = "right") -> list[int]:
    return [row[name] for row in found["limits"]]


def test_every_figure_of_a_limit(tmp_path: Path) -> None:
    """At a tie the first order's value wins, so that a limit of 2 mends nothing here; but it tells which are right."""
    found = tune(tmp_path, [(WRONG, LAMP)] * 3 + [(LAMP, LAMP)] * 4 + [()])
    assert (counts(found, "value_errors"), counts(found)) == ([3, 3], [4, 4])
    assert counts(found, "auroc") == [0.5, 1.0] and "1.000" in limit_table(found).rows[1]
    assert counts(found, "total") == [8, 8]  # what could not be decoded counts as wrong
    assert found["failures"] == ["too long"] and counts(found, "value_errors_removed_percent") == [0, 0]
    assert DecodeOptions(**found["chosen"]["settings"]).order_limit == 1  # fits the decoder


TEXT, WHOLE, FLAG = ({"type": kind} for kind in ("string", "integer", "boolean"))
TOOLS = extract(
    [
        documented("f", city=TEXT, days=WHOLE, price={"type": "number"}),
        documented("g", ["on", "unit"], on=FLAG, unit={"enum": ["C", "1", 1]}, note=TEXT | {"default": "-"}),
        documented("h", tags={"type": "array", "items": TEXT}, where={"type": "object"}),
        documented("k", ["any"], any={}, maybe={"type": ["string", "null"]}, sure=FLAG),
    ]
)
FULL = 4
SPECIAL = b"'\"\\,.]})>:\n </parameter>0123456789"
Run = Callable[[Sequence[Request]], list[DecodeResult]]


def run(call_format: str, marks_are_tokens: bool, seed: int, asked: Sequence[Request]) -> list[DecodeResult]:
    """Decode with a model that likes special characters, or a further call, or nothing."""
    decoder = synthetic(KINDS[marks_are_tokens])

    def bias(piece: bytes) -> float:
        return 4.0 if seed % 3 == 1 and all(byte in SPECIAL for byte in piece) else 0.0

    if seed % 3:
        decoder.engine = RandomEngine(decoder.table.texts, seed, bias)
    else:
        decoder.engine = Eager(CALL_FORMATS[call_format], decoder.table, seed, "g")  # nothing of it is cut
    return decoder.run(asked)


def request(call_format: str, seed: int = 0, prompt: str = "What now?\n") -> Request:
    options = DecodeOptions(format=call_format, order_limit=4, max_calls=3, max_value_tokens=10, seed=seed)
    return Request(prompt, TOOLS, options)


def prediction(result: DecodeResult) -> Prediction:
    return Prediction(result.text, candidate_rows([call.candidates for call in result.calls]))


def evidence(run: Run, asked: Mapping[str, Request], decoded: Mapping[str, DecodedPrompt] | None = None) -> Evidence:
    """The evidence of what was decoded, by default here."""
    again = decoding_again(lambda some: [*map(prediction, run(some))], 3)
    found = {name: [one] for name, one in (decoded or again(asked, FULL)).items()}
    form = CALL_FORMATS[asked["0"].options.format]
    return Evidence(dict.fromkeys(asked), found, again, SGD, ScoredText(form, form, True))  # type: ignore[arg-type]


@pytest.mark.parametrize("marks_are_tokens", [True, False])
@pytest.mark.parametrize("call_format", CALL_FORMATS)
def test_rows_hold_what_was_decoded_and_derived_is_direct(call_format: str, marks_are_tokens: bool) -> None:
    most, several, again, texts = 0, CALL_FORMATS[call_format].parallel, 0, set[str]()
    for seed in range(100, 200):  # few models write several calls of which no value is cut
        if seed >= 102 and (most > 1 or not several):
            break
        asked, decode = request(call_format, seed), partial(run, call_format, marks_are_tokens, seed)
        [result] = decode([asked])
        read = read_decoded(json.loads(json.dumps(prediction(result).to_json())), "file:1", asked)
        assert (read.text, len(read.calls)) == (result.text, len(result.calls))
        for ours, call in zip(read.calls, result.calls, strict=True):
            assert [(c.name, c.order, c.values, c.text) for c in ours.candidates] == [
                (c.name, c.order, c.values, c.text) for c in call.candidates
            ]
            assert ours.voted == call.voted
        found = evidence(decode, {"0": asked}, {"0": read})
        for limit in range(1, FULL + 1) if call_format in ("api-bank", "pythonic") else [FULL]:
            [direct] = decode([at_limit(asked, limit)])
            assert found.outcomes(limit) == found.outcomes(limit)  # what is decoded again, is so once
            assert found.outcomes(limit)["0"].text == direct.text, limit
            texts.add(direct.text)
        again += sum(found.again.values())
        most = max(most, len(result.calls))
    assert most > 1 if several else most == 1
    if call_format in ("api-bank", "pythonic"):
        assert len(texts) > 2, "else nothing was shown"
        # a single call is always derived; what follows a call depends on its text
        assert (again > 0) == several


def test_a_prompt_that_fails_fails_at_every_limit() -> None:
    asked = {"0": request("api-bank"), "1": request("api-bank", prompt="word " * 6000)}
    found = evidence(partial(run, "api-bank", False, 0), asked)
    assert list(found.requests) == ["0"] and len(found.failures) == 1
    for limit in (1, 2, 3):
        fine, long = found.outcomes(limit).values()
        assert fine.text and not fine.error
        assert "context is" in long.error and not long.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prediction": "[k()]"}, "decoded by another version; choose another --out"),
        ({"candidates": [{"call": 0}]}, "no row of candidates for this prompt"),
        ({"candidates": [{"call": 0, "name": "Fly", "order": [], "text": "", "values": []}]}, "'Fly'"),
    ],
)
def test_rows_of_something_else(change: Mapping[str, Any], said: str) -> None:
    [result] = run("api-bank", False, 0, [request("api-bank")])
    with pytest.raises(EvalError, match=f"^file:1: .*{said}"):
        read_decoded(prediction(result).to_json() | change, "file:1", request("api-bank"))
