"""A training example, and its text in the shapes of the prompts that ``eval`` and ``decode`` write."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.dialogue import LineLabels, ToolRequest, ToolResponse, Utterance, dialogue_lines
from tooldecoding.prompts.prompts import (
    API_BANK_ENDING,
    API_BANK_INSTRUCTION,
    BFCL_ENDING,
    BFCL_INSTRUCTION,
    api_bank_prompt,
    bfcl_prompt,
)


@dataclass(frozen=True)
class Answer:
    """What the model shall write: calls, or ``refusal`` where no tool fits."""

    calls: tuple[Call, ...] = ()
    refusal: str = ""


ExampleTurn = Utterance | ToolRequest | ToolResponse | Answer


@dataclass(frozen=True)
class Form:
    """A prompt template with the call format that belongs to it."""

    template: str
    call_format: CallFormat
    labels: LineLabels
    instruction: str
    ending: str

    def prompt(self, tools: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
        """The prompt of the documented objects, as they are, and the lines of the dialogue."""
        if self.template == "bfcl":
            return bfcl_prompt(
                json.dumps(list(tools), indent=4, ensure_ascii=False), lines, self.instruction, self.ending
            )
        documentation = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        return api_bank_prompt(documentation, lines, self.instruction, self.ending)


FORMS: Mapping[str, Form] = {
    "api-bank": Form("api-bank", CALL_FORMATS["api-bank"], LineLabels(), API_BANK_INSTRUCTION, API_BANK_ENDING),
    "bfcl": Form(
        "bfcl",
        CALL_FORMATS["pythonic"],
        LineLabels(request="Calls", response="Results"),
        BFCL_INSTRUCTION,
        BFCL_ENDING,
    ),
}
"""Name of a template -> form."""


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
        A request that is no answer stands there to be read, not to be learnt.
    form : Form
    """

    tools: tuple[Mapping[str, Any], ...]
    required: Mapping[str, Sequence[str]]
    turns: tuple[ExampleTurn, ...]
    form: Form


@dataclass(frozen=True)
class Segment:
    """A stretch of the training text; an ``answer`` is what the model writes, with the newline behind it."""

    text: str
    answer: Answer | None = None


def ordered(call: Call, required: Sequence[str], rng: Random, shuffled_share: float) -> Call:
    """The call with its keys in the sequence in which the decoder writes them: required ones, then optional ones.

    Each of the two groups stands in random order with probability ``shuffled_share``, else in that of the call, which
    is the documentation's.
    """
    first = [key for key in call.arguments if key in required]
    then = [key for key in call.arguments if key not in required]
    for keys in (first, then):
        if rng.random() < shuffled_share:
            rng.shuffle(keys)
    return Call(call.name, {key: call.arguments[key] for key in [*first, *then]})


def segments(example: Example, rng: Random, shuffled_share: float = 0.5) -> list[Segment]:
    """The text to learn, up to and including its last answer, cut into answers and what stands between them.

    The joined text is the prompt of the last answer, the answer and a newline.
    """
    form = example.form
    out: list[Segment] = []
    lines: list[str] = []
    for turn in example.turns:
        if not isinstance(turn, Answer):
            lines += dialogue_lines([turn], form.call_format, form.labels)
            continue
        following = "".join(line + "\n" for line in lines) + form.ending
        out.append(Segment(following if out else form.prompt(example.tools, lines)))
        calls = tuple(ordered(c, example.required[c.name], rng, shuffled_share) for c in turn.calls)
        written = form.call_format.render(calls) if calls else turn.refusal
        out.append(Segment(written + "\n", Answer(calls, turn.refusal)))
        lines = []
    return out
