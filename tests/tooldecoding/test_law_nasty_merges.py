"""The law of wanted calls without real vocabularies: small tokenizers that join what a call's boundaries part."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import cases
from boundaries.vocabularies import decoder_with
from synthetic import decode, synthetic
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import TokenizerError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_table import TokenTable
from tools import lookup, parameter, tool

JOINED = [
    *("')", "')]", "'),", "']", "'],", "'])", "'])]", "['", "[]", "=[", "=['", "=[]", "=[],", "=[])", "='", "}}", "})"),
    *(")]", ")]\n", "),", "), ", ", ", ",  ", " '", "  ", ": [", "#'", "++", "++'", "-1", "12", "0)", "1,", ".5"),
    *("京", "é", " 京", "a=", ", b", ", b=", ", c", "(a", "[f", " [f", "[f(", "C#", "C#')", "Java", "JavaScript", "''"),
    *("'',", "\\'"),
]
"""Tokens of some tokenizers; each of them has some of these, and one character's first byte behind a space."""

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
KINDS = ("plain", "gpt2", "llama3", "sentencepiece")
ALPHABET = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def split(text: str, kind: str) -> list[str]:
    """A token in the characters of its vocabulary."""
    return list(text.replace(" ", "▁")) if kind == "sentencepiece" else list(ALPHABET.pre_tokenize_str(text)[0][0])


def merges_of(texts: list[str], kind: str, from_the_right: bool) -> list[tuple[str, str]]:
    """Merges that make each text one token, from its first characters on or from its last."""
    found: dict[tuple[str, str], None] = {}
    for pieces in [split(text, kind) for text in texts]:
        whole = pieces.pop() if from_the_right else pieces.pop(0)
        while pieces:
            pair = (pieces.pop(), whole) if from_the_right else (whole, pieces.pop(0))
            found[pair] = None
            whole = "".join(pair)
    return list(found)


def tokenizer(seed: int, kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer with some of the nasty tokens, in a sequence of its own."""
    rng = random.Random(f"{seed} {kind}")
    merges = merges_of(rng.sample(JOINED, rng.randint(4, 24)), kind, rng.random() < 0.5)
    if kind == "sentencepiece":
        characters = ["▁", *map(chr, range(33, 127))]
        words = dict.fromkeys([*characters, *(a + b for a, b in merges), *"".join(map("".join, merges))])
        words |= dict.fromkeys(f"<0x{byte:02X}>" for byte in range(256))
        words = dict.fromkeys(["<unk>", *words])
        made = Tokenizer(models.BPE({w: n for n, w in enumerate(words)}, merges, byte_fallback=True, unk_token="<unk>"))
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        pieces = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        made.decoder = decoders.Sequence(pieces)
        return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>")
    if rng.random() < 0.5:
        merges.append(("Ġ", split("京", kind)[0]))  # a space and a part of a character
    return byte_level(merges, {"gpt2": GPT2, "llama3": LLAMA3}.get(kind))


def byte_level(merges: Sequence[tuple[str, str]], pattern: str | None = None) -> PreTrainedTokenizerFast:
    """Byte-level BPE with these merges; no token crosses the parts of a text that a pattern finds."""
    words = dict.fromkeys([*sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in merges)])
    made = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=merges))
    parts = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*parts, ALPHABET])
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def judge(seed: int, kind: str) -> Judge:
    return Judge(f"{kind} {seed}", decoder_with(tokenizer(seed, kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_made_up_values(kind: str) -> None:
    judges = [judge(seed, kind) for seed in range(4)]

    @settings(max_examples=30, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(judges), st.sampled_from(sorted(CALL_FORMATS)).flatmap(cases), st.sampled_from(AGAINST))
    def law(found: Judge, case: Case, against: Any) -> None:
        assert found.judge(case, against).miss is None

    law()


def test_a_tokenizer_that_changes_text_is_refused() -> None:
    changing = byte_level_tokenizer()
    changing.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(TokenizerError, match="is not supported: its tokens of"):
        TokenTable(changing)


ASTRAY = {
    "": ["", "Sorry.", " I"],
    "[": ["get(x", "[f("],
    "[f": ["oo(a='x')]", "]"],
    "[f(a=": ["None)]", "1, b", '"x")]'],
    "[f(a=[": ["str])]", "x, y])]"],
    "[f(a='x'": [" + 'y')]", "\n"],
    "[f(a='x', b=": ["b)]", "None)]"],
}
"""What no call may hold behind its beginnings."""
ENDS = [("=", "'"), ("f", "("), ("Ġ", "["), ("[", "f"), ("'", ","), ("'", ")"), ("')", "]"), ("'", "x")]
"""Merges at the end of a value, a call and a list."""
OPENINGS = [("=", "["), ("[", "'"), ("=[", "'"), ("'", ","), ("'", "]"), ('"', ","), ("'", "x")]
"""Merges at the beginning and the end of a list."""
WANTED = [
    ("api-bank", "[f(a='x')]", ENDS),
    ("api-bank", "[f(a='x', b='y')]", ENDS),
    ("pythonic", "[f(a='x')]", ENDS),
    ("pythonic", "[f(a=['x'])]", OPENINGS),
    ("pythonic", "[f(a=['x', 'y'])]", OPENINGS),
]
PROMPT = "API-Request: "


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
@pytest.mark.parametrize(("format", "wanted", "merges"), WANTED)
def test_wishes_that_are_not_permitted_leave_no_trace(
    format: str, wanted: str, merges: list[tuple[str, str]], can_drop: bool
) -> None:
    first = parameter("a", "list", items="str") if "a=[" in wanted else parameter("a", "str")
    tools = lookup(tool("f", first, *(parameter(key, "str", required=False) for key in "bc")))
    joined = {a + b for a, b in merges}
    subsets = [subset for size in (1, 2, len(merges)) for subset in itertools.combinations(merges, size)]
    for subset in subsets:
        known = {a + b for a, b in subset}
        own = byte_level([(a, b) for a, b in subset if a not in joined - known])
        decoder = SyntheticDecoder(tiny_model("llama", 256 + len(merges)), own)
        begun = [text for text in ASTRAY if wanted.startswith(text) and (can_drop or not text.endswith(("x'", "=[")))]
        astray = [text + more for text in begun for more in ASTRAY[text]]
        weights = {tuple(own.encode(PROMPT + text + "\n")): 3.0 for text in astray}
        weights[tuple(own.encode(PROMPT + wanted + "\n"))] = 1.0
        decoder.engine = Wishes(decoder.table.texts, weights, can_drop)
        options = DecodeOptions(format=format, tool_choice="required", order_limit=1)
        [result] = decoder.run([Request(PROMPT, tools, options)])
        assert result.text == wanted, (subset, result.text)


def test_a_longer_token_speaks_for_the_end_that_it_begins_with() -> None:
    """The model would write `)]`, never `)` alone: that must outweigh its weaker wish for another key."""

    class Longer(SyntheticEngine):
        def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
            texts = synthetic().table.texts
            return NextTokenLogits(torch.tensor([5.0 * (t == b")]") + 3.0 * (t or b" ").isalpha() for t in texts]))

    assert b")]" in synthetic().table.texts
    tools = lookup(tool("f", parameter("unit", "bool", required=False), parameter("hour", "bool", required=False)))
    assert decode(Longer(), "x\n", tools, format="pythonic", max_calls=1).text == "[f()]"
