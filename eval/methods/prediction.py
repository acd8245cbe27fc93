"""What a method wrote for one sample, and what of it is scored: calls as the benchmark writes them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from eval.options import EvalOptions
from lookup.dictionary import LookupDictionary
from lookup.errors import LiteralError
from lookup.grammar.literal_values import read_value, render_value
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.calls_reader import read_back
from tooldecoding.formats.cursor import UnreadableCallError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.result import finite
from voting import CandidateCall

_MOST_STARTS: Final = 256
"""Places in a text in which calls may begin."""

_ARGUMENTS: Final = ("arguments", "parameters")
"""What the arguments of a call are called."""


@dataclass(frozen=True)
class Prediction:
    """One prediction, as a row of ``predictions.jsonl`` without the columns that name the sample.

    ``text`` is empty if decoding failed; then ``error`` says why. ``candidates`` has a row of ``candidate_rows`` for
    each order, where there are orders; ``counters`` has ``forward_passes``, ``positions`` and what else the method
    counts. Prompts that were decoded together share the wall-clock ``seconds`` evenly. ``written`` is the method's own
    text, where it differs from what is scored. ``opening`` is how its calls begin, if not as the format's
    (``tooldecoding.formats.dialects.opening_of``). ``next_call_log_odds`` are those of ``DecodeResult``,
    ``name_confidences`` those of its calls. ``score`` says how sure its calls are: the product of their scores
    (``DecodedCall``), the geometric mean of the probabilities of a greedy answer's tokens, or the share of samples that
    are the same.
    """

    text: str
    candidates: Sequence[Mapping[str, Any]] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    written: str | None = None
    opening: str = ""
    next_call_log_odds: Sequence[float] = ()
    name_confidences: Sequence[float | None] = ()
    score: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The columns of a row."""
        optional = {
            "error": self.error,
            "written": None if self.written == self.text else self.written,
            "opening": self.opening or None,
            "next_call_log_odds": finite(self.next_call_log_odds) or None,
            "name_confidences": list(self.name_confidences) or None,
            "score": self.score,
            "candidates": list(self.candidates) or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"prediction": self.text, "seconds": self.seconds, **given, "counters": dict(self.counters)}


def candidate_rows(calls: Sequence[Sequence[CandidateCall]]) -> list[dict[str, Any]]:
    """Return a row for each candidate of each call, in the sequence of decoding, with all that a vote over them needs.

    ``eval.tuning.decoded_prompt.read_decoded`` reads them.
    """
    return [
        {
            "call": number,
            "name": candidate.name,
            "order": list(candidate.order),
            "text": candidate.text,
            "values": [
                {"key": v.key, "text": v.text, "logprob": v.logprob, "truncated": v.truncated, "tokens": v.tokens}
                | ({"why": v.why} if v.why else {})
                for v in candidate.values
            ],
        }
        for number, candidates in enumerate(calls)
        for candidate in candidates
    ]


@dataclass(frozen=True)
class ScoredText:
    """Turns what a method wrote in one format into what is scored, in the benchmark's.

    ``as_it_stands`` says that the text itself is scored, with what stands around its calls: where the prompt asks for
    the benchmark's format and nothing else. A chat model may also write text before its calls.
    """

    written: CallFormat
    scored: CallFormat
    as_it_stands: bool

    @classmethod
    def of(cls, settings: EvalOptions, call_format: str) -> "ScoredText":
        """Return what turns the predictions of a run into the benchmark's call format."""
        same = settings.format == call_format and settings.template != "chat"
        return cls(settings.call_format, CALL_FORMATS[call_format], same)

    def of_calls(self, text: str, calls: Sequence[Call]) -> str:
        """Return the calls that stand in a text as the benchmark writes them; the text itself if there are none."""
        return text if self.as_it_stands or not calls else self.scored.render(calls)

    def of_text(self, text: str, tools: LookupDictionary) -> str:
        """Return the calls that the format's reader finds at the end of a text; the text itself if it finds none."""
        if self.as_it_stands:
            return text
        return self.of_calls(text, read_calls(self.written, text, tools))


def with_calls(text: str, own: str, call_format: CallFormat, calls: Sequence[Call]) -> str:
    """Return a text that ends with its ``own`` calls, as they are written, with other calls in their place."""
    if not calls:
        return text
    return text.removesuffix(call_format.ending(text, own)) + call_format.ending(text, call_format.render(calls))


def read_calls(call_format: CallFormat, text: str, tools: LookupDictionary) -> list[Call]:
    """Return the calls at the end of a text, behind any other text; none if the format's reader finds none.

    Values are those of the documented types. A call of an unknown tool, or with an unknown key, is a call too.
    """
    ended = text.rstrip()
    for start in _starts(call_format, ended):
        try:
            found = read_back(call_format, ended[start:])
        except UnreadableCallError:
            continue
        return [Call(name, {k: _typed(call_format, tools, name, k, v) for k, v in pairs}) for name, pairs in found]
    return []


def read_leniently(text: str) -> list[Call]:
    """Return the calls that stand in a text as JSON objects, as a server with a forgiving parser finds them.

    They may stand bare, in fences, in tags or in lists, with any text around them. An object is a call if it has a name
    and an object of arguments; what is read is neither checked nor mended.
    """
    calls, place, reader = [], text.find("{"), json.JSONDecoder()
    for _ in range(_MOST_STARTS):
        if place < 0:
            break
        try:
            found, end = reader.raw_decode(text, place)
        except (ValueError, RecursionError):
            found, end = {}, place + 1
        arguments = next((found[key] for key in _ARGUMENTS if isinstance(found.get(key), dict)), None)
        if isinstance(found.get("name"), str) and arguments is not None:
            calls.append(Call(found["name"], arguments))
        else:
            end = place + 1
        place = text.find("{", end)
    return calls


def _starts(call_format: CallFormat, text: str) -> Iterator[int]:
    """Yield the places where what opens the calls begins."""
    opener = call_format.opener
    opening = next((mark for mark in call_format.marks if opener.startswith(mark)), opener[0])
    for found in islice(re.finditer(re.escape(opening), text), _MOST_STARTS):
        yield found.start()


def _typed(call_format: CallFormat, tools: LookupDictionary, name: str, key: str, value: Any) -> Any:
    """Return a value as the decoder would read it: readers do not know the documentation."""
    spec = next((p for p in tools[name].parameters if p.name == key), None) if name in tools else None
    if spec is None:
        return value
    try:
        return read_value(render_value(value, call_format.notation), spec, call_format.notation)
    except LiteralError:
        return value
