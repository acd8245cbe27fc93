"""What is not permitted sways no choice, however the tokenizer joins the end of a value, a call and a list."""

import itertools
from collections.abc import Sequence

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tiny_models import tiny_model
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine
from tools import lookup, parameter, tool

PROMPT = "API-Request: "
TOOLS = lookup(
    tool("f", parameter("a", "str"), parameter("b", "str", required=False), parameter("c", "str", required=False))
)
WANTED = {
    "api-bank": ["[f(a='x')]", "[f(a='x', b='y')]", "[f(a='x', b='y', c='z')]"],
    "pythonic": ["[f(a='x')]", "[f(a='x', c='z')]", "[f(a='x'), f(a='y', b='x')]", "[f(a='x'), f(a='y'), f(a='z')]"],
}


def tokenizer(merges: tuple[tuple[str, str], ...]) -> PreTrainedTokenizerFast:
    """Byte-level BPE with these merges, as far as their parts are there."""
    words = dict.fromkeys(pre_tokenizers.ByteLevel.alphabet())
    kept = []
    for left, right in merges:
        if left in words and right in words:
            words[left + right] = None
            kept.append((left, right))
    made = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=kept))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made)


ASTRAY = {
    "": ["", "Sorry.", " I"],
    "[": ["get(x", "[f("],
    "[f": ["oo(a='x')]", "]"],
    "[f(a=": ["None)]", "1, b", '"x")]'],
    "[f(a='x'": [" + 'y')]", "\n"],
    "[f(a='x', b=": ["b)]", "None)]"],
}
"""What no call may hold behind its beginnings."""


class Wishes(SyntheticEngine):
    """A model of texts with weights, in the tokenizer's own tokens; of all else, it takes what is longest."""

    def __init__(self, texts: Sequence[bytes | None], weights: dict[tuple[int, ...], float], can_drop: bool) -> None:
        super().__init__(can_drop)
        self._lengths = torch.tensor([float(len(text or b"")) for text in texts])
        self._weights = weights

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        shares = torch.exp(self._lengths - 20)
        for wish, weight in self._weights.items():
            if wish[: len(tokens)] == tokens and len(wish) > len(tokens):
                shares[wish[len(tokens)]] += weight
        return NextTokenLogits(shares.log())


@pytest.mark.parametrize("can_drop", [True, False])
def test_wishes_that_are_not_permitted_leave_no_trace(can_drop: bool) -> None:
    merges = [("=", "'"), ("f", "("), ("Ġ", "["), ("[", "f"), ("'", ","), ("'", ")"), ("')", "]"), ("'", "x")]
    for size in (1, 2, len(merges)):
        for subset in itertools.combinations(merges, size):
            own = tokenizer(subset)
            decoder = SyntheticDecoder(tiny_model("llama", 256 + len(merges)), own)
            for form, wanted in [("api-bank", text) for text in WANTED["api-bank"][:2]] + [("pythonic", "[f(a='x')]")]:
                begun = [text for text in ASTRAY if wanted.startswith(text) and (can_drop or not text.endswith("x'"))]
                astray = [text + more for text in begun for more in ASTRAY[text]]
                weights = {tuple(own.encode(PROMPT + text + "\n")): 3.0 for text in astray}
                weights[tuple(own.encode(PROMPT + wanted + "\n"))] = 1.0
                decoder.engine = Wishes(decoder.table.texts, weights, can_drop)
                options = DecodeOptions(format=form, tool_choice="required", order_limit=1)
                [result] = decoder.run([Request(PROMPT, TOOLS, options)])
                assert result.text == wanted, (subset, result.text)
