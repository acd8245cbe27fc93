"""Benchmarks whose success only a language model judges: whether calls are valid by their documentation.

TOOLDEC counts the same as syntax errors (version 3, section 4.2): calls of unknown tools, unreadable calls, wrong keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eval.benchmarks.python_calls import decode_calls
from eval.benchmarks.samples import Benchmark, ErrorClass, Judgement, Sample, attempted_names
from lookup.dictionary import LookupDictionary
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError
from voting.type_check import TypeCheckError, check_value

VALIDITY_NOTE: Final = (
    "Right here is a valid call: documented tool, every required key, no other key, documented types. Whether a call "
    "serves the request is not judged: the official judge is a language model and was not run."
)

_CLASSES: Final[dict[str, ErrorClass]] = {
    "no call": "awareness",
    "unreadable call": "format",
    "unknown tool": "selection",
    "unknown key": "key",
    "missing key": "key",
    "wrong type": "value",
}
"""Error type -> error class; of several errors the first counts."""

Problem = tuple[str, str]
"""Error type and message."""


@dataclass(frozen=True, kw_only=True)
class FirstCall(Benchmark):
    """Answers are valid calls, and the first one names a tool with which to begin: those in the sample's answer.

    Later steps are not decoded.

    ``figure``: what the share of such first calls is called.
    """

    figure: str

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return right for one valid call or more; ``error_type`` and ``figures`` say what is wrong with others.

        BFCL's decoder reads the prediction. ``figures`` has the shares of predictions with each type of error, and with
        any of them; one prediction may have several.
        """
        tools = sample.documentation.lookup
        calls: tuple[Call, ...] | None = None
        try:
            calls = tuple(decode_calls(prediction))
            problems = [problem for call in calls for problem in _problems(call, tools)]
            if not calls:
                problems = [("no call", "expected a call, found none")]
        except UnreadableCallError as error:
            attempted = attempted_names(prediction, list(tools))
            problems = [("unreadable call" if attempted else "no call", str(error))]
        found = {error_type for error_type, _ in problems}
        first = calls[0].name if calls else ""
        figures = {self.figure: (float(first in sample.answer), 1.0)}
        figures |= {error_type: (float(error_type in found), 1.0) for error_type in _CLASSES}
        figures["any error"] = (float(bool(found)), 1.0)
        if not problems:
            return Judgement(True, None, "", calls, figures=figures)
        error_type, message = min(problems, key=lambda problem: list(_CLASSES).index(problem[0]))
        return Judgement(False, error_type, message, calls, _CLASSES[error_type], figures)


def _problems(call: Call, tools: LookupDictionary) -> Iterator[Problem]:
    if call.name not in tools:
        yield "unknown tool", f"there is no tool {short_repr(call.name)}"
        return
    specs = {spec.name: spec for spec in tools[call.name].parameters}
    for name, spec in specs.items():
        if spec.required and name not in call.arguments:
            yield "missing key", f"{call.name} requires {name!r}"
    for key, value in call.arguments.items():
        if key not in specs:
            yield "unknown key", f"{call.name} has no key {short_repr(key)}"
            continue
        try:
            check_value(value, specs[key])
        except TypeCheckError as error:
            yield "wrong type", f"{key}: {error}"
