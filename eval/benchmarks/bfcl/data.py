"""Reads BFCL's entries: questions, tools and possible answers."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field

from eval.benchmarks.bfcl.checker import Answer, Functions
from eval.benchmarks.bfcl.reference import reference_calls
from eval.benchmarks.data_files import Entry, documentation_of, listed, read_answered, read_entries
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.errors import ToolDecodingError
from tooldecoding.chat.dialogue import read_rows
from tooldecoding.chat.messages import Message
from tooldecoding.files.json_lines import short_repr

VERSION_PREFIX: Final = "BFCL_v4"
"""Prefix of the official files."""

PACKAGE: Final = "bfcl-eval"
"""The word for the installed official package."""

ANSWERS: Final = "possible_answer"
"""Folder of the answers, beside the questions."""

_FOLDERS: Final = ("", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data")


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
    """An entry for the checker.

    Attributes
    ----------
    functions, truth
        Its tools as documented, and the possible answers, both as in the data.
    """

    functions: Functions
    truth: Sequence[Answer]


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the entries of some categories, each in the order of its file.

    Parameters
    ----------
    data : str
        A folder in the official layout (questions, and ``possible_answer/`` with the answers), or a folder that holds
        it as the official package or a checkout of ``ShishirPatil/gorilla`` do; or ``bfcl-eval``, the installed
        package.

    Raises
    ------
    EvalError
        For a missing or malformed file, with file and line.
    """
    folder = _find_folder(data)
    return [sample for category in categories for sample in _read_category(folder, category)]


def has_answers(category: str) -> bool:
    """Whether calls are compared. (Ir)relevance categories only ask whether there is one."""
    return "relevance" not in category


def _find_folder(data: str) -> Path:
    root = Path(data)
    if data == PACKAGE:
        spec = importlib.util.find_spec("bfcl_eval")  # found, not imported: importing it makes folders
        if spec is None or not spec.submodule_search_locations:
            raise EvalError(
                f"the package {PACKAGE} is not installed; pip install --no-deps {PACKAGE} suffices for its data"
            )
        root = Path(spec.submodule_search_locations[0])
    if not root.is_dir():
        raise EvalError(f"{data}: no such folder; --data takes a folder with BFCL's files, or the word {PACKAGE}")
    folders = [root / folder for folder in _FOLDERS]
    found = next((folder for folder in folders if any(folder.glob(f"{VERSION_PREFIX}_*.json"))), None)
    if found is None:
        looked = ", ".join(map(str, folders))
        raise EvalError(f"{root}: no file of BFCL; looked for {VERSION_PREFIX}_*.json in {looked}")
    return found


def _read_category(folder: Path, category: str) -> list[Sample]:
    questions, answers = (place / f"{VERSION_PREFIX}_{category}.json" for place in (folder, folder / ANSWERS))
    for file in (questions, answers) if has_answers(category) else (questions,):
        if not file.is_file():
            there = listed(sorted(path.name for path in file.parent.glob("*.json")))
            raise EvalError(f"{file} is missing; of {category}, there must be questions and answers; there is {there}")
    if not has_answers(category):
        return [_sample(entry, [], category) for entry in read_entries(questions).values()]
    return [
        _sample(entry, validated(_GroundTruth, answer, place).ground_truth, category)
        for entry, (place, answer) in read_answered(questions, answers)
    ]


def _sample(entry: Entry, truth: Sequence[Answer], category: str) -> Sample:
    place, row = entry
    validated(_Functions, row, place)
    functions = row["function"]
    if truth and not functions:
        raise EvalError(f"{place}: expected at least one tool in 'function', since there is an answer")
    return Sample(
        id=row["id"],
        category=category,
        dialogue=row["id"],
        turns=_turns(place, row),
        documentation=documentation_of(functions, f"{place}: function"),
        calls=reference_calls(functions, truth, category),
        answer=BfclAnswer(functions, truth),
    )


def _turns(place: str, row: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages of the first turn. The categories read here have no others."""
    question = row.get("question")
    if not isinstance(question, list) or not question or not isinstance(question[0], list):
        raise EvalError(
            f"{place}: expected 'question' to be a list with one list of messages, found {short_repr(question)}"
        )
    try:
        return read_rows(question[0], f"{place}: question")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None
