"""Examples as token ids, each with what it is: context, the form of a call, its name or a value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from lookup.values.literal_values import render_value
from tooldecoding.formats.call_format import CallFormat
from training.example import Answer, Segment

CONTEXT, FORM, KEY, NAME, VALUE = range(5)
"""What a token is.

``FORM`` is what stands around names, keys and values; it also holds refusals. A value's closing quote belongs to the
value, its opening one does not.
"""


@dataclass(frozen=True)
class Encoded:
    """Token ids of one sequence and, per token, what it is.

    ``members`` is empty for a sequence that stands alone. Where several share a beginning, it tells their tokens apart:
    0 for the beginning, 1 for what the first one goes on with, 2 for what the second one does, and so on.
    """

    ids: list[int]
    kinds: list[int]
    members: Sequence[int] = ()


def pieces(answer: Answer, form: CallFormat) -> Iterator[tuple[str, int]]:
    """The text of an answer in pieces, each with what its tokens are."""
    if not answer.calls:
        yield answer.refusal, FORM
        return
    for number, call in enumerate(answer.calls):
        yield form.separator if number else form.opener, FORM
        yield call.name, NAME
        yield form.bracket, FORM
        for index, (key, value) in enumerate(call.arguments.items()):
            if index:
                yield form.separator, FORM
            yield form.key(key), KEY
            literal = render_value(value, form.notation)
            if literal[0] in "'\"":
                yield literal[0], FORM
                literal = literal[1:]
            yield literal, VALUE
        yield form.end, FORM
    yield form.closer, FORM


def encode_answer(text: str, answer: Answer, form: CallFormat, tokenizer: PreTrainedTokenizerFast) -> Encoded:
    """An answer's text (with its newline): a token that holds several things is of the last kind among them."""
    marks = bytearray(len(text))
    at = 0
    for piece, kind in pieces(answer, form):
        marks[at : at + len(piece)] = bytes([kind]) * len(piece)
        at += len(piece)
    marks[at:] = bytes([FORM]) * (len(text) - at)
    encoding = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    return Encoded(encoding.ids, [max(marks[a : max(b, a + 1)]) for a, b in encoding.offsets])


def encode(
    parts: Sequence[Segment], form: CallFormat, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Encoded | None:
    """Encode segment by segment, up to the last answer that fits; ``None`` if not even the first does."""
    ids: list[int] = []
    kinds: list[int] = []
    kept = 0
    for part in parts:
        if part.answer is None:
            new = tokenizer.backend_tokenizer.encode(part.text, add_special_tokens=False).ids
            encoded = Encoded(new, [CONTEXT] * len(new))
        else:
            encoded = encode_answer(part.text, part.answer, form, tokenizer)
        ids += encoded.ids
        kinds += encoded.kinds
        if len(ids) > max_tokens:
            break
        if part.answer is not None:
            kept = len(ids)
    return Encoded(ids[:kept], kinds[:kept]) if kept else None


def encode_together(
    dialogues: Sequence[Sequence[Segment]], form: CallFormat, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Encoded | None:
    """Dialogues about the same documentation, which is there once; those that do not fit are left out or cut."""
    encoded = [encode(parts, form, tokenizer, max_tokens) for parts in dialogues]
    fitting = [(parts, e) for parts, e in zip(dialogues, encoded, strict=True) if e is not None]
    if len(fitting) < 2:
        return fitting[0][1] if fitting else None
    ids, kinds = fitting[0][1].ids, fitting[0][1].kinds
    shared = min(_common(ids, kinds, other.ids) for _, other in fitting[1:])
    members = [0] * shared + [1] * (len(ids) - shared)
    for parts, _ in fitting[1:]:
        other = encode(parts, form, tokenizer, max_tokens - len(ids) + shared)
        if other is not None and len(other.ids) > shared:
            ids, kinds = ids + other.ids[shared:], kinds + other.kinds[shared:]
            members += [members[-1] + 1] * (len(ids) - len(members))
    return Encoded(ids, kinds, members)


def _common(ids: Sequence[int], kinds: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens of context both begin with."""
    pairs = zip(ids, kinds, other, strict=False)
    return next((n for n, (a, kind, b) in enumerate(pairs) if a != b or kind != CONTEXT), min(len(ids), len(other)))
