"""Memory and padding: one copy of the prompt's cache, slots are reused, rows of other lengths cost little."""

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.pass_cost import padding_worth_a_pass
from tooldecoding.engines.slot_cache import CHUNK
from tools import lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("llama", len(TOKENIZER))
LANGUAGE_MODEL = LanguageModel(MODEL)
SLOT = 2 * 2 * 2 * 16 * 4  # layers, keys and values, heads, width, bytes


def check(engine: PackedEngine, branch: int, tokens: list[int], feed: list[int]) -> None:
    """Feed some tokens; the logits are those of the whole sequence."""
    [[found]] = engine.extend([Feed(branch, feed)])
    with torch.inference_mode():
        expected = MODEL(torch.tensor([[*tokens, *feed]])).logits[0, -1]
    torch.testing.assert_close(found.logits, expected, atol=1e-4, rtol=1e-4)


def test_slots_of_dropped_tokens_and_finished_branches_are_used_again() -> None:
    engine = PackedEngine(LANGUAGE_MODEL)
    [root] = engine.open(1)
    prompt = list(range(5, 5 + CHUNK - 4))
    check(engine, root, [], prompt)
    for token in range(30):  # 4 slots are free in the first chunk
        fork = engine.fork(root)
        engine.extend([Feed(fork, [token + 5, 7, 8], ahead=2)])
        engine.drop(fork, 2)
        check(engine, fork, [*prompt, token + 5], [9, 10])
        engine.release(fork)
    assert engine.usage(root).cache_bytes == CHUNK * SLOT
    check(engine, root, prompt, [11, 12, 13])


def test_a_branch_outlives_the_one_that_it_forked_from() -> None:
    engine = PackedEngine(LANGUAGE_MODEL)
    [root] = engine.open(1)
    check(engine, root, [], [5, 6, 7])
    fork = engine.fork(root)
    engine.release(root)
    other = engine.fork(fork)
    check(engine, fork, [5, 6, 7], [8, 9])
    check(engine, other, [5, 6, 7], [10])
    engine.release(fork)
    for token in range(20):
        check(engine, other, [5, 6, 7, 10, *range(20, 20 + token)], [20 + token])


def test_memory_is_given_back_at_once() -> None:
    gc.disable()
    try:
        engine = PackedEngine(LANGUAGE_MODEL)
        [root] = engine.open(1)
        check(engine, root, [], [5, 6, 7])
        cache = weakref.ref(engine._cache)
        del engine
        assert cache() is None
    finally:
        gc.enable()


def memory(required: int, order_limit: int, prompt_tokens: int = 1000) -> int:
    spec = tool("F", *(parameter(f"k{i}", "str") for i in range(required)))
    decoder = ToolDecoder(MODEL, TOKENIZER, prompt_cache_mb=0, max_value_tokens=8, draft_tokens=0)
    ids = (TOKENIZER.encode("go on, please. ") * prompt_tokens)[:prompt_tokens]
    [result] = decoder.run([decoder_request(decoder, ids, spec, order_limit)])
    assert len(result.calls[0].candidates) == min(order_limit, [1, 1, 2, 6, 24][required])
    return result.counters.cache_bytes


def decoder_request(decoder: ToolDecoder, ids: list[int], spec: Any, order_limit: int) -> Any:
    return Request(ids, lookup(spec), replace(decoder.options, order_limit=order_limit))


@pytest.mark.parametrize("required", [1, 2])
def test_twelve_orders_of_few_keys_add_little_memory(required: int) -> None:
    assert memory(required, 12) < 1.15 * memory(required, 1)


def test_the_memory_of_orders_does_not_grow_with_the_prompt() -> None:
    def added(prompt_tokens: int) -> int:
        return memory(4, 12, prompt_tokens) - memory(4, 1, prompt_tokens)

    assert abs(added(1000) - added(3000)) <= CHUNK * SLOT  # the prompt's cache exists once


def test_prompts_of_very_different_lengths_do_not_pad_each_other() -> None:
    engine = PackedEngine(LANGUAGE_MODEL)
    lengths = [3, 900, 70, 8, 890, 75]
    roots = engine.open(len(lengths))
    prompts = [[5 + (i * 7 + j) % 200 for j in range(n)] for i, n in enumerate(lengths)]
    answers = engine.extend([Feed(r, p) for r, p in zip(roots, prompts, strict=True)])
    for [found], prompt in zip(answers, prompts, strict=True):
        with torch.inference_mode():
            expected = MODEL(torch.tensor([prompt])).logits[0, -1]
        torch.testing.assert_close(found.logits, expected, atol=1e-4, rtol=1e-4)
    padding = sum(engine.usage(r).padding for r in roots)
    assert (
        padding <= padding_worth_a_pass(torch.device("cpu")) * 3
    )  # passes: of 3 and 8 tokens, of 70 and 75, of the long ones
    assert all(engine.usage(r).forward_passes == 1 for r in roots)
    for root in roots[1:]:
        engine.release(root)
    check(engine, roots[0], prompts[0], [9])  # the rows of finished prompts have left
    assert engine.usage(roots[0]).padding <= padding
