"""A training example, and its text in the prompt templates that ``eval`` and ``decode`` use."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.dialogue import LineLabels, ToolRequest, ToolResponse, Utterance, dialogue_lines
from tooldecoding.prompts.prompts import API_BANK_ENDING, BFCL_ENDING, api_bank_prompt, bfcl_prompt


@dataclass(frozen=True)
class Answer:
    """What the model should write: calls, or ``refusal`` if no tool fits."""

    calls: tuple[Call, ...] = ()
    refusal: str = ""


ExampleTurn = Utterance | ToolRequest | ToolResponse | Answer


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt template with its call format.

    Attributes
    ----------
    call_format : CallFormat
    labels : LineLabels
        How the lines of the dialogue begin.
    ending : str
        The beginning of the line that the model completes.
    prompt : callable
        Documented tools and lines of the dialogue -> the prompt.
    """

    call_format: CallFormat
    labels: LineLabels
    ending: str
    prompt: Callable[[Sequence[Mapping[str, Any]], Sequence[str]], str]


def _api_bank(tools: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    return api_bank_prompt("\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools), lines)


def _bfcl(tools: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    return bfcl_prompt(json.dumps(list(tools), indent=4, ensure_ascii=False), lines)


TEMPLATES: Mapping[str, PromptTemplate] = {
    "api-bank": PromptTemplate(CALL_FORMATS["api-bank"], LineLabels(), API_BANK_ENDING, _api_bank),
    "bfcl": PromptTemplate(
        CALL_FORMATS["pythonic"], LineLabels(request="Calls", response="Results"), BFCL_ENDING, _bfcl
    ),
}


@dataclass(frozen=True)
class Example:
    """Documented tools and a dialogue about them.

    Attributes
    ----------
    tools : tuple of mapping
        The documented objects as the prompt prints them.
    required : mapping
        Tool name -> its required keys, in documentation order.
    turns : tuple of Utterance, ToolRequest, ToolResponse or Answer
        The model learns the answers; it only reads the requests.
    template : PromptTemplate
    """

    tools: tuple[Mapping[str, Any], ...]
    required: Mapping[str, Sequence[str]]
    turns: tuple[ExampleTurn, ...]
    template: PromptTemplate


@dataclass(frozen=True)
class Segment:
    """A stretch of the training text; if ``answer`` is set, the model writes it, with the newline at its end."""

    text: str
    answer: Answer | None = None


def ordered(call: Call, required: Sequence[str], rng: Random, shuffled_share: float) -> Call:
    """Return the call with its keys in the order in which the decoder writes them: required first, then optional.

    Each of the two groups is shuffled with probability ``shuffled_share``; otherwise it keeps the call's order.
    """
    first = [key for key in call.arguments if key in required]
    then = [key for key in call.arguments if key not in required]
    for keys in (first, then):
        if rng.random() < shuffled_share:
            rng.shuffle(keys)
    return Call(call.name, {key: call.arguments[key] for key in [*first, *then]})


def segments(example: Example, rng: Random, shuffled_share: float = 0.5) -> list[Segment]:
    """Split the training text, up to its last answer, into answers and the text between them.

    Joined, the segments are the prompt of the last answer, that answer and a newline.
    """
    template = example.template
    out: list[Segment] = []
    lines: list[str] = []
    for turn in example.turns:
        if not isinstance(turn, Answer):
            lines += dialogue_lines([turn], template.call_format, template.labels)
            continue
        following = "".join(line + "\n" for line in lines) + template.ending
        out.append(Segment(following if out else template.prompt(example.tools, lines)))
        calls = tuple(ordered(c, example.required[c.name], rng, shuffled_share) for c in turn.calls)
        written = template.call_format.render(calls) if calls else turn.refusal
        out.append(Segment(written + "\n", Answer(calls, turn.refusal)))
        lines = []
    return out
