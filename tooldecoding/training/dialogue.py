"""Training dialogues as data, and their rendering in API-Bank's prompt shape."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tooldecoding.call_format import CALL_FORMATS, Call
from tooldecoding.prompts import api_bank_prompt

CALL_PREFIX = "API-Request: "


@dataclass(frozen=True)
class Line:
    """One line of the dialogue that is not a call: ``User: …``, ``AI: …``, ``API-Response: …``."""

    text: str


@dataclass(frozen=True)
class TrainingDialogue:
    """Tools (one API-Bank description object each) and the turns of a dialogue about them."""

    tools: tuple[Mapping[str, Any], ...]
    turns: tuple[Line | Call, ...]


@dataclass(frozen=True)
class Segment:
    """A stretch of the training text; ``is_call`` marks ``[Name(…)]`` with the newline after it."""

    text: str
    is_call: bool


def render_call(call: Call, keys: Sequence[str] | None = None) -> str:
    """``[Name(key1='v1', key2='v2')]`` with the keys in the given order (their own order by default)."""
    ordered = {key: call.arguments[key] for key in keys or call.arguments}
    return CALL_FORMATS["api-bank"].render([Call(call.name, ordered)])


def draw_keys(call: Call, rng: Random, shuffled_share: float) -> list[str]:
    """The call's keys, in random order with probability ``shuffled_share``, else in documentation order."""
    keys = list(call.arguments)
    if rng.random() < shuffled_share:
        rng.shuffle(keys)
    return keys


def segments(dialogue: TrainingDialogue, rng: Random, shuffled_share: float = 0.5) -> list[Segment]:
    """The text to learn, up to and including its last call, cut into call and other segments.

    The joined text is ``api_bank_prompt(documentation, turns before the last call)`` + last call + newline.
    """
    documentation = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in dialogue.tools)
    out: list[Segment] = []
    lines: list[str] = []
    for turn in dialogue.turns:
        if isinstance(turn, Line):
            lines.append(turn.text)
            continue
        following = "".join(line + "\n" for line in lines) + CALL_PREFIX
        out.append(Segment(following if out else api_bank_prompt(documentation, lines), False))
        out.append(Segment(render_call(turn, draw_keys(turn, rng, shuffled_share)) + "\n", True))
        lines = []
    return out
