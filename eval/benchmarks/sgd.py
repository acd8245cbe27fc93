"""SGD, the Schema-Guided Dialogue dataset: dialogues written by people, tools that training may not have seen.

Source: google-research-datasets/dstc8-schema-guided-dialogue (CC BY-SA 4.0), one dialogue a line with its turns and
calls, the split ``dev``. There is no official scorer for single calls.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, PositiveInt

from eval.benchmarks.python_calls import decode_calls
from eval.benchmarks.samples import Benchmark, Fault, Judgement, Sample
from eval.errors import EvalError
from eval.validation import read_json_rows, read_lines, validated
from lookup.dictionary import MISSING, ToolSpec
from tooldecoding.chat.dialogue import read_rows
from tooldecoding.chat.documentation import Documentation
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.cursor import UnreadableCallError

SEEN: Final = "seen"
UNSEEN: Final = "unseen"

_FILES: Final = "the folder with dev.jsonl.gz, dev_tools.json and train_tools.json"

Tools = Mapping[tuple[str, str], dict[str, Any]]
"""Service and tool name -> documentation."""


class _Tool(BaseModel):
    service: str
    name: str


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

    EvalError if the folder or a file is missing or malformed.

    ``data``: folder with ``dev.jsonl.gz``, ``dev_tools.json`` and ``train_tools.json``.
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

    samples: list[Sample] = []
    for place, row in read_lines(path):
        dialogue = validated(_Dialogue, row, place)
        samples += _samples(dialogue, documentation(tuple(dialogue.services)), tools, known, place)
    twice = [identifier for identifier, count in Counter(s.id for s in samples).items() if count > 1]
    if twice:
        raise EvalError(f"{path}: two calls of one id, {twice[0]}: dialogue and turn must tell calls apart")
    return [s for s in samples if s.category in categories]


@dataclass(frozen=True)
class SchemaGuidedDialogue(Benchmark):
    """Dialogues with services that the split ``train`` has (seen) or lacks (unseen)."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Right is exactly one call of the reference's tool with the reference's value for every key.

        BFCL's decoder reads the prediction. Values are compared as texts, ignoring case and the amount of white space.
        An optional key that is left out has its documented default. ``error_type`` is one of ``no_call``,
        ``wrong_count``, ``wrong_name``, ``unexpected_key``, ``missing_key`` and ``wrong_value``.
        """
        try:
            calls = decode_calls(prediction)
        except UnreadableCallError as error:
            return Judgement(False, "no_call", str(error), None)
        [reference] = sample.calls
        return Judgement.of(_difference(calls, reference, sample.documentation.lookup[reference.name]), calls)


def _read_tools(path: Path) -> Tools:
    tools = {}
    for place, row in read_json_rows(path):
        tool = validated(_Tool, row, place)
        tools[tool.service, tool.name] = {k: v for k, v in row.items() if k != "service"}
    return tools


def _samples(
    dialogue: _Dialogue, documentation: Documentation, tools: Tools, known: set[str], place: str
) -> Iterator[Sample]:
    for call in dialogue.calls:
        if (call.service, call.name) not in tools or call.service not in dialogue.services:
            raise EvalError(f"{place}: a call of {call.name!r}, which is no tool of the dialogue's {call.service!r}")
        if call.turn > len(dialogue.turns):
            raise EvalError(f"{place}: a call behind turn {call.turn}, but there are {len(dialogue.turns)} turns")
        if call.arguments.keys() - {p.name for p in documentation.lookup[call.name].parameters}:
            keys = ", ".join(call.arguments)
            raise EvalError(f"{place}: a call of {call.name!r} has keys that the tool lacks: {keys}")
        yield Sample(
            id=f"{dialogue.dialogue_id}/{call.turn}",
            category=SEEN if call.service in known else UNSEEN,
            dialogue=dialogue.dialogue_id,
            turns=read_rows(dialogue.turns[: call.turn], place),
            documentation=documentation,
            calls=(Call(call.name, call.arguments),),
            answer=None,
        )


def _difference(calls: Sequence[Call], reference: Call, tool: ToolSpec) -> Fault | None:
    """Return the first difference."""
    if not calls:
        return Fault("no_call", "expected a call, found none")
    if len(calls) != 1:
        return Fault("wrong_count", f"expected one call, found {len(calls)}")
    [call] = calls
    if call.name != reference.name:
        return Fault("wrong_name", f"expected {reference.name}, found {call.name}")
    specs = {p.name: p for p in tool.parameters}
    expected = {k: p.default for k, p in specs.items() if p.default is not MISSING} | dict(reference.arguments)
    found = {k: p.default for k, p in specs.items() if not p.required and p.default is not MISSING}
    found |= dict(call.arguments)
    for key in call.arguments:
        if key not in specs:
            return Fault("unexpected_key", f"{tool.name} has no key {key!r}")
    for key, value in expected.items():
        if key not in found:
            return Fault("missing_key", f"expected {key}={value!r}, found nothing")
    for key, value in found.items():
        if key not in expected:
            return Fault("wrong_value", f"expected no {key}, found {value!r}")
        if _normalised(value) != _normalised(expected[key]):
            return Fault("wrong_value", f"expected {key}={expected[key]!r}, found {value!r}")
    return None


def _normalised(value: Any) -> str:
    return " ".join(str(value).split()).casefold()


SGD: Final = SchemaGuidedDialogue("sgd", (SEEN, UNSEEN), load_samples, "api-bank")
