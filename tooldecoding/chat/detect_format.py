"""Which call format a chat template writes: the one whose own text of a made-up call stands in what it wrote.

Templates write some values otherwise than models, and white space as they like, so the text is looked for as it stands
first, then without white space. If several formats' texts are there, the longest is it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lookup.grammar.literal_values import render_value
from lookup.grammar.notations import RawText
from tooldecoding.chat.probe import ANSWER, NAME
from tooldecoding.formats.call_format import ID, CallFormat
from tooldecoding.formats.known_formats import NATIVE_FORMATS
from tooldecoding.formats.pythonic import PYTHONIC

_BEFORE: Final = 120
"""Characters before the arguments in which a call begins."""

_SHOWN: Final = 240
"""Characters of a foreign text in a message."""

_LIST: Final = '[{"name": "'
"""The beginning of a JSON list of calls."""

_CANDIDATES: Final = (PYTHONIC, *NATIVE_FORMATS)
_SPACE: Final = re.compile(r"\s+")


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


def written_format(written: str, arguments: Mapping[str, Any], answered: Sequence[str]) -> Detected | None:
    """Return the format of the call in a rendered dialogue; None if it is in no known one.

    Parameters
    ----------
    written : str
        The dialogue.
    arguments : mapping
        Those of the call.
    answered : sequence of str
        The dialogue with the plain answer in the call's place, as the template writes it, and as the model goes on.
    """
    for space in (True, False):
        places = [n for n, character in enumerate(written) if space or not character.isspace()]
        text = "".join(written[n] for n in places)
        found = []
        for call_format in _CANDIDATES:
            # an end of turn tells formats with the same calls apart
            ends_turn = any(end in written for end in call_format.turn_ends)
            for spelling in call_format.spellings:
                place = re.search(_pattern(spelling, arguments, space), text)
                part = written[places[place.start()] : places[place.end() - 1] + 1] if place else ""
                if part and (call_format.marks or _alone(part, written, answered)):
                    found.append((len(part), ends_turn, call_format, part))
        if found:
            *_, call_format, part = max(found, key=lambda row: row[:2])
            return Detected(call_format, f"the chat template writes a call as {printable(part)}")
    return None


def instructed_format(text: str) -> Detected | None:
    """Return the only format that an instruction for tools describes; None if there is no such one.

    It shows all marks of a format and how a call is opened, or names the tag before a JSON list of calls, as that of
    Granite 3.3 does.
    """
    found = [f for f in NATIVE_FORMATS if f.marks and f.opener.rstrip(' "') in text and all(m in text for m in f.marks)]
    if not found and "JSON list" in text:
        lists = [(f, spelling) for f in NATIVE_FORMATS for spelling in f.spellings if _LIST in spelling.opener]
        found = [f for f, s in lists if s.marks and all(m in text for m in (s.opener.removesuffix(_LIST), *s.marks))]
    return Detected(found[0], "the chat template's instruction for tools shows it") if len(found) == 1 else None


def excerpt(written: str, arguments: Mapping[str, Any], answered: str) -> str:
    """Return a short printable form of the text around the call."""
    before = answered.partition(ANSWER["content"])[0]
    front = len(before) if written.startswith(before) else 0
    begin = min(written.find(text, front) for text in leaves(arguments)) - _BEFORE
    return printable(written[max(0, begin, front) :])


def leaves(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts and numbers of the arguments, those of inner objects too, which stand nowhere else."""
    found = []
    for value in arguments.values():
        found += leaves(value) if isinstance(value, Mapping) else [] if isinstance(value, bool) else [str(value)]
    return found


def _pattern(form: CallFormat, arguments: Mapping[str, Any], space: bool) -> str:
    """Return the pattern of the call in one spelling, with or without white space."""
    marks = {chr(number): value for number, value in enumerate(arguments.values(), start=ord(ID) + 1)}
    text = form.joined([form.call_text(NAME, [form.key(key) + m for key, m in zip(arguments, marks, strict=True)])])
    name = f'"name": "{NAME}", '
    texts = [text]
    if name in text and form.end.startswith("}}"):  # Hermes 2 Pro has the name last
        texts.append(text.replace(name, "").replace("}}", f"}}, {name[:-2]}}}"))
    patterns = [re.escape(each if space else _SPACE.sub("", each)) for each in texts]
    pattern = "|".join(patterns).replace(ID, "[a-zA-Z0-9]{9}")
    for mark, value in marks.items():
        spelled = (each if space else _SPACE.sub("", each) for each in _spellings(form, value))
        pattern = pattern.replace(mark, f"(?:{'|'.join(map(re.escape, spelled))})")
    return pattern


def _spellings(form: CallFormat, value: Any) -> list[str]:
    """Return what templates write for a value: its literal, or a text of it, in any quotes."""
    literal = render_value(value, form.notation)
    as_text = (json.dumps(value), str(value), value) if isinstance(value, str) else (json.dumps(value), str(value))
    if isinstance(form.notation, RawText):
        return [literal, *(render_value(text, form.notation) for text in as_text)]
    if form.notation in ("python", "python-lists", "python-json"):
        return [literal, *(f"{quote}{text}{quote}" for text in as_text for quote in "'\"")]
    return [literal]


def _alone(part: str, written: str, answered: Sequence[str]) -> bool:
    """Whether a call without marks is all that the assistant says; else it stands in marks that no format has."""
    said = [text.replace(ANSWER["content"], part) for text in answered]
    return _SPACE.sub("", written) in [_SPACE.sub("", text) for text in said]


def printable(text: str) -> str:
    """Return a short printable form of a text."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
