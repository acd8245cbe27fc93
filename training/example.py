"""A training example, and its text in the prompt templates that ``eval`` and ``decode`` use."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Protocol

from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.dialogue import LineLabels, ToolRequest, ToolResponse, Utterance, dialogue_lines
from tooldecoding.prompts.prompts import API_BANK_ENDING, BFCL_ENDING, BFCL_LABELS, api_bank_prompt, bfcl_prompt
from training.answer import Answer, Piece, line_pieces
from training.chat import HERMES

ExampleTurn = Utterance | ToolRequest | ToolResponse | Answer


class PromptTemplate(Protocol):
    """How examples are written as text."""

    @property
    def name(self) -> str:
        """Its key in ``TEMPLATES``."""

    @property
    def parallel(self) -> bool:
        """Whether an answer may have several calls."""

    @property
    def typed(self) -> bool:
        """Whether values have types; otherwise all are texts."""

    def turns(self, turns: Sequence[ExampleTurn]) -> Iterable[ExampleTurn]:
        """Return the turns with an ``Answer`` for all that the model writes."""

    def context(self, tools: Sequence[Mapping[str, Any]] | None, turns: Sequence[ExampleTurn]) -> str:
        """Return the text between two answers; ``tools`` are given before the first one."""

    def pieces(self, answer: Answer) -> Iterable[Piece]:
        """Return the text of an answer, with its end, in pieces."""


@dataclass(frozen=True)
class LineTemplate:
    """A template whose turns are lines.

    Attributes
    ----------
    name : str
    call_format : CallFormat
    labels : LineLabels
        How the lines of the dialogue begin.
    ending : str
        The beginning of the line that the model completes.
    prompt : callable
        Documented tools and lines of the dialogue -> the prompt.
    """

    name: str
    call_format: CallFormat
    labels: LineLabels
    ending: str
    prompt: Callable[[Sequence[Mapping[str, Any]], Sequence[str]], str]

    @property
    def parallel(self) -> bool:
        """Whether an answer may have several calls."""
        return self.call_format.parallel

    @property
    def typed(self) -> bool:
        """Whether values have types."""
        return self.call_format.notation != "quoted"

    def turns(self, turns: Sequence[ExampleTurn]) -> Sequence[ExampleTurn]:
        """Return the turns as they are: the model completes its line with nothing but calls and refusals."""
        return turns

    def context(self, tools: Sequence[Mapping[str, Any]] | None, turns: Sequence[ExampleTurn]) -> str:
        """Return the text between two answers; ``tools`` are given before the first one."""
        said = [turn for turn in turns if not isinstance(turn, Answer)]
        lines = dialogue_lines(said, self.call_format, self.labels)
        return "".join(line + "\n" for line in lines) + self.ending if tools is None else self.prompt(tools, lines)

    def pieces(self, answer: Answer) -> Iterator[Piece]:
        """Yield the text of an answer, with its newline."""
        return line_pieces(answer, self.call_format)


def _api_bank(tools: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    return api_bank_prompt("\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools), lines)


def _bfcl(tools: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> str:
    return bfcl_prompt(json.dumps(list(tools), indent=4, ensure_ascii=False), lines)


TEMPLATES: Mapping[str, PromptTemplate] = {
    "api-bank": LineTemplate("api-bank", CALL_FORMATS["api-bank"], LineLabels(), API_BANK_ENDING, _api_bank),
    "bfcl": LineTemplate("bfcl", CALL_FORMATS["pythonic"], BFCL_LABELS, BFCL_ENDING, _bfcl),
    "hermes": HERMES,
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
    """A stretch of the training text; if ``answer`` is set, the model writes it, with what ends its turn.

    ``pieces`` are an answer's text with the kinds of its tokens.
    """

    text: str
    answer: Answer | None = None
    pieces: Sequence[Piece] = ()


def answer_segment(answer: Answer, template: PromptTemplate) -> Segment:
    """Return the segment of an answer."""
    pieces = tuple(template.pieces(answer))
    return Segment("".join(text for text, _ in pieces), answer, pieces)


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

    Joined, the segments are the prompt of the last answer, that answer and what ends it.
    """
    template = example.template
    out: list[Segment] = []
    waiting: list[ExampleTurn] = []
    for turn in template.turns(example.turns):
        if not isinstance(turn, Answer):
            waiting.append(turn)
            continue
        out.append(Segment(template.context(None if out else example.tools, waiting)))
        calls = tuple(ordered(c, example.required[c.name], rng, shuffled_share) for c in turn.calls)
        out.append(answer_segment(replace(turn, calls=calls), template))
        waiting = []
    return out
