"""Reads SGD's dialogues and tools as samples."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, PositiveInt

from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import read_rows
from tooldecoding.prompts.documentation import Documentation

SEEN: Final = "seen"
UNSEEN: Final = "unseen"

MAX_BYTES: Final = 256 * 1024 * 1024
"""Largest unpacked file of dialogues."""

_FILES: Final = "the folder with dev.jsonl.gz, dev_tools.json and train_tools.json"

Tools = Mapping[tuple[str, str], dict[str, Any]]
"""Service and tool name -> documentation."""


class _Call(BaseModel):
    turn: PositiveInt
    service: str
    name: str
    arguments: dict[str, str]


class _Dialogue(BaseModel):
    dialogue_id: str
    services: list[str]
    turns: list[dict[str, Any]]
    calls: list[_Call]


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return one sample per call of the split ``dev``.

    Parameters
    ----------
    data : str
        Folder with ``dev.jsonl.gz``, ``dev_tools.json`` and ``train_tools.json``.

    Raises
    ------
    EvalError
        If the folder or a file is missing or malformed.
    """
    folder = Path(data)
    if not folder.is_dir():
        raise EvalError(f"{data}: no such folder; --data for sgd is {_FILES}")
    tools = _read_tools(folder / "dev_tools.json")
    known = {service for service, _ in _read_tools(folder / "train_tools.json")}
    path = folder / "dev.jsonl.gz"

    @cache
    def documentation(services: tuple[str, ...]) -> Documentation:
        return Documentation.read([tool for (service, _), tool in tools.items() if service in services], str(path))

    samples = []
    for number, line in numbered_lines(_unpacked(path)):
        place = f"{path}:{number}"
        dialogue = validated(_Dialogue, read_row(line, number, str(path), EvalError), place)
        samples += _samples(dialogue, documentation(tuple(dialogue.services)), tools, known, place)
    counts = Counter(s.id for s in samples)
    twice = [identifier for identifier, count in counts.items() if count > 1]
    if twice:
        raise EvalError(f"{path}: two calls of one id, {twice[0]}: dialogue and turn must tell calls apart")
    return [s for s in samples if s.category in categories]


def _read_tools(path: Path) -> Tools:
    try:
        rows = json.loads(read_text(path, EvalError))
        return {(row["service"], row["name"]): {k: v for k, v in row.items() if k != "service"} for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise EvalError(f"{path}: expected a JSON list of tools with 'service', 'name' and 'parameters'") from None


def _unpacked(path: Path) -> str:
    try:
        with gzip.open(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise EvalError(f"{path}: no such file; --data for sgd is {_FILES}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise EvalError(f"{path}: cannot be unpacked: {error}") from None
    if len(data) > MAX_BYTES:
        raise EvalError(f"{path}: expected at most {MAX_BYTES} bytes when unpacked")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EvalError(f"{path}: expected UTF-8, found something else at offset {error.start}") from None


def _samples(
    dialogue: _Dialogue, documentation: Documentation, tools: Tools, known: set[str], place: str
) -> list[Sample]:
    samples = []
    for call in dialogue.calls:
        if (call.service, call.name) not in tools or call.service not in dialogue.services:
            raise EvalError(f"{place}: a call of {call.name!r}, which is no tool of the dialogue's {call.service!r}")
        if call.turn > len(dialogue.turns):
            raise EvalError(f"{place}: a call behind turn {call.turn}, but there are {len(dialogue.turns)} turns")
        if call.arguments.keys() - {p.name for p in documentation.lookup[call.name].parameters}:
            raise EvalError(
                f"{place}: a call of {call.name!r} has keys that the tool lacks: {', '.join(call.arguments)}"
            )
        samples.append(
            Sample(
                id=f"{dialogue.dialogue_id}/{call.turn}",
                category=SEEN if call.service in known else UNSEEN,
                dialogue=dialogue.dialogue_id,
                turns=read_rows(dialogue.turns[: call.turn], place),
                documentation=documentation,
                calls=(Call(call.name, call.arguments),),
                answer=None,
            )
        )
    return samples
