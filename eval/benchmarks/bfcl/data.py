"""Reads BFCL's entries: questions, tools and possible answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field

from eval.benchmarks.bfcl.checker import PROMPTED, Answer, Functions, Rules
from eval.benchmarks.bfcl.files import ANSWERS, Files, find_files, listed
from eval.benchmarks.bfcl.function_calling import offered_tools
from eval.benchmarks.bfcl.reference import reference_calls
from eval.benchmarks.faults import shown
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.dictionary import LookupDictionary
from lookup.errors import ToolDecodingError
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.prompts.dialogue import Turn, read_rows
from tooldecoding.prompts.documentation import Documentation

NEWER_NAMES: Final[Mapping[str, str]] = {"simple": "simple_python"}
"""Name of a category before BFCL v4 -> its name today."""


class _Parameters(BaseModel):
    properties: dict[str, Any] = {}
    required: list[str] = []


class _Function(BaseModel):
    name: str
    parameters: _Parameters


class _Functions(BaseModel):
    function: list[_Function]


def _demand_call(value: dict[str, Any]) -> dict[str, Any]:
    if not value or not isinstance(next(iter(value.values())), dict):
        raise ValueError("an object {tool: {key: alternatives}}")
    return value


class _GroundTruth(BaseModel):
    ground_truth: Annotated[list[Annotated[dict[str, Any], AfterValidator(_demand_call)]], Field(min_length=1)]


@dataclass(frozen=True)
class BfclAnswer:
    """An entry for the checker: its tools as documented, and the possible answers, both as in the data; its rules."""

    functions: Functions
    truth: Sequence[Answer]
    rules: Rules = PROMPTED


def load_samples(data: str, categories: Sequence[str], known: Sequence[str]) -> list[Sample]:
    """Return the entries of some categories, each in the order of its file.

    Parameters
    ----------
    data : str
        As for ``find_files``. Of several versions, the latest is read.
    known : sequence of str
        The benchmark's categories.

    Raises
    ------
    EvalError
        For an unknown category, and for a missing or malformed file, with file and line.
    """
    for category in categories:
        if category not in known and category not in NEWER_NAMES:
            raise EvalError(f"unknown category {category!r}; known: {', '.join(known)}")
    files = find_files(data)
    return [s for c in dict.fromkeys(NEWER_NAMES.get(c, c) for c in categories) for s in _read_category(files, c)]


def function_calling(sample: Sample) -> Sample:
    """Return a sample as it is given and judged in function-calling mode."""
    answer: BfclAnswer = sample.answer
    if answer.rules.function_calling:
        return sample
    rules = Rules(function_calling=True)
    return replace(
        sample,
        documentation=_documentation(sample.id, offered_tools(answer.functions)),
        calls=reference_calls(answer.functions, answer.truth, sample.category, rules),
        answer=replace(answer, rules=rules),
    )


def has_answers(category: str) -> bool:
    """Whether calls are compared. (Ir)relevance categories only ask whether there is one."""
    return "relevance" not in category


def _read_category(files: Files, category: str) -> list[Sample]:
    name = _file_name(files, category)
    entries = _read_entries(files, name)
    if not has_answers(category):
        return [_sample(place, row, (), category) for place, row in entries.values()]
    answers_name = f"{ANSWERS}/{name}"
    if answers_name not in files.names:
        there = listed([n for n in files.names if n.startswith(ANSWERS)])
        raise EvalError(
            f"{files.origin}: the answers {answers_name} to {name} are missing; of answers, there is {there}"
        )
    answers = _read_entries(files, answers_name)
    _demand_same_ids(entries, answers, f"{files.origin}/{name}", f"{files.origin}/{answers_name}")
    return [_sample(place, row, _truth(*answers[key]), category) for key, (place, row) in entries.items()]


def _file_name(files: Files, category: str) -> str:
    names = [category, *(older for older, newer in NEWER_NAMES.items() if newer == category)]
    pattern = re.compile(rf"BFCL_v(\d{{1,9}})_(?:{'|'.join(names)})\.json")
    versions = {int(m[1]): m[0] for m in map(pattern.fullmatch, files.names) if m}
    if not versions:
        there = listed([n for n in files.names if "/" not in n])
        expected = f"expected BFCL_v4_{category}.json (any version)"
        raise EvalError(f"{files.origin}: no questions of {category}: {expected}, there is {there}")
    return versions[max(versions)]


def _read_entries(files: Files, name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Id -> (place, row)."""
    origin = f"{files.origin}/{name}"
    entries: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, line in numbered_lines(files.read(name)):
        row = read_row(line, number, origin, EvalError)
        place = f"{origin}:{number}"
        key = row.get("id")
        if not isinstance(key, str):
            raise EvalError(f"{place}: expected a text 'id', found {shown(key)}")
        if key in entries:
            raise EvalError(f"{place}: the id {key!r} stands at {entries[key][0]} already")
        entries[key] = place, row
    if not entries:
        raise EvalError(f"{origin}: expected rows, one JSON object a line, found an empty file")
    return entries


def _demand_same_ids(questions: Mapping[str, Any], answers: Mapping[str, Any], first: str, second: str) -> None:
    for ids, others, have, lack in ((questions, answers, first, second), (answers, questions, second, first)):
        alone = [key for key in ids if key not in others]
        if alone:
            raise EvalError(f"{have} and {lack} do not belong together: only the first has {listed(alone)}")


def _sample(place: str, row: Mapping[str, Any], truth: Sequence[Answer], category: str) -> Sample:
    functions = _functions(place, row)
    if truth and not functions:
        raise EvalError(f"{place}: expected at least one tool in 'function', since there is an answer")
    return Sample(
        id=row["id"],
        category=category,
        dialogue=row["id"],
        turns=_turns(place, row),
        documentation=_documentation(place, functions),
        calls=reference_calls(functions, truth, category),
        answer=BfclAnswer(functions, truth),
    )


def _functions(place: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    functions = row.get("function")
    functions = [functions] if isinstance(functions, dict) else functions
    validated(_Functions, {"function": functions}, place)
    return functions if isinstance(functions, list) else []


def _turns(place: str, row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Return the messages of the first turn. The categories read here have no others."""
    question = row.get("question")
    if not isinstance(question, list) or not question:
        raise EvalError(f"{place}: expected 'question' to be a list with one list of messages, found {shown(question)}")
    try:
        return read_rows(question[0] if isinstance(question[0], list) else question, f"{place}: question")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def _documentation(place: str, functions: list[dict[str, Any]]) -> Documentation:
    """Read the tools. The second of two tools of one name gets another name: the scorer only knows the first."""
    if not functions:
        return Documentation(functions, LookupDictionary(()))
    try:
        return Documentation.read(functions, f"{place}: function", "rename")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def _truth(place: str, row: Mapping[str, Any]) -> list[Answer]:
    return list(validated(_GroundTruth, row, place).ground_truth)
