"""Law: with every vocabulary, a model that wants the tokenizer's own tokens of a permitted call gets that call.

The vocabularies are real ones, and small ones that join what a call's boundaries part. All of the corpora, and many
more made-up values: ``pytest -m slow``.
"""

import itertools
import math
import random
import shutil
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from tokenizers import pre_tokenizers
from transformers import MistralCommonBackend, MistralConfig, PreTrainedTokenizerFast

from boundaries.gold import gold_cases
from boundaries.judge import AGAINST, Case, Judge
from boundaries.values import demand_made_up
from boundaries.vocabularies import FOUND, decoder_with, needs_vocabularies, real_decoder
from data import DATA, needs_data
from lookup.dictionary import ToolSpec
from synthetic import RandomEngine, Weighted, Writer, decode, synthetic
from tiny_models import of_bytes, of_pieces, tiny_model
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_table import shared_length
from tools import lookup, parameter, tool

PIECES = ["'", "')", "]", "['", "=[", "={'", ", ", "a=", "='", "(", "b", "New York", " ", "  ", "京", "é", "12", "#"]


@lru_cache(maxsize=1)
def judge(name: str, marked: bool) -> Judge:
    """Tests run vocabulary by vocabulary, so that each is loaded once."""
    return Judge(name, real_decoder(name, marked))


@lru_cache(maxsize=2)
def gold(limit: int | None) -> list[Case]:
    return gold_cases(DATA, limit)


@needs_vocabularies
@needs_data
@pytest.mark.parametrize("name", FOUND, scope="class")
@pytest.mark.parametrize("marked", [False, True], ids=["marks as text", "marks as tokens"], scope="class")
class TestVocabulary:
    @pytest.mark.parametrize("limit", [2, pytest.param(None, marks=pytest.mark.slow)])
    def test_the_corpora(self, name: str, marked: bool, limit: int | None) -> None:
        place = 2 * FOUND.index(name) + marked  # each vocabulary has others; together they have all
        wanted = gold(limit)[place :: 2 * len(FOUND)] if limit else gold(limit)
        verdicts = [[judge(name, marked).judge(case, against) for against in AGAINST] for case in wanted]
        assert sum(first.tried for first, *_ in verdicts) > len(wanted) / 2
        assert not [verdict.miss for of_case in verdicts for verdict in of_case if verdict.miss]

    @pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
    def test_made_up_values(self, name: str, marked: bool, count: int) -> None:
        demand_made_up([judge(name, marked)], count)

    def test_sure_tokens_are_the_tokenizers_own_whatever_follows(self, name: str, marked: bool) -> None:
        table, chance, count = judge(name, marked).table, random.Random(name), 0
        for _ in range(150):
            context, text, more = ("".join(chance.choices(PIECES, k=chance.randint(0, 5))) for _ in range(3))
            sure = table.sure_after(f"x{context}".encode(), text.encode())
            count += len(sure)
            assert table.encode_after(f"x{context}".encode(), (text + more).encode())[: len(sure)] == sure
        assert count > 150


MISTRAL = {
    "tekken": ("tekken_240911.json", "tekken.json"),
    "sentencepiece": ("mistral_instruct_tokenizer_240323.model.v3", "tokenizer.model.v3"),
}
"""The file that the package mistral-common ships, and its name in the folders that Mistral publishes."""


def mistral_tokenizer(kind: str) -> Any:
    """A tokenizer of mistral-common, which transformers takes for such a folder."""
    package = pytest.importorskip("mistral_common", minversion="1.11.5", reason="mistral-common is not installed")
    shipped, name = MISTRAL[kind]
    with TemporaryDirectory() as folder:
        MistralConfig().save_pretrained(folder)
        shutil.copy(Path(package.__file__).parent / "data" / shipped, Path(folder, name))
        if kind == "sentencepiece":  # which is not taken by itself
            pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
            return MistralCommonBackend.from_pretrained(folder)
        loaded = load_tokenizer(folder)
    assert isinstance(loaded, MistralCommonBackend)
    return loaded


@pytest.mark.parametrize("kind", MISTRAL)
def test_a_tokenizer_of_mistral_common(kind: str) -> None:
    tokenizer = mistral_tokenizer(kind)
    decoder = decoder_with(tokenizer)
    if kind == "tekken":
        own = tokenizer.tokenizer.instruct_tokenizer.tokenizer
        assert len(decoder.table.texts) == own.n_words
        for token, text in enumerate(decoder.table.texts):
            if token not in decoder.table.special.texts:  # the end of the turn has a character
                assert text == (None if token in own.special_ids else own.id_to_byte_piece(token))
    # no formats with marks: the package reads no special token in a text, so that the judge has no tokens for them
    formats = ["api-bank", "pythonic", "llama3-json", "json-list"]
    demand_made_up([Judge(f"{kind} of mistral-common", decoder)], 25, formats)


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
    joined = [a + b for a, b in merges]
    if kind == "sentencepiece":
        return of_pieces(dict.fromkeys(["<unk>", "▁", *map(chr, range(33, 127)), *joined, *"".join(joined)]), merges)
    if rng.random() < 0.5:
        merges.append(("Ġ", split("京", kind)[0]))  # a space and a part of a character
    return of_bytes([a + b for a, b in merges], merges, {"gpt2": GPT2, "llama3": LLAMA3}.get(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_made_up_values_at_nasty_merges(kind: str) -> None:
    demand_made_up([Judge(f"{kind} {seed}", decoder_with(tokenizer(seed, kind))) for seed in range(4)], 30)


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


@pytest.mark.parametrize("can_roll_back", [True, False])
@pytest.mark.parametrize(("format", "wanted", "merges"), WANTED)
def test_wishes_that_are_not_permitted_leave_no_trace(
    format: str, wanted: str, merges: list[tuple[str, str]], can_roll_back: bool
) -> None:
    first = parameter("a", "list", items="str") if "a=[" in wanted else parameter("a", "str")
    tools = lookup(tool("f", first, *(parameter(key, "str", required=False) for key in "bc")))
    joined = {a + b for a, b in merges}
    subsets = [subset for size in (1, 2, len(merges)) for subset in itertools.combinations(merges, size)]
    for subset in subsets:
        known = {a + b for a, b in subset}
        own = of_bytes(sorted(known), [(a, b) for a, b in subset if a not in joined - known])
        decoder = SyntheticDecoder(tiny_model("llama", 256 + len(merges)), own)
        begun = [text for text in ASTRAY if wanted.startswith(text)]
        begun = [text for text in begun if can_roll_back or not text.endswith(("x'", "=["))]
        astray = [text + more for text in begun for more in ASTRAY[text]]
        weights = {tuple(own.encode(PROMPT + text + "\n")): 3.0 for text in astray}
        weights[tuple(own.encode(PROMPT + wanted + "\n"))] = 1.0
        lengths = torch.tensor([float(len(text or b"")) for text in decoder.table.texts])
        engine = Weighted(weights, torch.exp(lengths - 20), can_roll_back)  # of all else, what is longest
        result = decode(engine, PROMPT, tools, decoder, format=format, tool_choice="required", order_limit=1)
        assert result.text == wanted, (subset, result.text)


Weights = Mapping[tuple[str, ...], float]
"""The texts of tokens that are wanted one behind the other."""
LISTS = {("=[", "x"): 0.2, ("=[", "',"): 0.075, ("=[", "]"): 0.15, ("=['", "x", "'", "]"): 0.2, ("x",): 0.3}
"""No text that may follow ``=[`` is as likely as ``=['``; all together are."""
MEMBERS = {("=", "T"): 0.54, ("=", "'"): 6e-6, ("=", "'d"): 6e-5, ("='", "T"): 0.21, ("='", "d"): 0.03}
"""A text without quotes is wanted behind ``=``."""
NAMES = {("F", "x"): 0.27, ("F", "i"): 3e-4, ("B", "U"): 0.18, ("B", "u", "s"): 1e-4, ("Buy",): 0.02}
"""No name is wanted behind ``F``, nor behind ``B``."""
CLOSED = {(")]",): 0.6, ("u",): 0.2, ("h",): 0.2}
"""``)`` alone is never wanted: the longer token speaks for the end that it begins with."""


@pytest.mark.parametrize(
    ("begun", "weights", "tools", "expected", "words"),
    [
        ("[f(a", LISTS, [tool("f", parameter("a", "list", items="str"))], "[f(a=['x'])]", ["=[", "=['", "',"]),
        ("[f(a", MEMBERS, [tool("f", parameter("a", "str", enum=("T", "d")))], "[f(a='T')]", ["='", "'d"]),
        ("[", NAMES, list(map(tool, ["Fi", "Fo", "Buy", "Bus"])), "[Buy()]", ["Fi", "Bu", "Buy"]),
        ("[f(", CLOSED, [tool("f", *(parameter(key, "bool", False) for key in ("unit", "hour")))], "[f()]", [")]"]),
    ],
    ids=["a list", "a member", "a name", "an end"],
)
def test_a_token_counts_with_what_may_follow_it(
    begun: str, weights: Weights, tools: Sequence[ToolSpec], expected: str, words: list[str]
) -> None:
    own = of_bytes(words, [(word[:-1], word[-1]) for word in words])
    decoder = SyntheticDecoder(tiny_model("llama", 256 + len(words)), own)
    texts, start = decoder.table.texts, own.encode(PROMPT + begun)
    paths = {(*start, *(texts.index(text.encode()) for text in path)): weight for path, weight in weights.items()}
    fields: dict[str, Any] = {"format": "pythonic", "tool_choice": "required", "order_limit": 1, "max_calls": 1}
    result = decode(Weighted(paths, torch.full((len(texts),), 1e-9)), PROMPT, lookup(*tools), decoder, **fields)
    assert result.text == expected


NAMED = ["get_time", "get_weather", "get_week", "set_time", "set", "week_of", "天气", "天气预报", "g", "time_of_day"]


@pytest.mark.parametrize("kind", ["byte level", "pieces and bytes"])
def test_the_tool_is_the_one_whose_whole_name_is_likeliest(kind: str) -> None:
    decoder, chosen = synthetic(kind), set()
    table = decoder.table
    for seed in range(60):
        names = random.Random(seed).sample(NAMED, 2 + seed % 7)
        engine = RandomEngine(table.texts, seed, lambda text: 3.0 * (text in (b"get", b"set", b"_", b"we", b"g")))
        fields: dict[str, Any] = {"format": "pythonic", "order_limit": 1, "max_calls": 1}
        [call] = decode(engine, PROMPT, lookup(*map(tool, names)), decoder, **fields).calls
        ids = {name: tuple(decoder.tokenizer.encode(f"{PROMPT}[{name}(")) for name in names}
        start = shared_length(*(min(ids.values()), max(ids.values())))
        logprobs = dict.fromkeys(names, 0.0)
        for name, path in ids.items():
            for size in range(start, len(path) - 1):
                logprobs[name] += engine.next_logits(path[:size]).logprob(path[size])
            low, high = table.stretch(table.text(path[-1]))
            logprobs[name] += math.log(engine.next_logits(path[:-1]).share(table.sorted_ids[low:high]))
        assert call.name == max(names, key=logprobs.__getitem__)
        share = math.exp(logprobs[call.name]) / sum(map(math.exp, logprobs.values()))
        assert call.name_confidence is not None and share / 1.5 < call.name_confidence < share + 1e-5
        chosen.add(call.name)
    assert len(chosen) > 5


def test_many_tools_cost_little_where_the_model_is_sure() -> None:
    costs = []
    for most in (1, 2, 200):
        names = [f"{verb}_{n}" for n in range(100) for verb in ("get_weather", "set_time")][-most:]
        tools = lookup(*(tool(name, parameter("a", "str")) for name in names))
        writer = Writer(PROMPT, "[set_time_99(a='x')]")
        result = decode(writer, PROMPT, tools, format="pythonic", order_limit=1, max_calls=1)
        assert result.calls[0].name == "set_time_99"
        costs.append(result.counters)
    one, two, many = costs
    assert two.forward_passes <= one.forward_passes + 2 and two.positions <= one.positions + len("set_time_99(")
    assert many.forward_passes <= one.forward_passes + 4 and many.positions <= one.positions + 4 * 32
    unsure = decode(RandomEngine(synthetic().table.texts, 1), PROMPT, lookup(*map(tool, names)), max_calls=1)
    assert unsure.counters.forward_passes < 20
    broken = RandomEngine(synthetic().table.texts, bias=lambda _: math.nan)
    assert decode(broken, PROMPT, lookup(*map(tool, names)), max_calls=1).calls[0].name_confidence == 0


@pytest.mark.parametrize("wanted", ["a", "a:b"])
def test_a_name_may_hold_what_ends_another(wanted: str) -> None:
    writer = Writer(PROMPT, CALL_FORMATS["kimi-k2"].render([Call(wanted, {})]), kind="marks")
    tools = lookup(tool("a"), tool("a:b"))
    result = decode(writer, PROMPT, tools, "marks", format="kimi-k2", max_calls=1)
    assert [call.name for call in result.calls] == [wanted]


def test_a_name_that_the_tokenizer_cannot_write_takes_no_other_with_it() -> None:
    own = of_pieces(["<unk>", "▁", *map(chr, range(33, 127))], [], byte_fallback=False)
    decoder = SyntheticDecoder(tiny_model("llama", len(own)), own)
    tools = lookup(*map(tool, ["get", "天气", "set"]))
    names = {
        decode(RandomEngine(decoder.table.texts, seed), "x [", tools, decoder, max_calls=1).calls[0].name
        for seed in range(20)
    }
    assert names == {"get", "set"}
