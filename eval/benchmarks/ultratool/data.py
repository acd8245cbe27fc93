"""Reads UltraTool's test sets: plans, their marked steps, and the tools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from eval.benchmarks.python_names import writable_name
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.errors import ToolDecodingError
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Utterance
from tooldecoding.prompts.documentation import Documentation

USAGE_AWARENESS: Final = "tool_usage_awareness"
CREATION_AWARENESS: Final = "tool_creation_awareness"
SELECTION: Final = "tool_selection"
USAGE: Final = "tool_usage"
STAGES: Final = (USAGE_AWARENESS, CREATION_AWARENESS, SELECTION, USAGE)

STEP: Final = "step_number"
"""The key that says which step of the plan a call is for."""

_NEEDS: Final = {
    USAGE_AWARENESS: ("use_tool", "Use an external tool for a step of the plan."),
    CREATION_AWARENESS: ("create_tool", "Create a tool for a step of the plan that no given tool can do."),
}
"""Stage -> the tool that stands for the answer 1 to a step, and its description."""

_TASKS: Final = {
    USAGE_AWARENESS: "Call use_tool for each step that needs a tool.",
    CREATION_AWARENESS: "Call create_tool for each of these steps that none of the given tools can do: {steps}.",
    SELECTION: "Choose the tool for each of these steps: {steps}.",
    USAGE: "Call the tool of each of these steps: {steps}.",
}


class _Step(BaseModel):
    step: str
    tool: str | None = None


class _Tool(BaseModel):
    name: str
    description: str = ""
    arguments: dict[str, Any]


class _Answer(BaseModel):
    step: Annotated[str, Field(min_length=1)]


class _Need(_Answer):
    tool: Literal["0", "1"]


class _Choice(_Answer):
    tool: str


class _Usage(_Choice):
    param: dict[str, str]


class _Plan(BaseModel):
    question: str = ""
    input: list[_Step]
    toolset: list[_Tool] = []
    reference: Annotated[list[dict[str, Any]], Field(min_length=1)]


@dataclass(frozen=True)
class StepAnswer:
    """What is right for one step.

    Attributes
    ----------
    number : str
        What the step begins with, such as ``1.2``.
    tool : str
        ``0`` or ``1`` in the stages of awareness, otherwise a name.
    values : mapping
        Key -> value, in the stage of usage.
    """

    number: str
    tool: str
    values: dict[str, str]


def load_samples(data: str, folder: str, stages: Sequence[str]) -> list[Sample]:
    """Return the plans of some stages; the answer of each is a tuple of ``StepAnswer``.

    Names of tools and keys that no call in Python's syntax can have are changed: ``class`` is ``is_class``.

    Parameters
    ----------
    data : str
        A checkout of ``JoeYing1019/UltraTool``.
    folder : str
        ``English-dataset`` or ``Chinese-dataset``.

    Raises
    ------
    EvalError
        For a missing or malformed file, with file and line.
    """
    root = Path(data) / "data" / folder / "test_set"
    if not root.is_dir():
        raise EvalError(f"{data}: --data for ultratool is a checkout of JoeYing1019/UltraTool; found no folder {root}")
    return [sample for stage in stages for sample in _read_stage(root / f"{stage}.json", stage)]


def _read_stage(path: Path, stage: str) -> Iterator[Sample]:
    for number, line in numbered_lines(read_text(path, EvalError)):
        place = f"{path}:{number}"
        row = read_row(line, number, str(path), EvalError)
        try:
            yield _sample(row, stage, number, place)
        except EvalError:
            raise
        except ToolDecodingError as error:
            raise EvalError(str(error)) from None


def _sample(row: dict[str, Any], stage: str, number: int, place: str) -> Sample:
    plan = validated(_Plan, row, place)
    models: dict[str, type[_Answer]] = {SELECTION: _Choice, USAGE: _Usage}
    model = models.get(stage, _Need)
    answers = []
    for index, given in enumerate(plan.reference):
        answer = validated(model, given, f"{place}: reference[{index}]")
        values = {writable_name(key): value for key, value in given["param"].items()} if stage == USAGE else {}
        tool = given["tool"] if stage in _NEEDS else writable_name(given["tool"])
        answers.append(StepAnswer(answer.step.split(" ")[0], tool, values))
    numbers = [answer.number for answer in answers]
    if len(set(numbers)) < len(numbers):
        raise EvalError(f"{place}: two steps of the reference have one number: {', '.join(numbers)}")
    return Sample(
        id=f"{stage}_{number}",
        category=stage,
        dialogue=str(number),
        turns=(Utterance("user", _request(plan, stage, numbers)),),
        documentation=Documentation.read(_tools(plan, stage, numbers, place), f"{place}: toolset"),
        calls=tuple(_calls(answers, stage)),
        answer=tuple(answers),
    )


def _request(plan: _Plan, stage: str, numbers: Sequence[str]) -> str:
    """Return question, plan and task. The plan names the tool of a step where the data give it."""
    steps = [f"{s.step} [{s.tool}]" if stage == USAGE and s.tool else s.step for s in plan.input]
    parts = [plan.question.strip(), f"Plan: {'; '.join(steps)}."]
    if stage == CREATION_AWARENESS:
        parts.append(f"Given tools: {'; '.join(f'{t.name}: {t.description}' for t in plan.toolset) or 'none'}.")
    parts.append(_TASKS[stage].format(steps=", ".join(numbers)))
    return "\n".join(filter(None, parts))


def _tools(plan: _Plan, stage: str, numbers: Sequence[str], place: str) -> list[dict[str, Any]]:
    """Return the tools that a call may name, each with the number of the step as its first key."""
    step = {STEP: {"type": "string", "enum": list(numbers), "description": "The step of the plan.", "required": True}}
    if stage in _NEEDS:
        name, description = _NEEDS[stage]
        return [_tool(name, description, step, None)]
    if stage == SELECTION:
        return [_tool(writable_name(tool.name), tool.description, step, None) for tool in plan.toolset]
    tools = []
    for tool in plan.toolset:
        keys = validated(_Arguments, tool.arguments, f"{place}: {tool.name}")
        properties = {writable_name(key): value for key, value in keys.properties.items()}
        if STEP in properties or len(properties) < len(keys.properties):
            raise EvalError(f"{place}: {tool.name} has two keys of one name, or a key {STEP!r} of its own")
        # UltraTool has no lists of required keys: whether its own keys are required stays unknown
        required = None if keys.required is None else [writable_name(key) for key in keys.required]
        tools.append(_tool(writable_name(tool.name), tool.description, step | properties, required))
    return tools


class _Arguments(BaseModel):
    properties: dict[str, Any] = {}
    required: list[str] | None = None


def _tool(name: str, description: str, keys: dict[str, Any], required: Sequence[str] | None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": keys}
    if required is not None:
        schema["required"] = list(dict.fromkeys([STEP, *required]))
    return {"name": name, "description": description, "arguments": schema}


def _calls(answers: Sequence[StepAnswer], stage: str) -> Iterator[Call]:
    for answer in answers:
        if stage not in _NEEDS:
            yield Call(answer.tool, {STEP: answer.number} | answer.values)
        elif answer.tool == "1":
            yield Call(_NEEDS[stage][0], {STEP: answer.number})
