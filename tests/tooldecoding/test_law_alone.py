"""Law 2: what is written behind a prompt depends on no strategy, neighbour or draft, nor on who joins and leaves."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from lookup.dictionary import LookupDictionary
from tiny_models import OTHER_SHAPES, RECURRENT_SHAPES, SHAPES, byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decode_loop import DecodeLoop, Logits, Spawn, TaskGroup, together
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.decoding.prefill_chunk import PrefillChunkSize
from tooldecoding.decoding.prompt_decoder import DecodedPrompt
from tooldecoding.engines.engine import Feed
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import PROMPTS, WEATHER, lookup, parameter, sound, tool

TOOLS: LookupDictionary = lookup(WEATHER)
TOKENIZER = byte_level_tokenizer()
SEND = tool("Send", parameter("to", "str"), parameter("body", "str"), parameter("n", "int", required=False))
TASKS = [(PROMPTS[0], lookup(WEATHER)), (f"say 'New York' to Bob {PROMPTS[1]}", lookup(SEND, WEATHER))]
SETTINGS: dict[str, dict[str, Any]] = {
    "orders": {"format": "api-bank", "order_limit": 6},
    "drafts": {"format": "pythonic", "order_limit": 1, "max_calls": 2},
    "share": {"format": "pythonic", "order_limit": 6, "max_calls": 2, "optional_share": 0.2},
}

THOROUGH = ("llama", "bloom")
"""Shapes that are decoded with all settings, one for each strategy; each of the others has one of them."""


def tasks(**fields: Any) -> list[Request]:
    return [Request(prompt, tools, DecodeOptions(**{"max_value_tokens": 3} | fields)) for prompt, tools in TASKS]


def decoders(shape: str) -> list[ToolDecoder]:
    """One for each strategy that the model can be decoded with."""
    model = tiny_model(shape, len(TOKENIZER))
    made = [ToolDecoder(model, TOKENIZER, strategy="batched", prompt_cache_mb=0)]
    if shape == "bloom":
        with pytest.raises(ModelError, match="use batched or auto"):
            ToolDecoder(model, TOKENIZER, strategy="packed")
    elif shape not in RECURRENT_SHAPES:
        made.append(ToolDecoder(model, TOKENIZER, strategy="packed", prompt_cache_mb=0))
    assert ToolDecoder(model, TOKENIZER).strategy == made[-1].strategy, "auto packs where that is possible"
    return made


def outcome(result: Any) -> Any:
    """Everything that a result and its candidates wrote."""
    return result.text, [each for call in result.calls for each in orders(call)], result.cut


def orders(call: DecodedCall) -> list[Any]:
    return [(c.order, c.text, c.token_ids, c.labels) for c in call.candidates]


def logprobs(results: Sequence[DecodeResult]) -> Any:
    return [logprob for result in results for call in result.calls for logprob in values(call)]


def cost(result: DecodeResult) -> tuple[int, int]:
    return result.counters.positions, result.counters.forward_passes


@pytest.mark.parametrize(("place", "shape"), list(enumerate([*SHAPES, *OTHER_SHAPES, *RECURRENT_SHAPES])))
def test_strategies_neighbours_and_drafts_change_nothing(place: int, shape: str) -> None:
    made, every = decoders(shape), list(SETTINGS.values())
    for fields in every if shape in THOROUGH else [every[place % len(every)]]:
        plain = made[0].run(tasks(**fields, draft_tokens=0))
        for decoder in made:
            together = decoder.run(tasks(**fields))
            alone = [decoder.run([request])[0] for request in tasks(**fields)]
            assert list(map(outcome, together)) == list(map(outcome, alone)) == list(map(outcome, plain))
            assert logprobs(together) == pytest.approx(logprobs(alone), abs=1e-3)
            assert logprobs(together) == pytest.approx(logprobs(plain), abs=1e-3)
            assert list(map(cost, together)) == list(map(cost, alone))
    if shape in RECURRENT_SHAPES:  # a state cannot go back, so that no draft is tried, and none is paid for
        drafted, plain = (made[0].run(tasks(order_limit=1, draft_tokens=n)) for n in (12, 0))
        assert list(map(cost, drafted)) == list(map(cost, plain))


def test_same_seed_same_output() -> None:
    decoder = decoders("llama")[-1]
    first, second, other = (list(map(outcome, decoder.run(tasks(order_limit=6, seed=seed)))) for seed in (3, 3, 4))
    assert first == second != other


CHUNK = 8


def requests() -> list[Request]:
    """Calls, and texts that may go over into calls; short and long prompts."""
    fields: dict[str, Any] = {"max_value_tokens": 4, "max_text_tokens": 12, "max_calls": 2}
    options = [
        DecodeOptions(tool_choice=choice, order_limit=1 + number, **fields)
        for number, choice in enumerate(("required", "auto", "none"))
    ]
    prompts = [*PROMPTS, PROMPTS[0] * 3, "Hi", PROMPTS[1] * 2]
    return [Request(prompt, TOOLS, options[number % 3]) for number, prompt in enumerate(prompts)]


def begun(decoder: ToolDecoder, loop: DecodeLoop, request: Request, watched: bool = False) -> TaskGroup[DecodedPrompt]:
    return decoder.begin(request, decoder.prompt_ids(request), loop, watched=watched)[1]


@pytest.fixture(scope="module", params=["packed", "batched"])
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    return ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, strategy=request.param)


@pytest.fixture(scope="module")
def alone(decoder: ToolDecoder) -> list[tuple[Any, ...]]:
    loops = [(request, DecodeLoop(decoder.new_engine())) for request in requests()]
    return [outcome(loop.finish([begun(decoder, loop, asked)])[0]) for asked, loop in loops]


@pytest.mark.parametrize("seed", range(4))
def test_who_shares_the_batch_changes_nothing(decoder: ToolDecoder, alone: Sequence[Any], seed: int) -> None:
    chooser, gone = random.Random(seed), 0
    times = itertools.accumulate(chooser.choice([0.1, 1.0, 5.0]) for _ in itertools.count())  # pieces shrink and grow
    engine = decoder.new_engine()
    engine.chunk = chooser.choice([CHUNK, 3 * CHUNK, 1000])
    loop = DecodeLoop(engine, lambda: next(times))
    waiting = [(number, request) for number, request in enumerate(requests()) for _ in range(2)]
    chooser.shuffle(waiting)
    running: list[tuple[int, TaskGroup[DecodedPrompt]]] = []
    found: list[tuple[int, Any]] = []
    while waiting or running:
        if waiting and chooser.random() < 0.3:
            number, request = waiting.pop()
            running.append((number, begun(decoder, loop, request, watched=chooser.random() < 0.5)))
        if running and chooser.random() < 0.05:
            number, run = running.pop(chooser.randrange(len(running)))
            waiting.append((number, requests()[number]))
            loop.leave(run)
            gone += 1
        loop.forward()
        found += [(number, outcome(run.result)) for number, run in running if run.ended]
        running = [(number, run) for number, run in running if not run.ended]
    assert gone and not len(loop)
    assert sorted(found) == sorted([*enumerate(alone), *enumerate(alone)])


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_as_one_ends_the_next_begins(
    decoder: ToolDecoder, alone: Sequence[Any], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, open_at = decoder.begin, list[int]()
    monkeypatch.setattr(decoder, "begin", lambda r, ids, s: (begin(r, ids, s), open_at.append(len(s)))[0])
    together = dict(decoder.run_each(requests(), at_once))
    assert max(open_at) == at_once and len(open_at) == len(alone)
    shown = map(decoder.table.special.shown, (text for text, *_ in alone))
    assert {number: result.text for number, result in together.items()} == dict(enumerate(shown))


def test_a_long_prompt_does_not_hold_the_others(decoder: ToolDecoder) -> None:
    engine = decoder.new_engine()
    engine.extend, engine.chunk = (extend := Mock(wraps=engine.extend)), CHUNK  # type: ignore[method-assign]
    loop = DecodeLoop(engine, lambda: 0.0)
    options = DecodeOptions(tool_choice="none", max_text_tokens=1000)
    begun(decoder, loop, Request("Hi", TOOLS, options), watched=True)
    loop.forward()
    [[watched]] = extend.call_args.args
    prompt = "A long story. " * 30
    size = len(decoder.prompt_ids(Request(prompt, TOOLS, options)))
    for number in range(2):
        begun(decoder, loop, Request(f"{number} {prompt}", TOOLS, options))
    assert not loop.has_room
    fed = 0
    while not loop.has_room:
        loop.forward()
        sizes = {feed.branch: len(feed.tokens) for feed in extend.call_args.args[0]}
        assert sizes.pop(watched.branch) == 1  # its next token
        pieces = [size for size in sizes.values() if size > 1]
        assert len(pieces) <= 2 and max(pieces, default=0) <= CHUNK  # a piece, and the end of the prompt before
        fed += sum(pieces)
    assert fed >= 2 * (size - CHUNK)


def test_an_error_ends_its_prompt_alone_and_tasks_go_on_in_the_sequence_of_spawning(decoder: ToolDecoder) -> None:
    seen: list[Any] = []
    loop = DecodeLoop(engine := decoder.new_engine())
    first, second = engine.open(2)

    async def piece(root: int, name: str, passes: int, more: int | None = None) -> str:
        try:
            for number in range(passes):
                await Logits([Feed(root, [5])])
                seen.append((name, number))
                if more is not None and not number:
                    await Spawn(piece(more, "late", 1))  # its place is behind this one and before the next
        finally:
            seen.append(name)
        return name

    async def broken(branch: int) -> None:
        await Logits([Feed(branch, [5])])
        raise ValueError("broken")

    async def whole() -> list[str]:
        late, other = engine.fork(second), engine.fork(second)
        tasks = [await Spawn(piece(second, "second", 2, late)), await Spawn(piece(other, "other", 2))]
        return [await task for task in tasks]

    bad = loop.spawn(first, together([piece(first, "given up", 9), broken(engine.fork(first))]))
    good = loop.spawn(second, whole())
    loop.forward()
    assert seen == [("given up", 0), "given up", ("second", 0), ("other", 0)]
    assert loop.finish([good]) == [["second", "other"]]
    assert seen[4:] == [("second", 1), "second", ("late", 0), "late", ("other", 1), "other"]
    assert bad.ended and isinstance(bad.error, ValueError)
    with pytest.raises(ValueError, match="broken"):
        bad.result  # noqa: B018
    with pytest.raises(KeyError):
        engine.usage(first)


@pytest.mark.parametrize(("chunk", "tokens_a_second"), [(16, 20), (16, 100), (16, 5_000), (3, 0.01)])
def test_a_pass_with_a_piece_takes_at_most_twice_as_long(chunk: int, tokens_a_second: float) -> None:
    size = PrefillChunkSize()
    for _ in range(100):
        size.note_plain(1.0)
        size.note_mixed(1 + size.of(chunk) / tokens_a_second, is_full=True)
    seconds = 1 + size.of(chunk) / tokens_a_second
    assert seconds <= 2 or size.of(chunk) == 1  # a piece has a token however slow passes are
    assert seconds >= 1.4 or size.of(chunk) == 64 * chunk


@pytest.mark.parametrize("shape", ["llama", "mistral_windowed", "bloom", "lfm2", "mamba"])
@pytest.mark.parametrize("form", ["api-bank", "pythonic"])
def test_a_chosen_tool_is_written_behind_its_own_prompt(shape: str, form: str) -> None:
    def prompt_for(name: str) -> str:
        return f"Be brief.\n{name}(city: a town, to: who gets it)\nUser: say 'Rome' to Bob\nAPI-Request:"

    prompt, several = "Be brief.\nSend GetWeather\nUser: say 'Rome' to Bob\nAPI-Request:", form == "pythonic"
    fields: dict[str, Any] = {"max_value_tokens": 3, "format": form, "order_limit": 6, "max_calls": 1 + several}
    for decoder, choice in itertools.product(decoders(shape), ("required", SEND.name, WEATHER.name)):
        plain = Request(prompt, lookup(SEND, WEATHER), DecodeOptions(tool_choice=choice, **fields))
        found, beside = decoder.run([replace(plain, prompt_for=prompt_for), plain])
        other = decoder.run([plain])[0]
        assert outcome(beside) == outcome(other), "a neighbour has its own prompt"
        call, only = found.calls[0], replace(plain.options, tool_choice=found.calls[0].name)
        expected = decoder.run([replace(plain, prompt=prompt_for(call.name), options=only)])[0].calls[0]
        assert written(call) == written(expected)
        assert values(call) == pytest.approx(values(expected), abs=1e-3)
        assert shape == "lfm2" or written(call) != written(other.calls[0])
        assert len(found.calls) <= 1 + several and sound(found)


def written(call: DecodedCall) -> list[Any]:
    return [each[:3] for each in orders(call)]


def values(call: DecodedCall) -> list[float]:
    return [v.logprob for c in call.candidates for v in c.values]


def test_what_both_prompts_begin_with_is_computed_once() -> None:
    for decoder in decoders("llama"):
        prompts = [f"{'Be brief. ' * 30}{names}\nUser: hello\nAPI-Request:" for names in ("Send GetWeather", "Send")]
        options = DecodeOptions(order_limit=1, max_value_tokens=3, draft_tokens=0)
        plain = [Request(prompt, lookup(SEND, WEATHER), options) for prompt in prompts]
        alone = sum(result.counters.positions for result in decoder.run(plain))
        found = decoder.run([replace(plain[0], prompt_for=lambda _, text=prompts[1]: text)])[0]
        assert found.counters.positions < alone - len(decoder.tokenizer.encode("Be brief. " * 30)) + 20


def test_a_chosen_tool_whose_prompt_is_too_long_is_told() -> None:
    options = DecodeOptions(tool_choice=SEND.name)
    request = Request("Send", lookup(SEND), options, prompt_for=lambda name: f"{name} " * 2000)
    with pytest.raises(PromptError, match=r"documentation of Send has .* no room for a call"):
        decoders("llama")[0].run([request])
