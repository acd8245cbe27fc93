"""Draft branches: the call of one order is the same with and without them, and takes fewer passes."""

import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoConfig, AutoModelForCausalLM

import tooldecoding.engines.packed_engine
from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.errors import TokenizerError
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder, SyntheticEngine
from tools import PROMPTS, WEATHER, lookup, parameter, tool

TOKENIZERS = (byte_level_tokenizer(), sentencepiece_tokenizer(byte_fallback=True))
DECODERS = [SyntheticDecoder(tiny_model("llama", len(t)), t) for t in TOKENIZERS]
BIASES = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
SAY = tool("Say", *(parameter(k, "str") for k in ("to", "subject", "body")), parameter("n", "int", required=False))
MARK = tool("Mark", parameter("kind", "str", enum=("only",)), parameter("text", "str"), parameter("left", "bool"))
PROMPT = "User: say 'see you in New York on 2023-01-02' to Bob\nAPI-Request: [Say(to='Eve', subject='x')]\n"


class Watched(RandomEngine):
    """Knows which branches are open, and how many forks were made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_spare_positions = True
        self.live: set[int] = set()
        self.forked = 0

    def open(self, count: int) -> list[int]:
        """See Engine."""
        opened = super().open(count)
        self.live.update(opened)
        return opened

    def fork(self, branch: int) -> int:
        """See Engine."""
        assert branch in self.live
        forked = super().fork(branch)
        self.live.add(forked)
        self.forked += 1
        return forked

    def release(self, branch: int) -> None:
        """See Engine."""
        self.live.remove(branch)


def decode(number: int, engine: SyntheticEngine, tools: LookupDictionary, prompt: str, **fields: Any) -> DecodeResult:
    decoder = DECODERS[number]
    decoder.engine = engine
    return decoder.run([Request(prompt, tools, DecodeOptions(**{"max_value_tokens": 7} | fields))])[0]


def outcome(result: DecodeResult) -> Any:
    """All that a decode gives, but for its cost."""
    counters = result.counters
    tokens = counters.free_tokens, counters.forced_tokens, counters.constrained_tokens
    return [(c.voted, c.candidates, c.confidences) for c in result.calls], result.text, result.token_ids, tokens


@settings(max_examples=15, deadline=None)
@given(
    number=st.integers(0, 1),
    seed=st.integers(0, 10**6),
    bias=st.sampled_from(BIASES),
    format=st.sampled_from(["api-bank", "pythonic"]),
    order_limit=st.sampled_from([1, 2, 3]),
    draft_tokens=st.sampled_from([1, 5, 32]),
    max_calls=st.sampled_from([1, 2]),
    prompt=st.sampled_from([PROMPT, "go on\n"]),
    spec=st.sampled_from([WEATHER, SAY, MARK]),
)
def test_draft_branches_change_nothing_but_the_cost(
    number: int, seed: int, bias: bytes, draft_tokens: int, prompt: str, spec: Any, **fields: Any
) -> None:
    def run(escorted: bool, drafts: int) -> tuple[DecodeResult, Watched]:
        engine = Watched(DECODERS[number].table.texts, seed, lambda text: 5.0 * any(c in text for c in bias))
        engine.has_spare_positions = escorted
        result = decode(number, engine, lookup(spec), prompt, **fields, draft_tokens=drafts)
        assert not engine.live
        return result, engine

    plain, _ = run(False, 0)
    alone, without = run(False, draft_tokens)
    escorted, engine = run(True, draft_tokens)
    assert outcome(plain) == outcome(alone) == outcome(escorted)
    assert escorted.counters.forward_passes <= plain.counters.forward_passes
    assert engine.forked > without.forked or len(plain.calls[0].candidates) > 1


@pytest.mark.parametrize("engine", [PackedEngine, BatchedEngine])
@pytest.mark.parametrize("shape", ["llama", "gemma2"])
def test_draft_branches_change_nothing_with_real_caches(
    shape: str, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy: Any = "packed" if engine is PackedEngine else "batched"
    tokenizer = TOKENIZERS[0]
    decoder = ToolDecoder(tiny_model(shape, len(tokenizer)), tokenizer, strategy, max_value_tokens=8, order_limit=1)
    for spec, format in ((WEATHER, "pythonic"), (SAY, "api-bank")):
        results: list[Any] = []
        for escorted in (False, True):
            monkeypatch.setattr(engine, "has_spare_positions", escorted)
            results.append(decoder.decode([PROMPT, PROMPTS[2]], lookup(spec), format=format, max_calls=2))
        for one, other in zip(*results, strict=True):
            assert one.text == other.text and one.token_ids == other.token_ids
            for call, same in zip(one.calls, other.calls, strict=True):
                [a], [b] = call.candidates, same.candidates
                assert a.token_ids == b.token_ids
                assert [v.logprob for v in a.values] == pytest.approx([v.logprob for v in b.values], abs=1e-4)


WORD, NAMES = "abcdefghijk", ("zone", "day", "hour", "name", "place", "user")


def same_word(written: str) -> str:
    """A model that writes the same word for every key."""
    if "Send(" not in written:
        return "[Send("[len(written.split("\n")[-1]) :]
    call = written[written.rindex("Send(") + 5 :]
    if value := re.search(r"=('?)([a-k]*)$", call):
        return "'"[len(value[1]) :] + WORD[len(value[2]) :] + "', "
    begun = re.search(r"(?:^|,) ?(\w*)$", call)
    if begun is None:
        return ", "
    return next((f"{name}='{WORD}'"[len(begun[1]) :] for name in NAMES if name.startswith(begun[1])), "")


@pytest.mark.parametrize("keys", [2, 4, 6])
def test_passes_are_about_those_of_the_longest_value_and_positions_at_most_twice(keys: int) -> None:
    spec = lookup(tool("Send", *(parameter(name, "str") for name in NAMES[:keys])))
    costs = {}
    for escorted in (False, True):
        engine = ScriptedEngine(DECODERS[0].table.texts, same_word)
        engine.has_spare_positions = escorted
        fields: dict[str, Any] = {"order_limit": 1, "max_calls": 1, "max_value_tokens": 20}
        result = decode(0, engine, spec, "go on\n" * 40, **fields)
        assert result.calls[0].arguments == dict.fromkeys(NAMES[:keys], WORD)
        costs[escorted] = result.counters
    longest = len(TOKENIZERS[0].encode(WORD)) + 1
    alone, written = costs[False], costs[False].free_tokens + costs[False].forced_tokens
    verified = -(-written // 33)  # a pass verifies 32 draft tokens, and has one more that the model chooses
    assert costs[True].forward_passes <= longest + 2 + verified
    assert costs[True].positions - alone.positions <= written
    assert alone.forward_passes >= (keys - 1) * longest


def test_an_error_on_a_draft_branch_is_none_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = ValueDecoder.decode
    failed = []

    def failing(self: Any, branch: Any, spec: Any, next_keys: Any = ()) -> Any:
        if not branch.tally:  # a branch whose tokens do not count
            failed.append(spec.name)
            raise TokenizerError("no token fits")
        return (yield from decoded(self, branch, spec, next_keys))

    def run() -> DecodeResult:
        return decode(0, Watched(DECODERS[0].table.texts, 3), lookup(WEATHER), PROMPT, order_limit=1, max_calls=1)

    alone = run()
    monkeypatch.setattr(ValueDecoder, "decode", failing)
    assert outcome(run()) == outcome(alone)
    assert failed


def test_draft_branches_need_few_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tooldecoding.engines.packed_engine, "DRAFTED_POSITIONS", 16)
    decoder = ToolDecoder(tiny_model("llama", len(TOKENIZERS[0])), TOKENIZERS[0], "packed")
    engine = decoder.new_engine()
    roots = engine.open(2)
    assert engine.has_spare_positions
    engine.open(1)
    assert not engine.has_spare_positions
    for root in roots:
        engine.close(root)


def test_an_engine_that_cannot_drop_tokens_pays_for_no_draft() -> None:
    """A recurrent state cannot go back: whatever drafts there are, a call behind another takes the same passes."""
    config = AutoConfig.for_model(
        "mamba", vocab_size=len(TOKENIZERS[0]), hidden_size=64, num_hidden_layers=2, state_size=8
    )
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval()

    def spent(draft_tokens: int) -> tuple[str, int, int]:
        decoder = ToolDecoder(model, TOKENIZERS[0], max_value_tokens=6, order_limit=1, draft_tokens=draft_tokens)
        result: Any = decoder.decode(PROMPTS[2], lookup(WEATHER), max_calls=2, format="pythonic")
        return result.text, result.counters.forward_passes, result.counters.positions

    assert spent(12) == spent(0)
