"""Examples as token ids, each token with its kind (``training.answer``)."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from training.answer import CONTEXT
from training.example import Segment


@dataclass(frozen=True)
class Encoded:
    """Token ids of one sequence and the kind of each token.

    ``continuations`` is empty for a single text. If several texts share a prefix, it says where each token belongs: 0
    for the prefix, 1 for the first text's continuation, 2 for the second's, and so on.
    """

    ids: list[int]
    kinds: list[int]
    continuations: Sequence[int] = ()


def encode_answer(part: Segment, tokenizer: PreTrainedTokenizerFast) -> Encoded:
    """Encode an answer; a token of several kinds counts as the last kind of the list."""
    kind_of = [kind for piece, kind in part.pieces for _ in piece]  # one for each character
    encoding = tokenizer.backend_tokenizer.encode(part.text, add_special_tokens=False)
    return Encoded(encoding.ids, [max(kind_of[a : max(b, a + 1)]) for a, b in encoding.offsets])


def encode(parts: Sequence[Segment], tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> Encoded | None:
    """Encode segments up to the last answer that fits into ``max_tokens``; return ``None`` if no answer fits."""
    ids: list[int] = []
    kinds: list[int] = []
    kept = 0
    for part in parts:
        if part.answer is None:
            new = tokenizer.backend_tokenizer.encode(part.text, add_special_tokens=False).ids
            encoded = Encoded(new, [CONTEXT] * len(new))
        else:
            encoded = encode_answer(part, tokenizer)
        ids += encoded.ids
        kinds += encoded.kinds
        if len(ids) > max_tokens:
            break
        if part.answer is not None:
            kept = len(ids)
    return Encoded(ids[:kept], kinds[:kept]) if kept else None


def encode_together(
    dialogues: Sequence[Sequence[Segment]], tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Encoded | None:
    """Encode dialogues that share their documentation, which is written once; drop or cut those that do not fit."""
    encoded = [encode(parts, tokenizer, max_tokens) for parts in dialogues]
    fitting = [(parts, e) for parts, e in zip(dialogues, encoded, strict=True) if e is not None]
    if len(fitting) < 2:
        return fitting[0][1] if fitting else None
    ids, kinds = fitting[0][1].ids, fitting[0][1].kinds
    shared = min(_common_context(ids, kinds, other.ids) for _, other in fitting[1:])
    continuations = [0] * shared + [1] * (len(ids) - shared)
    for parts, _ in fitting[1:]:
        other = encode(parts, tokenizer, max_tokens - len(ids) + shared)
        if other is not None and len(other.ids) > shared:
            ids, kinds = ids + other.ids[shared:], kinds + other.kinds[shared:]
            continuations += [continuations[-1] + 1] * (len(ids) - len(continuations))
    return Encoded(ids, kinds, continuations)


def _common_context(ids: Sequence[int], kinds: Sequence[int], other: Sequence[int]) -> int:
    """Count the tokens of context that both sequences begin with."""
    pairs = zip(ids, kinds, other, strict=False)
    return next((n for n, (a, kind, b) in enumerate(pairs) if a != b or kind != CONTEXT), min(len(ids), len(other)))
