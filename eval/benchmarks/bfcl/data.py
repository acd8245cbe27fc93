"""Reads BFCL's entries: questions, tools and possible answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.bfcl.checker import Answer, Functions
from eval.benchmarks.bfcl.faults import shown
from eval.benchmarks.bfcl.files import ANSWERS, Files, find_files, listed
from eval.benchmarks.bfcl.reference import reference_calls
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from lookup.dictionary import LookupDictionary
from lookup.errors import ToolDecodingError
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.prompts.dialogue import Turn, read_rows
from tooldecoding.prompts.documentation import Documentation

NEWER_NAMES: Final[Mapping[str, str]] = {"simple": "simple_python"}
"""Name of a category before BFCL v4 -> its name."""

_OTHER_LANGUAGES: Final = ("java", "javascript")


@dataclass(frozen=True)
class BfclAnswer:
    """What the checker needs of an entry: its tools as documented, and the possible answers as they stand."""

    functions: Functions
    truth: Sequence[Answer]


def load_samples(data: str, categories: Sequence[str], known: Sequence[str]) -> list[Sample]:
    """The entries of some categories, each in the sequence of its file.

    Parameters
    ----------
    data : str
        As ``find_files`` takes it. Where files of several versions are there, the latest is read.
    known : sequence of str
        The categories that there are.

    Raises
    ------
    EvalError
        For an unknown category, and for files that are missing or malformed: with file and line.
    """
    for category in categories:
        if category.rsplit("_", 1)[-1] in _OTHER_LANGUAGES:
            raise EvalError(f"the category {category} is not supported: calls in Java or JavaScript are out of scope")
        if category not in known and category not in NEWER_NAMES:
            raise EvalError(f"unknown category {category!r}; known: {', '.join(known)}")
    files = find_files(data)
    return [s for c in dict.fromkeys(NEWER_NAMES.get(c, c) for c in categories) for s in _read_category(files, c)]


def has_answers(category: str) -> bool:
    """Whether calls are compared; in (ir)relevance categories it only counts whether there is one."""
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
    if isinstance(functions, dict):
        functions = [functions]
    if not isinstance(functions, list) or not all(_is_function(f) for f in functions):
        raise EvalError(
            f"{place}: expected 'function' to be a list of tools with 'name' and 'parameters' (an object whose "
            "'properties' are an object and whose 'required' is a list of texts)"
        )
    return functions


def _is_function(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    parameters = value.get("parameters")
    if not isinstance(parameters, dict) or not isinstance(parameters.get("properties", {}), dict):
        return False
    required = parameters.get("required", [])
    return isinstance(required, list) and all(isinstance(key, str) for key in required)


def _turns(place: str, row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """The messages of the first turn; the categories read here have no others."""
    question = row.get("question")
    if not isinstance(question, list) or not question:
        raise EvalError(f"{place}: expected 'question' to be a list with one list of messages, found {shown(question)}")
    try:
        return read_rows(question[0] if isinstance(question[0], list) else question, f"{place}: question")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def _documentation(place: str, functions: list[dict[str, Any]]) -> Documentation:
    """The second of two tools of one name gets another: the scorer knows the first only."""
    if not functions:
        return Documentation(functions, LookupDictionary(()))
    try:
        return Documentation.read(functions, f"{place}: function", "rename")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None


def _truth(place: str, row: Mapping[str, Any]) -> list[Answer]:
    truth = row.get("ground_truth")
    if not isinstance(truth, list) or not truth or not all(_is_answer(a) for a in truth):
        raise EvalError(f"{place}: expected 'ground_truth' to be a list of {{tool: {{key: alternatives}}}}")
    return truth


def _is_answer(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and isinstance(next(iter(value.values())), dict)
