"""Ids of calls, in the form that a chat template takes.

Ids are unique in their conversation. They are counted, so that equal conversations have equal prompts.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

from tooldecoding.chat.messages import ToolCall


class IdForm(Enum):
    """What a template takes as an id.

    ``ANY`` text; ``NINE`` letters or digits, as Mistral's; ``NAMED``, as Kimi's, with the tool's name and the number of
    the call in the conversation; ``NUMBER``, as Cohere's, that number alone.
    """

    ANY = "any"
    NINE = "nine"
    NAMED = "named"
    NUMBER = "number"


_PATTERNS: Final = {
    IdForm.ANY: re.compile(".+", re.DOTALL),
    IdForm.NINE: re.compile(r"[a-zA-Z0-9]{9}"),
    IdForm.NUMBER: re.compile(r"[0-9]{1,9}"),
}


def new_ids(form: IdForm, earlier: Sequence[ToolCall], names: Sequence[str]) -> list[str]:
    """Return ids for new calls, by the names of their tools; ``earlier`` are the calls of the conversation."""
    used = {call.id for call in earlier}
    found: list[str] = []
    for number, name in enumerate(names, start=len(earlier)):
        found.append(_free(form, name, number, used))
        used.add(found[-1])
    return found


def template_ids(form: IdForm, calls: Sequence[ToolCall]) -> dict[str, str]:
    """Return the template's id for each id of a conversation: the same if the template takes it."""
    kept = {call.id for call in calls if _fits(form, call)}
    used, ids = set(kept), dict[str, str]()
    for number, call in enumerate(calls):
        ids[call.id] = call.id if call.id in kept else _free(form, call.name, number, used)
        used.add(ids[call.id])
    return ids


def _fits(form: IdForm, call: ToolCall) -> bool:
    if form is IdForm.NAMED:
        return re.fullmatch(rf"functions\.{re.escape(call.name)}:[0-9]{{1,9}}", call.id) is not None
    return _PATTERNS[form].fullmatch(call.id) is not None


def _free(form: IdForm, name: str, number: int, used: set[str]) -> str:
    """Return the first id from ``number`` on that is not used."""
    while (found := _spelled(form, name, number)) in used:
        number += 1
    return found


def _spelled(form: IdForm, name: str, number: int) -> str:
    match form:
        case IdForm.NAMED:
            return f"functions.{name}:{number}"
        case IdForm.NINE:
            return f"call{number:05}"
        case IdForm.NUMBER:
            return str(number)
        case IdForm.ANY:
            return f"call_{number:04}"
