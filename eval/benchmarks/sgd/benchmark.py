"""SGD as a benchmark: samples of the split ``dev``, and the rule for a right call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.benchmarks.sgd.data import SEEN, UNSEEN, load_samples
from lookup.dictionary import MISSING, ToolSpec
from tooldecoding.formats.call_format import Call


@dataclass(frozen=True)
class SchemaGuidedDialogue(Benchmark):
    """Dialogues with services that the split ``train`` has (seen) or lacks (unseen)."""

    name: str = "sgd"
    categories: tuple[str, ...] = (SEEN, UNSEEN)
    call_format: str = "api-bank"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """Return one sample per call; see ``load_samples``."""
        return load_samples(data, categories)

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Right is exactly one call of the reference's tool with the reference's value for every key.

        BFCL's decoder reads the prediction. Values are compared as texts, ignoring case and the amount of white space.
        An optional key that is left out has its documented default. ``error_type`` is one of ``no_call``,
        ``wrong_count``, ``wrong_name``, ``unexpected_key``, ``missing_key`` and ``wrong_value``.
        """
        try:
            decoded = decode_calls(prediction)
        except CallDecodeError as error:
            return Judgement(False, "no_call", str(error), None)
        calls = tuple(Call(name, arguments) for name, arguments in decoded)
        if not calls:
            return Judgement(False, "no_call", "expected a call, found none", calls)
        [reference] = sample.calls
        problem = _difference(calls, reference, sample.documentation.lookup[reference.name])
        if problem is None:
            return Judgement(True, None, "", calls)
        return Judgement(False, *problem, calls)


SGD: Final = SchemaGuidedDialogue()
BENCHMARKS: Final = (SGD,)


def _difference(calls: tuple[Call, ...], reference: Call, tool: ToolSpec) -> tuple[str, str] | None:
    """Return the first difference as error type and message."""
    if len(calls) != 1:
        return "wrong_count", f"expected one call, found {len(calls)}"
    [call] = calls
    if call.name != reference.name:
        return "wrong_name", f"expected {reference.name}, found {call.name}"
    specs = {p.name: p for p in tool.parameters}
    expected = {k: p.default for k, p in specs.items() if p.default is not MISSING} | dict(reference.arguments)
    found = {k: p.default for k, p in specs.items() if not p.required and p.default is not MISSING}
    found |= dict(call.arguments)
    for key in call.arguments:
        if key not in specs:
            return "unexpected_key", f"{tool.name} has no key {key!r}"
    for key, value in expected.items():
        if key not in found:
            return "missing_key", f"expected {key}={value!r}, found nothing"
    for key, value in found.items():
        if key not in expected:
            return "wrong_value", f"expected no {key}, found {value!r}"
        if _normalised(value) != _normalised(expected[key]):
            return "wrong_value", f"expected {key}={expected[key]!r}, found {value!r}"
    return None


def _normalised(value: Any) -> str:
    return " ".join(str(value).split()).casefold()
