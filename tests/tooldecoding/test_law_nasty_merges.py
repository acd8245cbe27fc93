"""The law of wanted calls without real vocabularies: small tokenizers that join what a call's boundaries part."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import cases
from boundaries.vocabularies import decoder_with
from lookup.dictionary import LookupDictionary
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tools import parameter, tool

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
TOOL = tool(
    "f",
    parameter("a", "list", items="str"),
    parameter("b", "str", required=False, enum=("C", "C#", "C++", "Java", "JavaScript", "")),
    parameter("c", "dict", required=False),
    parameter("cc", "int", required=False),
)
CALLS = [
    {"a": ["x"]},
    {"a": []},
    {"a": ["])", "'"], "b": "C#"},
    {"a": ["x "], "c": {"y": {"z": 1}}},
    {"a": ["京"], "cc": -12, "b": "C"},
]


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
    words = dict.fromkeys([*sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in merges)])
    made = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=merges))
    pattern = {"gpt2": GPT2, "llama3": LLAMA3}.get(kind)
    parts = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*parts, ALPHABET])
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def judge(seed: int, kind: str) -> Judge:
    return Judge(f"{kind} {seed}", decoder_with(tokenizer(seed, kind)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0])
def test_lists_objects_and_enums(seed: int, kind: str) -> None:
    found, tried = judge(seed, kind), 0
    for (place, format), (number, arguments) in itertools.product(enumerate(CALL_FORMATS), enumerate(CALLS)):
        prompt = ("API-Request: ", "API-Request\n")[(place + number) % 2]  # each format and each call has both
        case = Case("f", format, LookupDictionary((TOOL,)), (Call("f", arguments),), prompt, ")\n")
        for against in AGAINST:
            verdict = found.judge(case, against)
            tried += verdict.tried
            assert verdict.miss is None
    assert tried


@pytest.mark.parametrize("kind", KINDS)
def test_made_up_values(kind: str) -> None:
    judges = [judge(seed, kind) for seed in range(4)]

    @settings(max_examples=30, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(judges), st.sampled_from(sorted(CALL_FORMATS)).flatmap(cases), st.sampled_from(AGAINST))
    def law(found: Judge, case: Case, against: str) -> None:
        miss = found.judge(case, against).miss  # type: ignore[arg-type]
        assert miss is None

    law()
