"""How models mark the thinking that they write before their answer."""

import re
from typing import Final, NamedTuple


class Thinking(NamedTuple):
    """A pair of marks around a model's thinking.

    Attributes
    ----------
    opening, closing : str
    behind : str
        What the model writes between its thinking and its answer.
    """

    opening: str
    closing: str
    behind: str


class Answer(NamedTuple):
    """A model's text without marks, in its two parts."""

    thinking: str
    content: str


NO_ANSWER: Final = Answer("", "")
"""No free text."""

_CHANNELS: Final = Thinking("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant")

THINKING: Final = (
    Thinking("<think>", "</think>", "\n\n"),  # Qwen 3, DeepSeek, GLM, MiniMax, Kimi, SmolLM3
    Thinking("[THINK]", "[/THINK]", ""),  # Magistral
    Thinking("<|channel>thought", "<channel|>", ""),  # Gemma 4
    Thinking("<|START_THINKING|>", "<|END_THINKING|>", ""),  # Command
    _CHANNELS,  # gpt-oss
)

MARKS: Final = (
    "<think>", "</think>", "[THINK]", "[/THINK]", "<|channel>", "<channel|>", "<|START_THINKING|>", "<|END_THINKING|>",
    "<|channel|>", "<|message|>", "<|end|>", "<|start|>",
)  # fmt: skip
"""Marks that models have as tokens of their own."""

_HEADERS: Final = (
    "<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary<|message|>", "<|end|>",
)  # fmt: skip
"""What gpt-oss writes around its messages."""

_HEADER: Final = re.compile("|".join(map(re.escape, _HEADERS)))


def is_open(prompt: str) -> Thinking | None:
    """Return the thinking that the end of a prompt opens; None if it opens none."""
    end = prompt.rstrip()
    return next((pair for pair in THINKING if end.endswith(pair.opening)), None)


def split_thinking(text: str, opened: Thinking | None) -> Answer:
    """Split what a model wrote before its calls into thinking and content, without marks and outer newlines.

    ``opened``: the thinking that the prompt has opened already.
    """
    thoughts: list[str] = []
    rest = text
    while True:
        begun = rest.lstrip()
        if thoughts:
            begun = begun.removeprefix(_CHANNELS.behind)
        pair = opened or next((pair for pair in THINKING if begun.startswith(pair.opening)), None)
        if pair is None:
            break
        thought, closing, rest = (rest if opened else begun.removeprefix(pair.opening)).partition(pair.closing)
        thoughts.append(thought.strip("\n"))
        opened = None
        if not closing:
            break
    content = _HEADER.sub("", rest) if "<|" in rest else rest
    return Answer("\n".join(thoughts), content.strip("\n") if thoughts else content.rstrip("\n"))


def without_begun_header(text: str) -> str:
    """Return a text that still grows up to where a header begins that is not whole: it is no content then."""
    headers = (*_HEADERS, _CHANNELS.opening)
    begun = (size for header in headers for size in range(1, len(header)) if text.endswith(header[:size]))
    return text[: len(text) - max(begun, default=0)]
