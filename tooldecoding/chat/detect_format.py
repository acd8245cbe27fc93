"""Which call format a model was trained on: the one that its chat template writes.

The template renders a dialogue with a made-up call. The formats' readers say what is a call: the format whose reader
finds exactly this call in the text is the one, the longest text if several do. So every spelling that a reader takes
is recognised: ids, other spaces, Mistral's and harmony's forms for the history.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lookup.values.notations import RawText
from tooldecoding.chat.probe import NAME, SYSTEM, USER, Probe, Written, leaves
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import NATIVE_FORMATS
from tooldecoding.formats.pythonic import PYTHONIC
from tooldecoding.formats.reading import ReadCall, UnreadableCallError

_BEFORE, _BEHIND = 300, 150
"""Characters around the arguments in which a call begins and ends."""

_SHOWN: Final = 240
"""Characters of a foreign text in a message."""

_CANDIDATES: Final = (PYTHONIC, *NATIVE_FORMATS)
_BEGINNINGS: Final = "<[{ "
_ENDS: Final = ">]})"


class Detected(NamedTuple):
    """A format, and the text that shows it.

    Attributes
    ----------
    call_format : CallFormat
    reason : str
        A sentence without a full stop.
    """

    call_format: CallFormat
    reason: str


def detect(probe: Probe) -> Detected | str:
    """Return the format that a chat template writes, or why it is unknown, with what it wrote."""
    first = ""
    for written in probe.writings():
        found = written_format(written)
        if found is not None:
            return found
        first = first or _excerpt(written)
    instructions = (probe.write([*system, USER], ending=False) for system in ([], [SYSTEM]))
    instructed = _instructed(next(filter(None, instructions), ""))
    if instructed is not None:
        return Detected(instructed, "the chat template's instruction for tools shows it")
    if first:
        return f"the model's chat template writes calls in no known format: {_shown(first)}"
    if probe.refusals and not probe.takes_calls:
        return f"the model's chat template refuses a dialogue with a call: {_shown(probe.refusals[0])}"
    return "the model's chat template does not write calls of earlier turns"


def written_format(written: Written) -> Detected | None:
    """Return the format of the call in a rendered dialogue; None if no reader reads it."""
    begin, end = _place(written)
    around = _name_first(written.text[begin:end])
    text = written.text[:begin] + around + written.text[end:]
    found = [(f, part) for f in _CANDIDATES for part in _parts(f, around, written._replace(text=text))]
    if not found:
        found = [(f, part) for f in NATIVE_FORMATS if f.marks for part in _parts(f, _respaced(f, around), written)]
    if not found:
        return None
    call_format, part = max(found, key=lambda row: (len(row[1]), _ends_turn(row[0], written)))
    return Detected(call_format, f"the chat template writes a call as {_shown(part)}")


def _ends_turn(call_format: CallFormat, written: Written) -> bool:
    """Whether an end of turn of the format stands in the text: it tells formats with the same calls apart."""
    return any(end in written.text for end in call_format.turn_ends)


def _parts(call_format: CallFormat, text: str, written: Written) -> Iterator[str]:
    """Yield the longest text in ``text`` that the format's reader reads as the call; nothing if there is none."""
    ends = [n for n in range(len(text), 0, -1) if text[n - 1] in _ENDS]
    for start in (n for n, character in enumerate(text) if character in _BEGINNINGS):
        for end in (n for n in ends if n > start):
            part = text[start:end]
            if _reads(call_format, part, written) and (call_format.marks or _alone(part, written)):
                yield part
                return


def _reads(call_format: CallFormat, text: str, written: Written) -> bool:
    try:
        calls = call_format.reader(text)
    except UnreadableCallError:
        return False
    return len(calls) == 1 and _is_probe(calls[0], call_format, written.arguments)


def _is_probe(call: ReadCall, call_format: CallFormat, arguments: Mapping[str, Any]) -> bool:
    name, pairs = call
    if name != NAME or len(pairs) != len(arguments) or dict(pairs).keys() != arguments.keys():
        return False
    as_text = isinstance(call_format.notation, RawText) or call_format.notation in (
        "python",
        "python-lists",
        "python-json",
    )
    return all(value == arguments[key] or (as_text and value in _spellings(arguments[key])) for key, value in pairs)


def _spellings(value: Any) -> tuple[str, str]:
    """Return the texts that templates write for a value that they do not write as a literal."""
    return json.dumps(value), str(value)


def _alone(part: str, written: Written) -> bool:
    """Whether a call without marks is all that the assistant says; else it stands in marks that no format has."""
    before, found, behind = written.text.partition(part)
    fronts = written.before.rstrip(), written.prompt.rstrip()
    return bool(found) and before.rstrip() in fronts and behind.lstrip() == written.behind.lstrip()


def _place(written: Written) -> tuple[int, int]:
    """Return where the call stands: around the texts of its arguments."""
    texts = leaves(written.arguments)
    begin = min(written.text.find(text) for text in texts)
    end = max(written.text.rfind(text) + len(text) for text in texts)
    return max(0, begin - _BEFORE), min(len(written.text), end + _BEHIND)


def _respaced(call_format: CallFormat, text: str) -> str:
    """Return the text with the white space of the format in and around its marks, which templates write otherwise."""
    for piece in (call_format.opener, call_format.end + call_format.closer):
        text = re.sub(_any_space(piece, call_format.marks), lambda _, piece=piece: piece, text)  # type: ignore[misc]
    return text


def _any_space(piece: str, marks: Sequence[str]) -> str:
    """Return a pattern of a piece with any white space, or none, at white space and around marks."""
    parts = re.split(rf"\s+|({'|'.join(map(re.escape, marks))})", piece)
    return r"\s*".join(re.escape(part) for part in parts if part)


def _name_first(text: str) -> str:
    """Return the text with the name in front in JSON calls that have it last; Hermes 2 Pro writes them so."""
    for opening in re.finditer(r"\{\s*\"arguments\"", text):
        try:
            call, end = json.JSONDecoder().raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        if list(call) == ["arguments", "name"]:
            named = json.dumps({"name": call["name"], "arguments": call["arguments"]}, ensure_ascii=False)
            return text[: opening.start()] + named + text[end:]
    return text


def _instructed(text: str) -> CallFormat | None:
    """Return the only format whose marks and whose way to open a call stand in a text; None if there is no such one."""
    found = [f for f in NATIVE_FORMATS if f.marks and f.opener.rstrip(' "') in text and all(m in text for m in f.marks)]
    return found[0] if len(found) == 1 else None


def _excerpt(written: Written) -> str:
    begin, end = _place(written)
    before = written.text.find(written.before) + len(written.before) if written.before else begin
    return written.text[max(begin, before) : end]


def _shown(text: str) -> str:
    """Return a short printable form of a text."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
