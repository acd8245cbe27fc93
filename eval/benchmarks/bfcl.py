"""BFCL (Berkeley Function-Calling Leaderboard): the live categories and those of version 1, scored as officially."""

import importlib.util
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field

from eval.benchmarks.bfcl_checker import Answer, Functions, check_calls, check_value, tool_name
from eval.benchmarks.python_calls import decode_calls
from eval.benchmarks.samples import Benchmark, Fault, Judgement, Sample, ScorerCrash
from eval.errors import EvalError
from eval.validation import Entry, documentation_of, listed, read_answered, read_entries, validated
from lookup.errors import ToolDecodingError
from tooldecoding.chat.dialogue import read_rows
from tooldecoding.chat.messages import Message
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError

_VERSION_PREFIX: Final = "BFCL_v4"
"""Prefix of the official files."""

_PACKAGE: Final = "bfcl-eval"
"""The word for the installed official package."""

_ANSWERS: Final = "possible_answer"
"""Folder of the answers, beside the questions."""

_LIVE: Final = ("simple", "multiple", "parallel", "parallel_multiple", "relevance", "irrelevance")
_V1: Final = ("simple_python", "multiple", "parallel", "parallel_multiple")
_FOLDERS: Final = ("", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data")


class _Parameters(BaseModel):
    properties: dict[str, Any] = {}
    required: list[str] = []


class _Function(BaseModel):
    name: str
    parameters: _Parameters


class _Question(BaseModel):
    question: Annotated[list[list[Any]], Field(min_length=1)]
    function: list[_Function]


def _demand_call(value: dict[str, Any]) -> dict[str, Any]:
    if not value or not isinstance(next(iter(value.values())), dict):
        raise ValueError("an object {tool: {key: alternatives}}")
    return value


class _GroundTruth(BaseModel):
    ground_truth: Annotated[list[Annotated[dict[str, Any], AfterValidator(_demand_call)]], Field(min_length=1)]


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the entries of some categories, each in the order of its file.

    EvalError for a missing or malformed file, with file and line.

    ``data``: a folder in the official layout (questions, and ``possible_answer/`` with the answers), or a folder that
    holds it as the official package or a checkout of ``ShishirPatil/gorilla`` do; or ``bfcl-eval``, the installed
    package.
    """
    folder = _find_folder(data)
    return [sample for category in categories for sample in _read_category(folder, category)]


def _has_answers(category: str) -> bool:
    """Whether calls are compared. (Ir)relevance categories only ask whether there is one."""
    return "relevance" not in category


def _find_folder(data: str) -> Path:
    root = Path(data)
    if data == _PACKAGE:
        spec = importlib.util.find_spec("bfcl_eval")  # found, not imported: importing it makes folders
        if spec is None or not spec.submodule_search_locations:
            raise EvalError(
                f"the package {_PACKAGE} is not installed; pip install --no-deps {_PACKAGE} suffices for its data"
            )
        root = Path(spec.submodule_search_locations[0])
    if not root.is_dir():
        raise EvalError(f"{data}: no such folder; --data takes a folder with BFCL's files, or the word {_PACKAGE}")
    folders = [root / folder for folder in _FOLDERS]
    found = next((folder for folder in folders if any(folder.glob(f"{_VERSION_PREFIX}_*.json"))), None)
    if found is None:
        looked = ", ".join(map(str, folders))
        raise EvalError(f"{root}: no file of BFCL; looked for {_VERSION_PREFIX}_*.json in {looked}")
    return found


def _read_category(folder: Path, category: str) -> list[Sample]:
    questions, answers = (place / f"{_VERSION_PREFIX}_{category}.json" for place in (folder, folder / _ANSWERS))
    for file in (questions, answers) if _has_answers(category) else (questions,):
        if not file.is_file():
            there = listed(sorted(path.name for path in file.parent.glob("*.json")))
            raise EvalError(f"{file} is missing; of {category}, there must be questions and answers; there is {there}")
    if not _has_answers(category):
        return [_sample(entry, [], category) for entry in read_entries(questions).values()]
    return [
        _sample(entry, validated(_GroundTruth, answer, place).ground_truth, category)
        for entry, (place, answer) in read_answered(questions, answers)
    ]


def _sample(entry: Entry, truth: Sequence[Answer], category: str) -> Sample:
    place, row = entry
    validated(_Question, row, place)
    functions = row["function"]
    if truth and not functions:
        raise EvalError(f"{place}: expected at least one tool in 'function', since there is an answer")
    return Sample(
        id=row["id"],
        category=category,
        dialogue=row["id"],
        turns=_turns(place, row["question"][0]),
        documentation=documentation_of(functions, f"{place}: function"),
        calls=reference_calls(functions, truth, category),
        answer=(functions, truth),  # as in the data
    )


def _turns(place: str, turn: Sequence[Any]) -> tuple[Message, ...]:
    """Return the messages of the first turn. The categories read here have no others."""
    try:
        return read_rows(turn, f"{place}: question")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def reference_calls(functions: Functions, truth: Sequence[Answer], category: str) -> tuple[Call, ...]:
    """One call for each answer, in its sequence.

    The checker looks at each parameter alone, so a right call is put together parameter by parameter: the first
    alternative that is accepted; left out where none but ``""`` is given; ``""`` where the documentation requires the
    key all the same. A parameter for which nothing is accepted has its first alternative, and the entry cannot be
    solved. In one-tool categories the call has the documented name, as the checker wants it.
    """
    calls = []
    for answer in truth:
        several = "parallel" in category or "multiple" in category
        name = tool_name(answer) if several else functions[0]["name"]
        function: Mapping[str, Any] = next((f for f in functions if f["name"] == name), {})
        arguments = _arguments(function.get("parameters", {}), answer[tool_name(answer)])
        calls.append(Call(name, arguments))
    return tuple(calls)


def _arguments(parameters: Mapping[str, Any], accepted: Mapping[str, Any]) -> dict[str, Any]:
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    arguments: dict[str, Any] = {}
    for key, alternatives in accepted.items():
        if not isinstance(alternatives, list):
            continue
        omissible = "" in alternatives and key not in required
        candidates = [*_candidates(alternatives), *([] if omissible else [a for a in alternatives if a == ""])]
        right = (c for c in candidates if key in properties and _accepts(key, c, properties[key], alternatives))
        for value in itertools.chain(right, [] if omissible else candidates):
            arguments[key] = value
            break
    return arguments


def _accepts(key: str, value: Any, documented: Any, alternatives: Sequence[Any]) -> bool:
    try:
        return check_value(key, value, documented, alternatives) is None
    except ScorerCrash:
        return False


def _candidates(alternatives: Sequence[Any]) -> Iterator[Any]:
    """Alternatives as values, then as they stand, then with floats for whole numbers: only one type may be accepted."""
    given = [a for a in alternatives if a != ""]
    yield from map(_concrete, given)
    yield from given
    yield from map(_with_floats, given)


def _concrete(alternative: Any) -> Any:
    """An answer's dict maps keys to alternatives: the first one of each that is not ``""``."""
    if isinstance(alternative, list):
        return [_concrete(a) if isinstance(a, dict) else a for a in alternative]
    if not isinstance(alternative, dict) or not all(isinstance(v, list) for v in alternative.values()):
        return alternative
    chosen = {key: next((v for v in values if v != ""), "") for key, values in alternative.items()}
    return {key: value for key, value in chosen.items() if value != ""}


def _with_floats(value: Any) -> Any:
    """Whole numbers, also those in a list, as floats."""
    if isinstance(value, list):
        return [_with_floats(v) for v in value]
    return float(value) if type(value) is int and abs(value) < 2**53 else value


@dataclass(frozen=True)
class Bfcl(Benchmark):
    """Some categories of BFCL."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict. (Ir)relevance categories only ask whether it has calls."""
        functions, truth = sample.answer
        calls: Sequence[Call] | None
        try:
            calls, why = decode_calls(prediction), "there is no call"
        except UnreadableCallError as error:
            calls, why = None, str(error)
        if not _has_answers(sample.category):
            fault = _awareness_fault(sample.category, calls, why)
        elif calls is None:
            fault = Fault("ast_decoder:decoder_failed", why)
        else:
            fault = check_calls(functions, calls, truth, sample.category)
        return Judgement.of(fault, calls)

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys with ``""`` among their alternatives."""
        _, [truth] = sample.answer
        [accepted] = truth.values()
        return frozenset(key for key, values in accepted.items() if isinstance(values, list) and "" in values)


def _awareness_fault(category: str, calls: Sequence[Call] | None, why_none: str) -> Fault | None:
    if "irrelevance" not in category:
        return None if calls else Fault("relevance_error:decoder_failed", why_none)
    names = ", ".join(call.name for call in calls[:3]) if calls else ""
    return Fault("irrelevance_error:decoder_success", f"a call where none is right: {names}") if calls else None


BFCL_LIVE: Final = Bfcl("bfcl-live", tuple(f"live_{name}" for name in _LIVE), load_samples)
"""The live categories (contributed by users)."""

BFCL_V1: Final = Bfcl("bfcl-v1", _V1, load_samples)
"""The categories of version 1 whose calls are written in Python."""
