"""API-Bank's dialogues in the official layout, levels 1 and 2, as the samples that its evaluator makes of them."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel

from eval.benchmarks.api_bank.checker import TOOLS, check_output, replay_database
from eval.benchmarks.api_bank.rule import ApiCall, Database
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError
from eval.validation import read_lines, validated
from lookup.documents.text.text_file import read_text
from tooldecoding.chat.dialogue import TOOL_SEARCH, documented_tools, read_rows
from tooldecoding.chat.documentation import Documentation
from tooldecoding.formats.call_format import Call

LEVEL_1: Final = "level-1-given-desc"
LEVEL_2: Final = "level-2-toolsearcher"
LEVELS: Final = (LEVEL_1, LEVEL_2)
"""Call (the tools are given) and Retrieve+Call (ToolSearcher finds them)."""

_DESCRIPTIONS_FILE: Final = "api_descriptions.jsonl"
_SOURCES_FOLDER: Final = "apis"

_INSIDE_CHECKOUT: Final = ("", "lv1-lv2-samples", "api-bank/lv1-lv2-samples")
_ATTRIBUTES: Final = {"description", "input_parameters", "output_parameters"}

Descriptions = Mapping[str, Mapping[str, Any]]
"""Tool -> object with ``name``, ``description`` and the parameters, in the words of API-Bank's code."""


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


class _Description(BaseModel):
    name: str
    input_parameters: dict[str, Any]


@dataclass(frozen=True)
class ApiBankAnswer:
    """What the scorer needs of a sample: its file and level, the recorded call, and the database.

    ``sample_id`` is the official evaluator's number: 2j for the j-th call of a dialogue, 2j + 1 for the turn behind it.
    ``repeated`` says whether the sample before it is the same call again.
    """

    file: str
    sample_id: int
    level: str
    truth: ApiCall
    repeated: bool
    database: Database = field(repr=False, compare=False)


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """The samples of some levels, files by name, in the evaluator's numbering.

    The evaluator makes two samples of every call, the call and the turn behind it, and counts the second one if it is a
    call, too. So a call behind a call counts twice, here as there.

    EvalError if a level's folder, its files or the documentation is missing, or a file is malformed.

    ``data``: the folder that holds ``level-1-given-desc`` and ``level-2-toolsearcher``, or a checkout of DAMO-ConvAI or
    its api-bank. Documentation of the tools is looked for there.
    """
    folder = _find_folder(data)
    descriptions, origin = _find_descriptions(folder)
    # the official data has an empty file
    dialogues = {
        level: {path: read_lines(path) for path in sorted((folder / level).glob("*.jsonl"))} for level in LEVELS
    }
    for level in categories:
        if not dialogues[level]:
            raise EvalError(f"{folder}: expected {level}/*.jsonl, found no such file")
    calls = {
        path: {n: _read_call(place, row) for n, (place, row) in enumerate(rows) if row.get("role") == "API"}
        for files in dialogues.values()
        for path, rows in files.items()
    }
    database = replay_database([tuple(file.values()) for file in calls.values()], descriptions)
    documentation = cache(partial(_documentation, descriptions, origin))
    return [
        sample
        for level in LEVELS
        if level in categories
        for path, rows in dialogues[level].items()
        for sample in _samples(path, [row for _, row in rows], calls[path], documentation, database)
    ]


def _find_folder(data: str) -> Path:
    for inside in _INSIDE_CHECKOUT:
        folder = Path(data) / inside
        if any((folder / level).is_dir() for level in LEVELS):
            return folder.resolve()
    raise EvalError(
        f"{data}: expected a folder with {LEVEL_1} and {LEVEL_2} (in a checkout, api-bank/lv1-lv2-samples), "
        f"found {'neither' if Path(data).is_dir() else 'no such folder'}"
    )


def _find_descriptions(folder: Path) -> tuple[Descriptions, Path]:
    """Documentation that lies in a folder of dialogues, beside it, or in the checkout that it belongs to; its place."""
    for place in (folder, folder.parent):
        if (file := place / _DESCRIPTIONS_FILE).is_file():
            return {validated(_Description, row, where).name: row for where, row in read_lines(file)}, file
    for place in (folder, folder.parent):
        if tools := _read_sources(place / _SOURCES_FOLDER):
            return tools, place / _SOURCES_FOLDER
    raise EvalError(
        f"{folder}: no documentation of the tools; expected {_DESCRIPTIONS_FILE} or {_SOURCES_FOLDER}/*.py there or in "
        f"{folder.parent}"
    )


def _read_sources(folder: Path) -> dict[str, dict[str, Any]]:
    """The class attributes of a checkout's tools, read as text: its code is not run."""
    tools: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.py")):
        try:
            classes = [node for node in ast.parse(read_text(file, EvalError)).body if isinstance(node, ast.ClassDef)]
            for node in classes:
                values = {
                    s.targets[0].id: ast.literal_eval(s.value)
                    for s in node.body
                    if isinstance(s, ast.Assign)
                    and isinstance(s.targets[0], ast.Name)
                    and s.targets[0].id in _ATTRIBUTES
                }
                if values.keys() == _ATTRIBUTES:
                    tools[node.name] = {"name": node.name} | values
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise EvalError(f"{file}: expected Python source text of a tool: {error}") from None
    return tools


def _read_call(place: str, row: Mapping[str, Any]) -> ApiCall:
    call = validated(_CallRow, row, place)
    return ApiCall(call.api_name, call.param_dict, call.result.input or {}, call.result.output, call.result.exception)


def _samples(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    calls: Mapping[int, ApiCall],
    documentation: Callable[[tuple[str, ...]], Documentation],
    database: Database,
) -> Iterator[Sample]:
    level = path.parent.name
    names = tuple(dict.fromkeys(call.name for call in calls.values()))
    for j, position in enumerate(calls):
        for sample_id, number in ((2 * j, position), (2 * j + 1, position + 1)):
            if number not in calls:
                continue
            turns = read_rows(rows[:number], str(path)) if number else ()
            if level == LEVEL_2:  # ToolSearcher's own documentation, and what it has found so far
                found = [tool for tool in documented_tools(turns) if tool["name"] != TOOL_SEARCH]
                offered = Documentation.read([*documentation((TOOL_SEARCH,)).objects, *found], str(path))
            else:
                offered = documentation(names)
            truth = calls[number]
            repeated = sample_id % 2 == 0 and number - 1 in calls
            yield Sample(
                f"{level}/{path.name}/{sample_id}",
                level,
                f"{level}/{path.name}",
                turns,
                offered,
                (Call(truth.name, truth.arguments),),
                ApiBankAnswer(path.name, sample_id, level, truth, repeated, database),
            )


def _documentation(descriptions: Descriptions, origin: Path, names: tuple[str, ...]) -> Documentation:
    """Documentation of some tools for prompts."""
    for name in names:
        if name not in descriptions:
            raise EvalError(f"{origin}: no documentation of {name}, which the dialogues call")
    return Documentation.read([descriptions[name] for name in names], str(origin))


@dataclass(frozen=True)
class ApiBank(Benchmark):
    """Dialogues with recorded calls. Every call is a sample; a call right after a call is two."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official evaluator's verdict, inferred from what the dialogues recorded."""
        answer: ApiBankAnswer = sample.answer
        return check_output(prediction, answer.truth, answer.database, answer.repeated)

    def satisfiable(self, sample: Sample) -> bool:
        """Whether the recorded call itself is judged right.

        It is not if the official parser cannot return the recorded value (a list), if the tool has another key or
        output today, or if the call needs what an earlier call of its dialogue had changed. Then no other call is right
        either.
        """
        return self.judge(sample, render_truth(sample)).correct

    def identify(self, row: Mapping[str, Any]) -> str:
        """Return the id of a row with ``id``, or with ``file``, ``sample_id`` and ``level``; EvalError without."""
        if isinstance(row.get("id"), str):
            return str(row["id"])
        file, sample_id, level = (row.get(k) for k in ("file", "sample_id", "level"))
        if not isinstance(file, str) or type(sample_id) is not int or not isinstance(level, str):
            raise EvalError(
                "expected a text 'id', or 'file' (text), 'sample_id' (whole number) and 'level' (text); "
                f"the row has {', '.join(map(repr, row)) or 'no columns'}"
            )
        return f"{level}/{file}/{sample_id}"

    def describe(self, sample: Sample) -> dict[str, Any]:
        """Return ``id``, ``file``, ``sample_id``, ``level`` and ``category``."""
        names = {name: getattr(sample.answer, name) for name in ("file", "sample_id", "level")}
        return {"id": sample.id} | names | {"category": sample.category}


def render_truth(sample: Sample) -> str:
    """Write the recorded call as API-Bank's own predictions do: every value in single quotes, without escapes."""
    call = sample.calls[0]
    arguments = ", ".join(f"{key}='{value}'" for key, value in call.arguments.items())
    return f"[{call.name}({arguments})]"


API_BANK: Final = ApiBank("api-bank", LEVELS, load_samples, "api-bank")
