"""Decodes documents with models of arbitrary taste, and has all that is written judged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from formats.law.documents import Document
from formats.law.judges import Judged, Refused, judge_of
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import MARKS, TURN_ENDS, unreadable
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import Bias, RandomEngine, SyntheticDecoder

BIASES: Final[dict[str, Bias | None]] = {
    "random": None,
    "quotes": lambda t: 4.0 * any(c in t for c in b"'\"\\"),
    "never closes": lambda t: -9.0 * any(c in t for c in b"'\")]}<"),
    "brackets": lambda t: 5.0 * any(c in t for c in b"[{("),
    "digits": lambda t: 5.0 * any(c in t for c in b"0123456789-.eE"),
    "line ends and bytes": lambda t: 5.0 * (b"\n" in t or t[0] >= 0x80),
    "separators": lambda t: 5.0 * any(c in t for c in b",:= "),
    "tags": lambda t: 5.0 * any(c in t for c in b"</>|"),
    "space": lambda t: 6.0 * (not t.strip()),
    "special tokens": lambda t: 6.0 * (t[:1] == b"\xf3"),
}
"""What a model likes to write."""


@dataclass
class Tally:
    """What the judge of one format said: right calls, those excluded by reason, and those that it refused."""

    format: str
    documents: int = 0
    calls: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def refuse(self, why: str) -> None:
        """Note a refusal."""
        self.examples.append(f"{self.format}: {why}")


@cache
def decoders() -> tuple[SyntheticDecoder, SyntheticDecoder]:
    """One with a tokenizer that has no mark, and one whose tokenizer has all marks and ends of turns as tokens."""
    plain, marked = byte_level_tokenizer(), byte_level_tokenizer()
    marked.add_tokens([*dict.fromkeys([*MARKS, *TURN_ENDS])], special_tokens=True)
    return tuple(SyntheticDecoder(tiny_model("llama", len(t)), t) for t in (plain, marked))  # type: ignore[return-value]


def _judge(document: Document, number: int, call_format: CallFormat, tally: Tally) -> None:
    """Decode a document with both tokenizers, each time with another taste."""
    tally.documents += 1
    if reason := uncarried(document, call_format):
        tally.excluded[reason] += 1
        return
    tools = document.tools
    for place, decoder in enumerate(decoders()):
        bias = list(BIASES.values())[(number + place) % len(BIASES)]
        decoder.engine = RandomEngine(decoder.table.texts, number, bias)
        options = DecodeOptions(
            format=call_format.name,
            max_value_tokens=12,
            max_calls=2,
            order_limit=4 if number % 10 else 12,
        )
        try:
            [result] = decoder.run([Request(document.question + "\n", tools, options)])
        except DocumentationError as error:
            if "cannot be written in this call format" not in str(error):
                raise
            tally.excluded["a key or member of an enum that the notation cannot write"] += 1
            continue
        if not result.valid and not all("token limit" in error or "truncated" in error for error in result.errors):
            tally.refuse(f"{document.id}: {result.errors}")
        if decoder.table.special.shown(decoder.table.join(result.token_ids).decode()) != result.text:
            tally.refuse(f"{document.id}: {result.text!r}")
        for text, calls in texts(result, call_format):
            ask(Judged(call_format.name, text, calls, document.schemas), f"{document.id} {place}", tally)


def texts(result: DecodeResult, call_format: CallFormat) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """The voted text, and every candidate alone or behind the calls before it, with their calls."""
    voted = [(call.voted.name, call.voted.arguments) for call in result.calls]
    yield result.text, voted
    for number, call in enumerate(result.calls):
        before = [call_format.render_call(*earlier, n) for n, earlier in enumerate(voted[:number])]
        for candidate in call.candidates:
            values = {value.key: value.value for value in candidate.values}
            yield call_format.joined([*before, candidate.text]), [*voted[:number], (candidate.name, values)]


def ask(judged: Judged, place: str, tally: Tally) -> None:
    """Ask the judge of the format."""
    try:
        excluded = judge_of(judged.format)(judged)
    except Refused as error:
        tally.refuse(f"{place}: {error}")
        return
    if excluded:
        tally.excluded[excluded] += 1
    else:
        tally.calls += 1


def uncarried(document: Document, call_format: CallFormat) -> str:
    """Why the format cannot name the tools; empty if it can."""
    return "; ".join(unreadable(call_format, document.tools))


def check(documents: Sequence[Document], call_format: CallFormat) -> Tally:
    """Judge all documents in one format."""
    tally = Tally(call_format.name)
    for number, document in enumerate(documents):
        _judge(document, number, call_format, tally)
    return tally
