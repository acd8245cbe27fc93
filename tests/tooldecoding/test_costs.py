"""What a call costs, by the formula in docs/costs.md; drafts change nothing else, and few tokens are looked at."""

import random
import re
from collections.abc import Iterator, Sequence
from string import ascii_letters
from typing import Any
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup.dictionary import ToolSpec
from lookup.grammar.value_grammar import value_grammar
from synthetic import LIKED, RandomEngine, ScriptedEngine, decode, likes, synthetic
from tiny_models import of_bytes, tiny_model
from tooldecoding.decoding.value_decoder import ValueDecoder
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import TokenizerError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.pending import Pending
from tooldecoding.tokens.token_choice import ValueChoice
from tools import WEATHER, in_order, lookup, parameter, tool

KINDS = ("byte level", "pieces and bytes")
SAY = tool("Say", *(parameter(k, "str") for k in ("to", "subject", "body")), parameter("n", "int", required=False))
MARK = tool("Mark", parameter("kind", "str", enum=("only",)), parameter("text", "str"), parameter("left", "bool"))
PROMPT = "User: say 'see you in New York on 2023-01-02' to Bob\nAPI-Request: [Say(to='Eve', subject='x')]\n"


class LookedAhead(RandomEngine):
    """Counts the passes that only look ahead, behind tokens that leave determined bytes pending."""

    ahead = 0

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        self.ahead += all(feed.speculative == len(feed.tokens) for feed in feeds)
        return super().extend(feeds)


@pytest.mark.parametrize(("kind", "format"), list(zip(KINDS, ["api-bank", "pythonic"], strict=True)))
def test_one_order_takes_a_pass_for_each_decision_and_several_those_of_the_longest(kind: str, format: str) -> None:
    fields: dict[str, Any] = {"max_calls": 1, "max_value_tokens": 7, "draft_tokens": 0, "format": format}
    texts, seen = synthetic(kind).table.texts, set()
    for seed, liked in enumerate(LIKED):

        def engine(seed: int = seed, liked: bytes = liked) -> LookedAhead:
            return LookedAhead(texts, seed, lambda text: 5.0 * any(c in text for c in liked))

        result = decode(engine(), "go on\n", lookup(WEATHER), kind, order_limit=8, **fields)
        passes = []
        for candidate in result.calls[0].candidates:
            one = engine()
            alone = decode(one, "go on\n", in_order(WEATHER, candidate.order), kind, order_limit=1, **fields)
            decisions = alone.counters.free_tokens + alone.counters.constrained_tokens
            looks = sum(value.truncated for value in candidate.values)  # whether the value ends there
            assert decisions + one.ahead <= alone.counters.forward_passes <= decisions + one.ahead + looks
            assert alone.calls[0].candidates[0].token_ids == candidate.token_ids
            seen.add(decisions)
            passes.append(alone.counters.forward_passes)
        assert result.counters.forward_passes == max(passes)
    assert len(seen) > 3


def outcome(result: DecodeResult) -> Any:
    """All that a decode gives, but for its cost."""
    counters = result.counters
    tokens = counters.free_tokens, counters.forced_tokens, counters.constrained_tokens
    return [(c.voted, c.candidates, c.confidences) for c in result.calls], result.text, result.token_ids, tokens


@settings(max_examples=30)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    liked=st.sampled_from(LIKED),
    format=st.sampled_from(["api-bank", "pythonic"]),
    value_constraint=st.sampled_from(["typed", "free"]),
    order_limit=st.sampled_from([1, 2, 3, 12]),
    draft_tokens=st.sampled_from([1, 2, 5, 32, 500]),
    prompt=st.sampled_from([PROMPT, "go on\n"]),
    spec=st.sampled_from([WEATHER, SAY, MARK]),
)
def test_drafts_change_nothing_but_the_cost(
    kind: str, seed: int, liked: bytes, draft_tokens: int, prompt: str, spec: ToolSpec, **fields: Any
) -> None:
    def run(escorted: bool, drafts: int) -> DecodeResult:
        engine = likes(liked, seed, kind)
        engine.has_spare_positions = escorted  # then drafts are written on branches of their own, too
        more: dict[str, Any] = {"max_value_tokens": 7, "max_calls": 2, "draft_tokens": drafts}
        return decode(engine, prompt, lookup(spec), kind, **more, **fields)

    plain, drafted, escorted = run(False, 0), run(False, draft_tokens), run(True, draft_tokens)
    assert outcome(plain) == outcome(drafted) == outcome(escorted)
    assert max(drafted.counters.forward_passes, escorted.counters.forward_passes) <= plain.counters.forward_passes


def test_an_error_on_a_draft_branch_is_none_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded, failed = ValueDecoder.decode, []

    async def failing(self: Any, branch: Any, spec: Any, left: int, next_keys: Any = ()) -> Any:
        if not branch.tally:  # a branch whose tokens do not count
            failed.append(spec.name)
            raise TokenizerError("no token fits")
        return await decoded(self, branch, spec, left, next_keys)

    def run() -> DecodeResult:
        engine = likes(seed=3)
        engine.has_spare_positions = True
        return decode(engine, PROMPT, lookup(WEATHER), order_limit=1, max_calls=1, max_value_tokens=7)

    alone = run()
    monkeypatch.setattr(ValueDecoder, "decode", failing)
    assert outcome(run()) == outcome(alone)
    assert failed


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


@pytest.mark.parametrize(("keys", "orders"), [(2, 1), (6, 1), (4, 6)])
def test_passes_are_about_those_of_the_longest_value_and_positions_at_most_twice(keys: int, orders: int) -> None:
    spec = lookup(tool("Send", *(parameter(name, "str") for name in NAMES[:keys])))
    costs = {}
    for escorted in (False, True):
        engine = ScriptedEngine(synthetic().table.texts, same_word)
        engine.has_spare_positions = escorted
        result = decode(engine, "go on\n" * 40, spec, order_limit=orders, max_calls=1, max_value_tokens=20)
        assert result.calls[0].arguments == dict.fromkeys(NAMES[:keys], WORD)
        costs[escorted] = result.counters
    longest, alone = len(synthetic().tokenizer.encode(WORD)) + 1, costs[False]
    if orders > 1:  # behind a value that an order has finished, the next keys are drafted with theirs
        assert alone.forward_passes <= longest + 3  # the prompt, the quotes, and one pass for all other values
        return
    written = alone.free_tokens + alone.forced_tokens
    verified = -(-written // 33)  # a pass verifies 32 draft tokens, and has one more that the model chooses
    assert costs[True].forward_passes <= longest + 2 + verified
    assert costs[True].positions - alone.positions <= written
    assert alone.forward_passes >= (keys - 1) * longest


@pytest.mark.parametrize(("kind", "circle"), [("str", "0.0.0-"), ("str", "one of many words. "), ("list", "1, ")])
def test_a_value_that_goes_round_in_circles_takes_a_pass_for_each_draft(kind: str, circle: str) -> None:
    tools, begun, most = lookup(tool("F", parameter("x", kind))), {"str": "[F(x='", "list": "[F(x=["}[kind], 320

    def goes_on(text: str) -> str:
        written = text.rpartition(begun)[2] if begun in text else ""
        return (circle * 9999)[len(written) :]

    fields: dict[str, Any] = {"format": "pythonic", "max_calls": 1, "order_limit": 1, "max_value_tokens": most}
    plain, drafted = (
        decode(ScriptedEngine(synthetic().table.texts, goes_on), "go on\n", tools, draft_tokens=drafts, **fields)
        for drafts in (0, 32)
    )
    assert outcome(plain) == outcome(drafted)
    assert plain.calls[0].voted.parameters[0].truncated and plain.counters.forward_passes >= most
    assert not plain.valid and plain.cut and "'x'" in plain.errors[0] and "limit of tokens" in plain.errors[0]
    assert drafted.counters.forward_passes <= most // 32 + 2 * len(circle) + 8


def test_few_tokens_of_a_large_vocabulary_are_looked_at() -> None:
    chance, words = random.Random(0), {str(n) for n in range(1000)}
    while len(words) < 100_000:
        words.add("".join(chance.choices(ascii_letters + "Ġ_'", k=chance.randint(2, 9))))
    tokenizer = of_bytes(sorted(words))
    decoder = SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)
    decoder.engine = RandomEngine(decoder.table.texts)
    kinds = {"a": "int", "b": "float", "c": "list", "d": "str"}
    spec = tool("F", *(parameter(key, kind, items="int" if kind == "list" else None) for key, kind in kinds.items()))
    options = DecodeOptions(format="pythonic", order_limit=3, max_value_tokens=12, max_calls=1, draft_tokens=0)
    with patch.object(ValueState, "__call__", autospec=True, side_effect=ValueState.__call__) as looked_at:
        counters = decoder.run([Request("go on\n", lookup(spec), options)])[0].counters
    assert counters.free_tokens > 20
    assert looked_at.call_count < 100 * counters.free_tokens


SPECS = [parameter("x", kind) for kind in ("str", "int", "float", "dict")]
SPECS += [parameter("x", "list", items=items) for items in ("int", "str")]


def states(format: str, seed: int) -> Iterator[ValueState]:
    """Values in the making, written by a random model."""
    chance, table = random.Random(seed), synthetic().table
    pieces = [t for t in table.texts if t] + [b"'", b'"', b"]", b"1", b", ", b"{'", b"': ", "北".encode()[:2], b"\n"]
    for spec in SPECS:
        state = ValueState(value_grammar(spec, CALL_FORMATS[format].notation), CALL_FORMATS[format])
        for _ in range(12):
            yield state
            sampled = chance.sample(pieces, 200)
            piece = next((p for p in sampled if (step := state(p)) and not step.closed), None)
            if piece is None:
                break
            state.write(piece)


@pytest.mark.parametrize(("seed", "format"), list(enumerate(CALL_FORMATS)))
def test_no_likelier_token_is_accepted(seed: int, format: str) -> None:
    table, found, pending = synthetic().table, 0, (b"", b"='", " 北".encode())[seed % 3]
    fed = FedTokens(likes(), 0, [])
    for number, state in enumerate(states(format, seed)):
        if not state.tail:  # the grammar does it: nothing else looks at the bytes of an unfinished character
            assert not any(state(bytes([0xED, second])) for second in range(0xA0, 0xC0)), "half a surrogate"
        for spread in (0.0, 8.0):
            logits = torch.randn(len(table.texts), generator=torch.Generator().manual_seed(number)) * spread
            admitted = [t for t, text in enumerate(table.texts) if text and admits(state, pending, text)]
            token = ValueChoice(fed, Pending(table, b"", pending), NextTokenLogits(logits), state).greedy()
            assert (token is None) == (not admitted)
            if token is not None:
                assert token in admitted and logits[token] == logits[admitted].max()
                found += 1
    assert found > 30


def admits(state: ValueState, pending: bytes, text: bytes) -> bool:
    """Whether a token may be written where ``pending`` is determined: the definition."""
    return pending.startswith(text) or (text.startswith(pending) and state(text[len(pending) :]) is not None)
