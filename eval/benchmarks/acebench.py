"""ACEBench: its single-turn English categories, normal and special."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from eval.benchmarks.acebench_checker import Truth, check_calls, check_sentence, decode_calls, expected_calls
from eval.benchmarks.samples import Benchmark, Fault, Judgement, Sample
from eval.errors import EvalError
from eval.validation import Entry, documentation_of, read_answered, validated
from tooldecoding.chat.messages import Message
from tooldecoding.formats.cursor import UnreadableCallError

NORMAL: Final = (
    "normal_single_turn_single_function",
    "normal_single_turn_parallel_function",
    "normal_similar_api",
    "normal_preference",
    "normal_atom_bool",
    "normal_atom_enum",
    "normal_atom_number",
    "normal_atom_list",
    "normal_atom_object_short",
    "normal_atom_object_deep",
)
SPECIAL: Final = ("special_incomplete", "special_error_param", "special_irrelevant")

_FOLDERS: Final = ("", "data_all/data_en", "data_en")
_LINE: Final = re.compile(r"^(user|system)[ ]?:[ ]?", re.MULTILINE)

_SENTENCES: Final = (
    "If a required parameter is missing in the request, answer with the sentence "
    '"Missing necessary parameters (key1, key2) for the api (ApiName)". If a value does not fit its parameter, answer '
    'with "There is incorrect value (value) for the parameters (key) in the conversation history." If no function '
    'serves the request, answer with "Due to the limitations of the function, I cannot solve this problem."'
)
"""What the special categories ask for; the sentences are those that the official scorer looks for."""


class _Function(BaseModel):
    name: str


class _Question(BaseModel):
    id: str
    question: str
    function: Annotated[list[_Function], Field(min_length=1)]
    time: str = ""
    profile: str = ""


def _calls(place: str, truth: Any) -> list[Truth]:
    """Return the alternatives of right calls."""
    truths = truth if isinstance(truth, list) else [truth]
    for calls in truths:
        if not isinstance(calls, dict) or not calls or not all(isinstance(given, dict) for given in calls.values()):
            raise EvalError(
                f"{place}: expected 'ground_truth' to be an object {{tool: {{key: value}}}}, or a list of such"
            )
    return truths


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the entries of some categories, each in the order of its file.

    EvalError for a missing or malformed file, with file and line.

    ``data``: a folder with ``data_CATEGORY.json`` and ``possible_answer/``, or a checkout of ACEBench.
    """
    root = Path(data)
    if not root.is_dir():
        raise EvalError(f"{data}: no such folder; --data for acebench is the folder with data_{NORMAL[0]}.json")
    samples = []
    for category in categories:
        name = f"data_{category}.json"
        folder = next((root / folder for folder in _FOLDERS if (root / folder / name).is_file()), None)
        if folder is None:
            raise EvalError(f"{root}: no questions of {category}: expected {name}, there or in {_FOLDERS[1]}")
        pairs = read_answered(folder / name, folder / "possible_answer" / name)
        samples += [_sample(question, answer, category) for question, answer in pairs]
    return samples


def _sample(asked: Entry, answered: Entry, category: str) -> Sample:
    place, row = asked
    question = validated(_Question, row, place)
    special = category in SPECIAL
    there, truth = answered[0], answered[1].get("ground_truth")
    lists = isinstance(truth, dict) and all(isinstance(part, list) for part in truth.values())
    if special and not isinstance(truth, str) and not lists:
        raise EvalError(f"{there}: expected 'ground_truth' to be a sentence, or an object of lists")
    truths = [] if special else _calls(there, truth)  # special categories have a sentence, see check_sentence
    return Sample(
        id=question.id,
        category=category,
        dialogue=question.id,
        turns=_turns(question, special),
        documentation=documentation_of(row["function"], f"{place}: function"),
        calls=tuple(expected_calls(truths[0])) if truths else (),
        answer=(row["function"], truths, truth),
    )


def _turns(question: _Question, special: bool) -> tuple[Message, ...]:
    """Return what the system is told, and the dialogue, whose lines name the assistant ``system``."""
    told = " ".join(filter(None, (question.time, question.profile, _SENTENCES if special else "")))
    before, *parts = _LINE.split(question.question)
    turns = [Message("system", told)] if told else []
    if before.strip():
        turns.append(Message("user", before.strip()))
    for speaker, text in zip(parts[::2], parts[1::2], strict=True):
        turns.append(Message("user" if speaker == "user" else "assistant", text.strip()))
    return tuple(turns)


@dataclass(frozen=True)
class AceBench(Benchmark):
    """The categories with one turn."""

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the official verdict; in special categories on the sentence that the answer must hold."""
        functions, truths, parts = sample.answer
        fault: Fault | None
        try:
            calls = decode_calls(prediction)
            faults = [check_calls(functions, calls, truth) for truth in truths]
            fault = faults[0] if faults and None not in faults else None
        except UnreadableCallError as error:
            calls, fault = None, Fault("wrong_output_format", str(error))
        if sample.category in SPECIAL:
            fault = check_sentence(sample.category, prediction, parts)
        return Judgement.of(fault, calls)

    def open_keys(self, sample: Sample) -> frozenset[str]:
        """Keys of the ground truth that the documentation does not require."""
        [call] = sample.calls
        tool = sample.documentation.lookup[call.name]
        return frozenset(call.arguments) - {parameter.name for parameter in tool.parameters if parameter.required}


ACEBENCH: Final = AceBench("acebench", (*NORMAL, *SPECIAL), load_samples)
