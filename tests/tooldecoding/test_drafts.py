"""Drafts, in the model's passes and on branches of their own, change nothing but the cost."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup.dictionary import LookupDictionary, ToolSpec
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.errors import TokenizerError
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder, SyntheticEngine
from tools import WEATHER, lookup, parameter, tool

TOKENIZERS = (byte_level_tokenizer(), sentencepiece_tokenizer(byte_fallback=True))
DECODERS = [SyntheticDecoder(tiny_model("llama", len(t)), t) for t in TOKENIZERS]
BIASES = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
SAY = tool("Say", *(parameter(k, "str") for k in ("to", "subject", "body")), parameter("n", "int", required=False))
MARK = tool("Mark", parameter("kind", "str", enum=("only",)), parameter("text", "str"), parameter("left", "bool"))
PROMPT = "User: say 'see you in New York on 2023-01-02' to Bob\nAPI-Request: [Say(to='Eve', subject='x')]\n"


class Watched(RandomEngine):
    """Knows which branches are open."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_spare_positions = True
        self.live: set[int] = set()

    def open(self, count: int) -> list[int]:
        """See Engine."""
        opened = super().open(count)
        self.live.update(opened)
        return opened

    def fork(self, branch: int) -> int:
        """See Engine."""
        assert branch in self.live
        self.live.add(forked := super().fork(branch))
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


@settings(max_examples=30)
@given(
    number=st.integers(0, 1),
    seed=st.integers(0, 10**6),
    bias=st.sampled_from(BIASES),
    format=st.sampled_from(["api-bank", "pythonic"]),
    value_constraint=st.sampled_from(["typed", "free"]),
    order_limit=st.sampled_from([1, 2, 3, 12]),
    draft_tokens=st.sampled_from([1, 2, 5, 32, 500]),
    prompt=st.sampled_from([PROMPT, "go on\n"]),
    spec=st.sampled_from([WEATHER, SAY, MARK]),
)
def test_drafts_change_nothing_but_the_cost(
    number: int, seed: int, bias: bytes, draft_tokens: int, prompt: str, spec: ToolSpec, **fields: Any
) -> None:
    def run(escorted: bool, drafts: int) -> DecodeResult:
        engine = Watched(DECODERS[number].table.texts, seed, lambda text: 5.0 * any(c in text for c in bias))
        engine.has_spare_positions = escorted
        result = decode(number, engine, lookup(spec), prompt, **fields, max_calls=2, draft_tokens=drafts)
        assert not engine.live
        return result

    plain, drafted, escorted = run(False, 0), run(False, draft_tokens), run(True, draft_tokens)
    assert outcome(plain) == outcome(drafted) == outcome(escorted)
    assert max(drafted.counters.forward_passes, escorted.counters.forward_passes) <= plain.counters.forward_passes


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


@pytest.mark.parametrize("keys", [2, 6])
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

    async def failing(self: Any, branch: Any, spec: Any, next_keys: Any = ()) -> Any:
        if not branch.tally:  # a branch whose tokens do not count
            failed.append(spec.name)
            raise TokenizerError("no token fits")
        return await decoded(self, branch, spec, next_keys)

    def run() -> DecodeResult:
        return decode(0, Watched(DECODERS[0].table.texts, 3), lookup(WEATHER), PROMPT, order_limit=1, max_calls=1)

    alone = run()
    monkeypatch.setattr(ValueDecoder, "decode", failing)
    assert outcome(run()) == outcome(alone)
    assert failed


@pytest.mark.parametrize(("kind", "circle"), [("str", "0.0.0-"), ("str", "one of many words. "), ("list", "1, ")])
def test_a_value_that_goes_round_in_circles_takes_a_pass_for_each_draft(kind: str, circle: str) -> None:
    tools, begun, most = lookup(tool("F", parameter("x", kind))), {"str": "[F(x='", "list": "[F(x=["}[kind], 320

    def goes_on(text: str) -> str:
        written = text.rpartition(begun)[2] if begun in text else ""
        return (circle * 9999)[len(written) :]

    fields: dict[str, Any] = {"format": "pythonic", "max_calls": 1, "order_limit": 1, "max_value_tokens": most}
    plain, drafted = (
        decode(0, ScriptedEngine(DECODERS[0].table.texts, goes_on), tools, "go on\n", **fields, draft_tokens=drafts)
        for drafts in (0, 32)
    )
    assert outcome(plain) == outcome(drafted)
    assert plain.calls[0].voted.parameters[0].truncated and plain.counters.forward_passes >= most
    assert plain.valid and "'x'" in plain.errors[0] and "limit of tokens" in plain.errors[0]
    assert drafted.counters.forward_passes <= most // 32 + 2 * len(circle) + 8
