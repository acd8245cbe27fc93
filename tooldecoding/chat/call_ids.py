"""Ids of calls, in the form that a chat template takes.

A new id is drawn, so that it is unique in the world, as OpenAI's are; only templates that count their calls get the
number. Where a template cannot take the id of another program, it gets a counted one, so that equal conversations have
equal prompts.
"""

import re
import string
from collections.abc import Mapping, Sequence
from random import SystemRandom
from typing import Final, Literal

from tooldecoding.chat.calls import ToolCall

IdForm = Literal["any", "nine", "named", "number"]
"""What a template takes as an id.

``any`` text, as OpenAI's; ``nine`` letters or digits, as Mistral's; ``named``, as Kimi's, with the tool's name and the
number of the call in the conversation; ``number``, as Cohere's, that number alone.
"""

_SOURCE: Final = SystemRandom()

_LETTERS: Final = string.ascii_letters + string.digits

_DRAWN: Final[Mapping[IdForm, tuple[str, int]]] = {"any": ("call_", 24), "nine": ("", 9)}
"""What a new id begins with, and how many letters follow; other forms have counted ids only."""

_COUNTED: Final[Mapping[IdForm, tuple[str, str]]] = {
    "any": ("call_{number:04}", "(?s:.+)"),
    "nine": ("call{number:05}", "[a-zA-Z0-9]{9}"),
    "named": ("functions.{name}:{number}", r"functions\.{name}:[0-9]{{1,9}}"),
    "number": ("{number}", "[0-9]{1,9}"),
}
"""A counted id, and the pattern of those that the template takes."""


def new_id(form: IdForm, earlier: Sequence[ToolCall], name: str) -> str:
    """Return the id of a new call, by the name of its tool; ``earlier`` are the calls of the conversation."""
    return _free(form, name, len(earlier), {call.id for call in earlier}, *_DRAWN.get(form, ()))


def template_ids(form: IdForm, calls: Sequence[ToolCall]) -> list[str]:
    """Return the template's id of each call of a conversation: its own if the template takes it.

    An id that comes again, such as ``call_0`` in each turn, is that of its first call alone.
    """
    used = {call.id for call in calls if _fits(form, call)}
    kept: set[str] = set()
    ids = []
    for number, call in enumerate(calls):
        keeps = call.id not in kept and _fits(form, call)
        ids.append(call.id if keeps else _free(form, call.name, number, used))
        kept.add(ids[-1])
    return ids


def _fits(form: IdForm, call: ToolCall) -> bool:
    pattern = _COUNTED[form][1]
    if form == "named":
        pattern = pattern.format(name=re.escape(call.name))
    return re.fullmatch(pattern, call.id) is not None


def _free(form: IdForm, name: str, number: int, used: set[str], beginning: str = "", letters: int = 0) -> str:
    """Return the first id from ``number`` on, or drawn one, that is not used, and add it to those."""
    while True:
        drawn = beginning + "".join(_SOURCE.choices(_LETTERS, k=letters))
        found = drawn if letters else _COUNTED[form][0].format(name=name, number=number)
        if found not in used:
            used.add(found)
            return found
        number += 1
