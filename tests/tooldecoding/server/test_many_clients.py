"""Requests that run together change no answer, and their KV caches stay within ``--kv-cache-mb``."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from running_server import HELLO, every_kind, running, tool, wait_until
from tooldecoding.decoder import ToolDecoder

KEYS = ["city", "street", "email", "topic", "month"]
MANY, TWO = ([tool("send_note", **{key: {"type": "string"} for key in KEYS[:count]})] for count in (5, 2))
REQUESTS: list[dict[str, Any]] = [
    {"tools": tools, "tool_choice": choice, "tooldecoding": {"order_limit": orders}}
    for tools, orders, choice in [(MANY, 1, "auto"), (MANY, 4, "required"), (MANY, 12, "required"), (TWO, 12, "auto")]
] + [{"messages": HELLO, "tools": None, "max_tokens": 60}]


@pytest.mark.parametrize(("strategy", "megabytes"), [("packed", 16), ("batched", 120)])
def test_what_runs_together_stays_within_the_bound(strategy: Any, megabytes: int) -> None:
    decoder = ToolDecoder.from_pretrained("reference", device="cpu", strategy=strategy)
    seen: list[tuple[int, int]] = []
    small = {"tools": TWO, "tool_choice": "required", "tooldecoding": {"order_limit": 1}}
    with running(decoder, kv_cache_mb=megabytes) as server, ThreadPoolExecutor(len(REQUESTS)) as clients:

        def watch(extend: Callable[[Any], Any], feeds: Any) -> Any:
            while len(server.answerer.scheduler._waiting) + len(server.answerer.scheduler._jobs) < 4 and not seen:
                time.sleep(0.01)
            answers = extend(feeds)
            scheduler = server.answerer.scheduler
            seen.append((len(scheduler._jobs), scheduler._batch.engine.allocated_bytes))
            return answers

        with server.passing(watch):
            answers = clients.map(lambda fields: server.ask(**fields), [small] * 4)  # at least these fit in together
            assert {answer.status_code for answer in answers} == {200}
            answers = clients.map(lambda fields: server.ask(**fields), REQUESTS)
            assert {answer.status_code for answer in answers} == {200}
    together = [size for jobs, size in seen if jobs > 1]
    assert together and max(together) <= megabytes << 20  # a request may always run alone


def test_answers_do_not_depend_on_other_clients(reference: ToolDecoder) -> None:
    """Streamed or not, short or long, also while others hang up."""
    asked = every_kind()
    with running(reference, max_batch=4) as server, ThreadPoolExecutor(8) as clients:
        alone = [server.answered(**request) for request in asked]
        together = [clients.submit(server.answered, **request) for request in reversed(asked)]
        for request in asked[::4]:
            with closing(server.unread(**request)) as connection:
                connection.recv(1) if request["stream"] else connection.close()
        assert [each.result() for each in reversed(together)] == alone
        wait_until(lambda: not server.asked)
        assert len(server.answerer.scheduler._batch) == 0
