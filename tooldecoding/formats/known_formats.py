"""All call formats, and which names of tools and keys each can carry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from lookup.dictionary import ToolSpec
from lookup.values.literal_values import render_value
from tooldecoding.formats.api_bank import API_BANK
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.pythonic import PYTHONIC
from tooldecoding.formats.reading import ReadCall, UnreadableCallError

CALL_FORMATS: Mapping[str, CallFormat] = {f.name: f for f in (API_BANK, PYTHONIC)}
"""Name -> format."""


def unread(call_format: CallFormat, text: str, calls: Sequence[Call]) -> str:
    """Return why the format's reader does not read the calls in their ``text``; empty if it does, value for value."""
    try:
        found = call_format.reader(text)
    except UnreadableCallError as error:
        reason = str(error)
    else:
        written = [(call.name, [*call.arguments.items()]) for call in calls]
        if _rendered(call_format, found) == _rendered(call_format, written):
            return ""
        reason = "it reads other names, keys or values"
    names = [part for call in calls for part in _uncarried(call_format, call.name, call.arguments)]
    cause = f"it cannot carry {'; '.join(dict.fromkeys(names))}" if names else reason
    return f"the reader of the format {call_format.name} does not read this call back: {cause}"


def unreadable(call_format: CallFormat, tools: Mapping[str, ToolSpec]) -> list[str]:
    """Return a line for each tool name or key that the format cannot carry, with the formats that can.

    This is known before decoding. Calls with other names and keys are read back whatever their values.
    """
    return [
        line
        for tool in tools.values()
        for line in _uncarried(call_format, tool.name, [p.name for p in tool.parameters])
    ]


def _rendered(call_format: CallFormat, calls: Iterable[ReadCall]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return calls with their values as text, which tells types apart, but not tuples from arrays."""
    return [(name, [(key, render_value(value, call_format.notation)) for key, value in pairs]) for name, pairs in calls]


def _uncarried(call_format: CallFormat, tool: str, keys: Iterable[str]) -> Iterator[str]:
    parts = [(f"the tool name {tool!r}", (tool, None)), *((f"the key {k!r} of {tool}", ("f", k)) for k in keys)]
    for what, (name, key) in parts:
        if not _carries(call_format, name, key):
            able = [other.name for other in CALL_FORMATS.values() if _carries(other, name, key)]
            yield f"{what} ({', '.join(able) or 'no format'} can carry it)"


@lru_cache(maxsize=1 << 16)
def _carries(call_format: CallFormat, name: str, key: str | None) -> bool:
    """Whether the format's reader reads a tool's name, and a key if there is one, as they are."""
    arguments = {} if key is None else {key: "value"}
    try:
        return call_format.reader(call_format.render([Call(name, arguments)])) == [(name, [*arguments.items()])]
    except UnreadableCallError:
        return False
