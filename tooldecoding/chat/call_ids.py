"""Ids of calls, in the form that a chat template takes.

A new id is drawn, so that it is unique in the world, as OpenAI's are; only templates that count their calls get the
number. Where a template cannot take the id of another program, it gets a counted one, so that equal conversations have
equal prompts.
"""

import re
import string
from collections.abc import Callable, Sequence
from enum import Enum
from random import Random, SystemRandom
from typing import Final

from tooldecoding.chat.messages import ToolCall


class IdForm(Enum):
    """What a template takes as an id.

    ``ANY`` text, as OpenAI's; ``NINE`` letters or digits, as Mistral's; ``NAMED``, as Kimi's, with the tool's name and
    the number of the call in the conversation; ``NUMBER``, as Cohere's, that number alone.
    """

    ANY = "any"
    NINE = "nine"
    NAMED = "named"
    NUMBER = "number"


SOURCE: Random = SystemRandom()
"""What ids are drawn from; tests may seed it."""

_LETTERS: Final = string.ascii_letters + string.digits

_DRAWN: Final = {IdForm.ANY: ("call_", 24), IdForm.NINE: ("", 9)}
"""What a new id begins with, and how many letters follow."""

_COUNTED: Final = {
    IdForm.ANY: "call_{number:04}",
    IdForm.NINE: "call{number:05}",
    IdForm.NAMED: "functions.{name}:{number}",
    IdForm.NUMBER: "{number}",
}


def new_ids(form: IdForm, earlier: Sequence[ToolCall], names: Sequence[str]) -> list[str]:
    """Return ids for new calls, by the names of their tools; ``earlier`` are the calls of the conversation."""
    used = {call.id for call in earlier}
    found: list[str] = []
    for number, name in enumerate(names, start=len(earlier)):
        found.append(_free(_drawn, form, name, number, used))
        used.add(found[-1])
    return found


def template_ids(form: IdForm, calls: Sequence[ToolCall]) -> dict[str, str]:
    """Return the template's id for each id of a conversation: the same if the template takes it."""
    kept = {call.id for call in calls if _fits(form, call)}
    used, ids = set(kept), dict[str, str]()
    for number, call in enumerate(calls):
        ids[call.id] = call.id if call.id in kept else _free(_counted, form, call.name, number, used)
        used.add(ids[call.id])
    return ids


def _fits(form: IdForm, call: ToolCall) -> bool:
    patterns = {
        IdForm.ANY: "(?s:.+)",
        IdForm.NINE: "[a-zA-Z0-9]{9}",
        IdForm.NAMED: rf"functions\.{re.escape(call.name)}:[0-9]{{1,9}}",
        IdForm.NUMBER: "[0-9]{1,9}",
    }
    return re.fullmatch(patterns[form], call.id) is not None


def _free(spelled: Callable[[IdForm, str, int], str], form: IdForm, name: str, number: int, used: set[str]) -> str:
    """Return the first id from ``number`` on that is not used."""
    while (found := spelled(form, name, number)) in used:
        number += 1
    return found


def _drawn(form: IdForm, name: str, number: int) -> str:
    if form not in _DRAWN:
        return _counted(form, name, number)
    beginning, letters = _DRAWN[form]
    return beginning + "".join(SOURCE.choices(_LETTERS, k=letters))


def _counted(form: IdForm, name: str, number: int) -> str:
    return _COUNTED[form].format(name=name, number=number)
