"""API-Bank's dialogues in the official layout, as the samples that its evaluator makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel

from eval.benchmarks.api_bank.checker import TOOLS, replay_database
from eval.benchmarks.api_bank.descriptions import Descriptions, find_descriptions
from eval.benchmarks.api_bank.tools.database import Database, RecordedCall
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import TOOL_SEARCH, Turn, documented_tools, read_rows
from tooldecoding.prompts.documentation import Documentation

LEVEL_1: Final = "level-1-given-desc"
LEVEL_2: Final = "level-2-toolsearcher"
LEVELS: Final = (LEVEL_1, LEVEL_2)
"""Call (the tools are given) and Retrieve+Call (ToolSearcher finds them)."""

_INSIDE_CHECKOUT: Final = ("", "lv1-lv2-samples", "api-bank/lv1-lv2-samples")

Rows = list[dict[str, Any]]


class _Result(BaseModel):
    input: dict[str, Any] | None
    output: Any
    exception: Any


def _demand_known(name: str) -> str:
    if name not in TOOLS:
        raise ValueError("one of API-Bank's tools")
    return name


class _CallRow(BaseModel):
    api_name: Annotated[str, AfterValidator(_demand_known)]
    param_dict: dict[str, Any]
    result: _Result


@dataclass(frozen=True)
class ApiBankAnswer:
    """What the scorer needs of a sample.

    Attributes
    ----------
    file : str
        Name of the dialogue's file.
    sample_id : int
        The official evaluator's number: 2j for the j-th call of a dialogue, 2j + 1 for the turn behind it.
    level : str
        Folder of the file.
    truth : RecordedCall
    repeated : bool
        Whether the sample before it is the same call again.
    database : Database
    """

    file: str
    sample_id: int
    level: str
    truth: RecordedCall
    repeated: bool
    database: Database = field(repr=False, compare=False)


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """The samples of some levels, files by name, in the evaluator's numbering.

    The evaluator makes two samples of every call, the call and the turn behind it, and counts the second one if it is a
    call, too. So a call behind a call counts twice, here as there.

    Parameters
    ----------
    data : str
        The folder that holds ``level-1-given-desc`` and ``level-2-toolsearcher``, or a checkout of DAMO-ConvAI or its
        api-bank. Documentation of the tools is looked for there.

    Raises
    ------
    EvalError
        If a level's folder, its files or the documentation is missing, or a file is malformed.
    """
    folder = _find_folder(data)
    descriptions = find_descriptions(folder)
    dialogues = {level: _read_level(folder / level) for level in LEVELS if (folder / level).is_dir()}
    for level in categories:
        if not dialogues.get(level):
            raise EvalError(f"{folder}: expected {level}/*.jsonl, found no such file")
    calls = {path: _read_calls(path, rows) for files in dialogues.values() for path, rows in files.items()}
    recordings = [tuple(file.values()) for file in calls.values()]
    database = replay_database(recordings, descriptions.tools, descriptions.verbatim)
    documentation = _Documentation(descriptions)
    return [
        sample
        for level in LEVELS
        if level in categories
        for path, rows in dialogues[level].items()
        for sample in _samples(path, rows, calls[path], documentation, database)
    ]


def identify(row: Mapping[str, Any]) -> str:
    """The id of the sample that a row is for, by ``id``, or by ``file``, ``sample_id`` and ``level``.

    Raises
    ------
    EvalError
        If the row has neither.
    """
    if isinstance(row.get("id"), str):
        return str(row["id"])
    file, sample_id, level = (row.get(k) for k in ("file", "sample_id", "level"))
    if not isinstance(file, str) or type(sample_id) is not int or not isinstance(level, str):
        raise EvalError(
            "expected a text 'id', or 'file' (text), 'sample_id' (whole number) and 'level' (text); "
            f"the row has {', '.join(map(repr, row)) or 'no columns'}"
        )
    return f"{level}/{file}/{sample_id}"


def _find_folder(data: str) -> Path:
    for inside in _INSIDE_CHECKOUT:
        folder = Path(data) / inside
        if any((folder / level).is_dir() for level in LEVELS):
            return folder.resolve()
    raise EvalError(
        f"{data}: expected a folder with {LEVEL_1} and {LEVEL_2} (in a checkout, api-bank/lv1-lv2-samples), "
        f"found {'neither' if Path(data).is_dir() else 'no such folder'}"
    )


def _read_level(folder: Path) -> dict[Path, Rows]:
    return {path: _read_file(path) for path in sorted(folder.glob("*.jsonl"))}


def _read_file(path: Path) -> Rows:
    """The turns of a dialogue; none in an empty file, of which the official data has one."""
    return [read_row(line, n, str(path), EvalError) for n, line in numbered_lines(read_text(path, EvalError))]


def _read_calls(path: Path, rows: Rows) -> dict[int, RecordedCall]:
    """Row number, from 0 -> the call in that row."""
    return {n: _read_call(f"{path}: dialogue row {n + 1}", row) for n, row in enumerate(rows) if _is_call(row)}


def _is_call(row: Mapping[str, Any]) -> bool:
    return row.get("role") == "API"


def _read_call(place: str, row: Mapping[str, Any]) -> RecordedCall:
    call = validated(_CallRow, row, place)
    return RecordedCall(call.api_name, call.param_dict, call.result.input, call.result.output, call.result.exception)


def _samples(
    path: Path, rows: Rows, calls: Mapping[int, RecordedCall], documentation: "_Documentation", database: Database
) -> Iterator[Sample]:
    level = path.parent.name
    names = tuple(dict.fromkeys(call.name for call in calls.values()))
    for j, position in enumerate(calls):
        for sample_id, number in ((2 * j, position), (2 * j + 1, position + 1)):
            if number not in calls:
                continue
            turns = read_rows(rows[:number], str(path)) if number else ()
            truth = calls[number]
            repeated = sample_id % 2 == 0 and number - 1 in calls
            yield Sample(
                f"{level}/{path.name}/{sample_id}",
                level,
                f"{level}/{path.name}",
                turns,
                documentation.found_in(turns, path) if level == LEVEL_2 else documentation.of(names),
                (Call(truth.name, truth.arguments),),
                ApiBankAnswer(path.name, sample_id, level, truth, repeated, database),
            )


class _Documentation:
    """Documentation for prompts; the same tools are read once."""

    def __init__(self, descriptions: Descriptions) -> None:
        self._descriptions = descriptions
        self.of = cache(self._of)

    def _of(self, names: tuple[str, ...]) -> Documentation:
        return Documentation.read([self._tool(name) for name in names], str(self._descriptions.origin))

    def found_in(self, turns: Sequence[Turn], path: Path) -> Documentation:
        """ToolSearcher's own documentation, and what it has found so far."""
        found = [tool for tool in documented_tools(turns) if tool["name"] != TOOL_SEARCH]
        return Documentation.read([self._tool(TOOL_SEARCH), *found], str(path))

    def _tool(self, name: str) -> Mapping[str, Any]:
        if name not in self._descriptions.tools:
            raise EvalError(f"{self._descriptions.origin}: no documentation of {name}, which the dialogues call")
        return self._descriptions.tools[name]
