"""Law: what is written behind a prompt does not depend on who joins and leaves beside it."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.calls.prompt_decoder import DecodedPrompt
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import BranchId, Feed
from tooldecoding.engines.piece_size import PieceSize
from tooldecoding.engines.running_batch import RunningBatch
from tooldecoding.engines.steps import Steps
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tools import PROMPTS, WEATHER, lookup

TOOLS: LookupDictionary = lookup(WEATHER)
TOKENIZER = byte_level_tokenizer()
CHUNK = 8


def requests() -> list[Request]:
    """Calls, and texts that may go over into calls; short and long prompts."""
    found = []
    for number, prompt in enumerate([*PROMPTS, PROMPTS[0] * 3, "Hi", PROMPTS[1] * 2]):
        options = DecodeOptions(
            tool_choice=("required", "auto", "none")[number % 3], order_limit=1 + number % 3, max_value_tokens=4,
            max_text_tokens=12, max_calls=2,
        )  # fmt: skip
        found.append(Request(prompt, TOOLS, options))
    return found


def begun(
    decoder: ToolDecoder, batch: RunningBatch[DecodedPrompt], request: Request
) -> tuple[BranchId, Steps[DecodedPrompt]]:
    run, steps = decoder.begin(request, decoder.prompt_ids(request), batch.engine)
    return run.root, steps


def written(prompt: DecodedPrompt) -> tuple[Any, ...]:
    orders = [(c.order, c.text, c.token_ids, c.labels) for call in prompt.calls for c in call.candidates]
    return prompt.text, orders, prompt.cut


@pytest.fixture(scope="module", params=["packed", "batched"])
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    return ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, strategy=request.param)


@pytest.fixture(scope="module")
def alone(decoder: ToolDecoder) -> list[tuple[Any, ...]]:
    found = []
    for request in requests():
        batch: RunningBatch[DecodedPrompt] = RunningBatch(decoder.new_engine())
        batch.engine.chunk = None
        root, steps = begun(decoder, batch, request)
        batch.join(root, steps)
        found.append(written(ended(batch)[root]))
    return found


def ended(batch: RunningBatch[DecodedPrompt]) -> dict[BranchId, DecodedPrompt]:
    """Run to the end."""
    found: dict[BranchId, Any] = {}
    while len(batch):
        found |= batch.forward()
    return found | batch.forward()


@pytest.mark.parametrize("seed", range(4))
def test_who_shares_the_batch_changes_nothing(decoder: ToolDecoder, alone: Sequence[Any], seed: int) -> None:
    chooser = random.Random(seed)
    times = itertools.accumulate(chooser.choice([0.1, 1.0, 5.0]) for _ in itertools.count())  # pieces shrink and grow
    batch: RunningBatch[DecodedPrompt] = RunningBatch(decoder.new_engine(), lambda: next(times))
    batch.engine.chunk = chooser.choice([CHUNK, 3 * CHUNK, 1000])
    waiting = [(number, request) for number, request in enumerate(requests()) for _ in range(2)]
    chooser.shuffle(waiting)
    running: dict[BranchId, int] = {}
    found: list[tuple[int, Any]] = []
    gone = 0
    while waiting or running:
        if waiting and chooser.random() < 0.3:
            number, request = waiting.pop()
            root, steps = begun(decoder, batch, request)
            running[root] = number
            batch.join(root, steps, watched=chooser.random() < 0.5)
        if running and chooser.random() < 0.05:
            root = chooser.choice(list(running))
            waiting.append((running[root], requests()[running.pop(root)]))
            batch.leave(root)
            gone += 1
        for root, outcome in batch.forward().items():
            assert isinstance(outcome, DecodedPrompt), outcome
            found.append((running.pop(root), written(outcome)))
    assert gone and len(found) == 2 * len(alone)
    for number, result in found:
        assert result == alone[number], number


class Recorder:
    """An engine that notes the feeds of each pass."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.passes: list[list[Feed]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def extend(self, feeds: Sequence[Feed]) -> Any:
        self.passes.append(list(feeds))
        return self._engine.extend(feeds)


def test_a_long_prompt_does_not_hold_the_others(decoder: ToolDecoder) -> None:
    batch: RunningBatch[DecodedPrompt] = RunningBatch(decoder.new_engine(), lambda: 0.0)
    batch.engine.chunk = CHUNK
    options = DecodeOptions(tool_choice="none", max_text_tokens=1000)
    short, steps = begun(decoder, batch, Request("Hi", TOOLS, options))
    batch.join(short, steps, watched=True)
    batch.forward()
    recorder = Recorder(batch.engine)
    batch.engine = recorder  # type: ignore[assignment]
    prompt = "A long story. " * 30
    size = len(decoder.prompt_ids(Request(prompt, TOOLS, options)))
    for number in range(2):
        root, steps = begun(decoder, batch, Request(f"{number} {prompt}", TOOLS, options))
        batch.join(root, steps)
    assert not batch.has_room
    fed = 0
    while not batch.has_room:
        batch.forward()
        sizes = {feed.branch: len(feed.tokens) for feed in recorder.passes[-1]}
        assert sizes.pop(short) == 1  # its next token
        pieces = [size for size in sizes.values() if size > 1]
        assert len(pieces) <= 2 and max(pieces, default=0) <= CHUNK  # a piece, and the end of the prompt before
        fed += sum(pieces)
    assert fed >= 2 * (size - CHUNK)


@pytest.mark.parametrize("tokens_a_second", [20, 100, 5_000])
def test_a_pass_with_a_piece_takes_at_most_twice_as_long(tokens_a_second: int) -> None:
    size, chunk = PieceSize(), 16
    for _ in range(100):
        size.note_plain(1.0)
        size.note_mixed(1 + size.of(chunk) / tokens_a_second, is_full=True)
    seconds = 1 + size.of(chunk) / tokens_a_second
    assert seconds <= 2 and (seconds >= 1.4 or size.of(chunk) == 64 * chunk)


def test_a_piece_has_a_token_however_slow_passes_are() -> None:
    size = PieceSize()
    size.note_plain(1.0)
    for _ in range(20):
        size.note_mixed(100.0, is_full=True)
    assert size.of(3) == 1
