"""Whether calls are valid by their documentation: the rule of benchmarks whose success only a language model judges.

TOOLDEC counts the same as syntax errors (version 3, section 4.2): calls of unknown tools, unreadable calls, wrong keys.
"""

from collections.abc import Sequence
from typing import Final

from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.faults import shown
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Judgement, Sample
from eval.metrics.error_class import ErrorClass, attempted_names
from lookup.dictionary import LookupDictionary
from tooldecoding.formats.call_format import Call
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


def judge_validity(sample: Sample, prediction: str) -> Judgement:
    """Return right for one valid call or more; ``error_type`` and ``figures`` say what is wrong with others.

    BFCL's decoder reads the prediction. ``figures`` has the shares of predictions with each type of error, and with any
    of them; one prediction may have several.
    """
    calls, problems = _read(prediction, sample.documentation.lookup)
    found = {error_type for error_type, _ in problems}
    figures = {error_type: (float(error_type in found), 1.0) for error_type in _CLASSES}
    figures["any error"] = (float(bool(found)), 1.0)
    if not problems:
        return Judgement(True, None, "", calls, figures=figures)
    error_type, message = min(problems, key=lambda problem: list(_CLASSES).index(problem[0]))
    return Judgement(False, error_type, message, calls, _CLASSES[error_type], figures)


def first_tool(judgement: Judgement) -> str:
    """Return the name in the first call; empty without a call that can be read."""
    return judgement.calls[0].name if judgement.calls else ""


def _read(prediction: str, tools: LookupDictionary) -> tuple[tuple[Call, ...] | None, list[tuple[str, str]]]:
    """Return the calls, None if they cannot be read, and their problems as error types and messages."""
    try:
        calls = tuple(Call(name, arguments) for name, arguments in decode_calls(prediction))
    except CallDecodeError as error:
        attempted = attempted_names(prediction, list(tools))
        return None, [("unreadable call" if attempted else "no call", str(error))]
    if not calls:
        return calls, [("no call", "expected a call, found none")]
    return calls, [problem for call in calls for problem in _problems(call, tools)]


def _problems(call: Call, tools: LookupDictionary) -> Sequence[tuple[str, str]]:
    if call.name not in tools:
        return [("unknown tool", f"there is no tool {shown(call.name)}")]
    specs = {spec.name: spec for spec in tools[call.name].parameters}
    problems = [
        ("missing key", f"{call.name} requires {name!r}")
        for name, spec in specs.items()
        if spec.required and name not in call.arguments
    ]
    for key, value in call.arguments.items():
        if key not in specs:
            problems.append(("unknown key", f"{call.name} has no key {shown(key)}"))
            continue
        try:
            check_value(value, specs[key])
        except TypeCheckError as error:
            problems.append(("wrong type", f"{key}: {error}"))
    return problems
