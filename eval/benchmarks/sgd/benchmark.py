"""Calls of the Schema-Guided Dialogue dataset: dialogues written by people, tools that training may not have seen.

Source: google-research-datasets/dstc8-schema-guided-dialogue (CC BY-SA 4.0), one dialogue a line with its turns and
calls. There is no official scorer for single calls; the rule is written down in ``judge``.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PositiveInt, ValidationError

from eval.benchmarks.bfcl.arithmetic import CallDecodeError
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.samples import Judgement, Sample
from eval.errors import EvalError
from lookup.dictionary import MISSING, ToolSpec
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import read_rows
from tooldecoding.prompts.documentation import Documentation

SEEN, UNSEEN = "seen", "unseen"

_FILES = "the folder with dev.jsonl.gz, dev_tools.json and train_tools.json"

MAX_BYTES = 256 * 1024 * 1024
"""Largest unpacked file of dialogues."""


@dataclass(frozen=True)
class SchemaGuidedDialogue:
    """The split ``dev``: dialogues with services that ``train`` has (seen) and lacks (unseen)."""

    name: str = "sgd"
    categories: tuple[str, ...] = (SEEN, UNSEEN)
    call_format: str = "api-bank"

    def load(self, data: str, categories: Sequence[str]) -> list[Sample]:
        """One sample a call; EvalError for a folder without the files or with malformed ones."""
        folder = Path(data)
        if not folder.is_dir():
            raise EvalError(f"{data}: no such folder; --data for sgd is {_FILES}")
        tools = _read_tools(folder / "dev_tools.json")
        known = {service for service, _ in _read_tools(folder / "train_tools.json")}
        path = folder / "dev.jsonl.gz"
        samples = []
        for number, line in numbered_lines(_unpacked(path)):
            row = read_row(line, number, str(path), EvalError)
            samples += _samples(_read_dialogue(row, f"{path}:{number}"), tools, known, f"{path}:{number}")
        counts = Counter(s.id for s in samples)
        twice = [identifier for identifier, count in counts.items() if count > 1]
        if twice:
            raise EvalError(f"{path}: two calls of one id, {twice[0]}: dialogue and turn must tell calls apart")
        return [s for s in samples if s.category in categories]

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Right is the one reference call: same tool, and the same value for every key.

        A prediction is read as BFCL's decoder reads it. Values are compared as texts, without regard to case and runs
        of white space. An optional key that is left out counts as given with its documented default.
        ``error_type`` is one of ``no_call``, ``wrong_count``, ``wrong_name``, ``unexpected_key``, ``missing_key`` and
        ``wrong_value``.
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

    def satisfiable(self, sample: Sample) -> bool:
        """Always: the reference call is right."""
        return True

    def identify(self, row: Mapping[str, Any]) -> str:
        """The row's ``id``, such as ``1_00000/5``: the dialogue and the number of turns before the call."""
        identifier = row.get("id")
        if not isinstance(identifier, str):
            raise EvalError(f"expected a row with an 'id' such as '1_00000/5', found {identifier!r}")
        return identifier

    def describe(self, sample: Sample) -> dict[str, Any]:
        """``id`` and ``category``."""
        return {"id": sample.id, "category": sample.category}


SGD = SchemaGuidedDialogue()


def _read_tools(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Tools by service and name, in the sequence of the file."""
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


def _read_dialogue(row: Mapping[str, Any], place: str) -> _Dialogue:
    try:
        return _Dialogue.model_validate(row, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise EvalError(
            f"{place}: expected a dialogue with 'dialogue_id', 'services', 'turns' and 'calls': {where}: {first['msg']}"
        ) from None


def _samples(
    dialogue: _Dialogue, tools: Mapping[tuple[str, str], dict[str, Any]], known: set[str], place: str
) -> list[Sample]:
    offered = [tool for (service, _), tool in tools.items() if service in dialogue.services]
    documentation = Documentation.read(offered, place)
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


def _difference(calls: tuple[Call, ...], reference: Call, tool: ToolSpec) -> tuple[str, str] | None:
    """The first thing that is wrong, as error type and message."""
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
        if _plain(value) != _plain(expected[key]):
            return "wrong_value", f"expected {key}={expected[key]!r}, found {value!r}"
    return None


def _plain(value: Any) -> str:
    return " ".join(str(value).split()).casefold()
