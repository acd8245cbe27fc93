"""UltraTool: plans whose steps need tools; the stages that need no language model as judge.

Source: JoeYing1019/UltraTool, ``evaluation/utils.py``. One prediction answers a plan, as there; but it is a list of
calls, each of which names its step, in place of a JSON list of steps. The official functions ``cal_acc_for_aware``,
``cal_acc_for_select`` and ``cal_param_res`` are computed on it: of several calls for a step, the first counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field
from rapidfuzz.distance import Levenshtein

from eval.benchmarks.bfcl.parser import pythonic_calls
from eval.benchmarks.data_files import documentation_of, read_lines
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.python_names import writable_name
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import EvalError
from eval.validation import validated
from tooldecoding.chat.messages import Message
from tooldecoding.formats.call_format import Call

USAGE_AWARENESS: Final = "tool_usage_awareness"
CREATION_AWARENESS: Final = "tool_creation_awareness"
SELECTION: Final = "tool_selection"
USAGE: Final = "tool_usage"
STAGES: Final = (USAGE_AWARENESS, CREATION_AWARENESS, SELECTION, USAGE)

STEP: Final = "step_number"
"""The key that says which step of the plan a call is for."""

_FIGURES: Final = dict(zip(STAGES, ("usage awareness", "creation awareness", "selection", "usage"), strict=True))

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


class _Arguments(BaseModel):
    properties: dict[str, Any] = {}
    required: list[str] | None = None


class _Tool(BaseModel):
    name: str
    description: str = ""
    arguments: dict[str, Any]


class _Answer(BaseModel):
    step: Annotated[str, Field(min_length=1)]
    tool: str
    param: dict[str, str] = {}


class _Need(_Answer):
    tool: Literal["0", "1"]


class _Usage(_Answer):
    param: dict[str, str]


class _Plan(BaseModel):
    question: str = ""
    input: list[_Step]
    toolset: list[_Tool] = []
    reference: Annotated[list[dict[str, Any]], Field(min_length=1)]


@dataclass(frozen=True)
class StepAnswer:
    """What is right for one step, by what it begins with, such as ``1.2``.

    ``tool`` is ``0`` or ``1`` in the stages of awareness, otherwise a name; ``values`` belong to the stage of usage.
    """

    number: str
    tool: str
    values: dict[str, str]

    def points(self, stage: str, call: Call | None) -> float:
        """Return what the call for the step gets, between 0 and 1."""
        if stage in _NEEDS:
            return float(("0" if call is None else "1") == self.tool)
        if stage == SELECTION:
            return float(call is not None and call.name == self.tool)
        if call is None or not self.values:
            return 0.0
        given = call.arguments
        return fmean(
            Levenshtein.normalized_similarity(value, str(given[key])) if key in given else 0.0
            for key, value in self.values.items()
        )


def load_samples(folder: str, data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the plans of some stages; the answer of each is a tuple of ``StepAnswer``.

    Names of tools and keys that no call in Python's syntax can have are changed: ``class`` is ``is_class``.

    Parameters
    ----------
    folder : str
        That of the language.
    data : str
        A checkout of ``JoeYing1019/UltraTool``.

    Raises
    ------
    EvalError
        For a missing or malformed file, with file and line.
    """
    root = Path(data) / "data" / folder / "test_set"
    if not root.is_dir():
        raise EvalError(f"{data}: --data for ultratool is a checkout of JoeYing1019/UltraTool; found no folder {root}")
    return [_sample(row, c, place) for c in categories for place, row in read_lines(root / f"{c}.json")]


@dataclass(frozen=True, kw_only=True)
class UltraTool(Benchmark):
    """One language of UltraTool; a step without keys is never right in the stage of usage, as officially."""

    categories: tuple[str, ...] = STAGES
    has_figures: bool = True
    note: str = (
        "Right is a plan with every step right (the official global accuracy; with tool_usage, every value as in the "
        "reference, of which there is no official figure). Further figures are over steps: the official local "
        "accuracy, and for usage the official similarity of values (1 minus the normalised Levenshtein distance). "
        "Planning and tool creation are left out: their official judge is a language model and was not run."
    )

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return right if all steps are; the figure of the stage has the points of the steps.

        BFCL's decoder reads the prediction. A step without a call has the answer 0 in the stages of awareness, and no
        points elsewhere.
        """
        try:
            calls = pythonic_calls(prediction)
        except CallDecodeError:
            calls = None
        given: dict[str, Call] = {}
        for call in calls or ():
            given.setdefault(str(call.arguments.get(STEP)), call)
        stage = sample.category
        points = {answer.number: answer.points(stage, given.get(answer.number)) for answer in sample.answer}
        figures = {_FIGURES[stage]: (sum(points.values()), float(len(points)))}
        wrong = [number for number, got in points.items() if got < 1]
        if not wrong:
            return Judgement(True, None, "", calls, figures=figures)
        return Judgement(
            correct=False,
            error_type="wrong_steps" if calls is not None else "unreadable",
            message=f"steps that are not right: {', '.join(wrong)}",
            calls=calls,
            error_class="awareness" if stage in _NEEDS and calls is not None else None,
            figures=figures,
        )


def _sample(row: dict[str, Any], stage: str, place: str) -> Sample:
    plan = validated(_Plan, row, place)
    model = _Usage if stage == USAGE else _Need if stage in _NEEDS else _Answer
    answers = []
    for index, given in enumerate(plan.reference):
        answer = validated(model, given, f"{place}: reference[{index}]")
        values = {writable_name(key): value for key, value in answer.param.items()} if stage == USAGE else {}
        tool = answer.tool if stage in _NEEDS else writable_name(answer.tool)
        answers.append(StepAnswer(answer.step.split(" ")[0], tool, values))
    numbers = [answer.number for answer in answers]
    if len(set(numbers)) < len(numbers):
        raise EvalError(f"{place}: two steps of the reference have one number: {', '.join(numbers)}")
    documentation = documentation_of(_tools(plan, stage, numbers, place), f"{place}: toolset", "error")
    number = place.rpartition(":")[2]
    turns = (Message("user", _request(plan, stage, numbers)),)
    calls = tuple(_calls(answers, stage))
    return Sample(f"{stage}_{number}", stage, number, turns, documentation, calls, tuple(answers))


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
        return [_tool(*_NEEDS[stage], step)]
    if stage == SELECTION:
        return [_tool(tool.name, tool.description, step) for tool in plan.toolset]
    tools = []
    for tool in plan.toolset:
        keys = validated(_Arguments, tool.arguments, f"{place}: {tool.name}")
        properties = {writable_name(key): value for key, value in keys.properties.items()}
        if STEP in properties or len(properties) < len(keys.properties):
            raise EvalError(f"{place}: {tool.name} has two keys of one name, or a key {STEP!r} of its own")
        tools.append(_tool(tool.name, tool.description, step | properties, keys.required))
    return tools


def _tool(
    name: str, description: str, keys: Mapping[str, Any], required: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a tool. UltraTool has no lists of required keys: whether its own keys are required stays unknown."""
    schema: dict[str, Any] = {"type": "object", "properties": keys}
    if required is not None:
        schema["required"] = list(dict.fromkeys([STEP, *map(writable_name, required)]))
    return {"name": writable_name(name), "description": description, "arguments": schema}


def _calls(answers: Sequence[StepAnswer], stage: str) -> Iterator[Call]:
    for answer in answers:
        if stage not in _NEEDS:
            yield Call(answer.tool, {STEP: answer.number} | answer.values)
        elif answer.tool == "1":
            yield Call(_NEEDS[stage][0], {STEP: answer.number})


ULTRATOOL: Final = UltraTool(name="ultratool", load=partial(load_samples, "English-dataset"))
ULTRATOOL_ZH: Final = UltraTool(name="ultratool-zh", load=partial(load_samples, "Chinese-dataset"))
