"""Decodes documents with models of arbitrary taste, and has all that is written judged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from formats.law.documents import Document
from formats.law.judges import Judged, ask
from lookup.errors import DocumentationError
from synthetic import Bias, Ending, closing_mark, synthetic
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import unreadable
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import sound

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


KINDS: Final = ("byte level", "marks")
"""A tokenizer that has no mark, and one that has all marks and ends of turns as tokens."""


def check(documents: Sequence[Document], call_format: CallFormat) -> Counter[str]:
    """Decode documents with both tokenizers, each time with another taste, and have all that is written judged.

    Returns why judges were not asked -> how often; empty for what they found right.
    """
    counts = Counter[str]()
    for number, document in enumerate(documents):
        if reason := uncarried(document, call_format):
            counts[reason] += 1
            continue
        for place, decoder in enumerate(map(synthetic, KINDS)):
            bias = list(BIASES.values())[(number + place) % len(BIASES)]
            mark = closing_mark(call_format, decoder.table)
            decoder.engine = Ending(decoder.table.texts, number, bias, mark)
            orders = 4 if number % 10 else 12
            options = DecodeOptions(format=call_format.name, max_value_tokens=60, max_calls=2, order_limit=orders)
            try:
                [result] = decoder.run([Request(document.question + "\n", document.tools, options)])
            except DocumentationError as error:
                if "cannot be written in this call format" not in str(error):
                    raise
                counts["a key or member of an enum that the notation cannot write"] += 1
                continue
            assert sound(result), f"{document.id}: {result.errors}"
            assert decoder.table.special.shown(decoder.table.join(result.token_ids).decode()) == result.text
            for text, calls in texts(result, call_format):
                counts[ask(Judged(call_format.name, text, calls, document.schemas))] += 1
    return counts


def texts(result: DecodeResult, call_format: CallFormat) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """The voted text, and every candidate alone or behind the calls before it, with their calls; none that is cut."""
    voted = [(call.voted.name, call.voted.arguments) for call in result.calls]
    if not any(call.cut for call in result.calls):
        yield result.text, voted
    for number, call in enumerate(result.calls):
        before = [call_format.render_call(*earlier, n) for n, earlier in enumerate(voted[:number])]
        for candidate in call.candidates:
            if any(value.truncated for value in candidate.values):
                continue
            values = {value.key: value.value for value in candidate.values}
            yield call_format.joined([*before, candidate.text]), [*voted[:number], (candidate.name, values)]


def uncarried(document: Document, call_format: CallFormat) -> str:
    """Why the format cannot name the tools; empty if it can."""
    return "; ".join(unreadable(call_format, document.tools))
