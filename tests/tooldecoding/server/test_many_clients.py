"""Law: an answer does not depend on who else is served, streamed or not, short or long, also while others hang up."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from call_ids import without_ids
from running_server import HELLO, TOOLS, Running, running, tool, wait_until
from tooldecoding.decoder import ToolDecoder

SCHEMA = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}


def requests() -> list[dict[str, Any]]:
    """Calls, text and answers in JSON, with prompts of many lengths."""
    asked: list[dict[str, Any]] = []
    for number, city in enumerate(["Rome", "Paris", "New York"]):
        said = f"{'Well, let me see. ' * 5**number}What is the weather in {city} for {number + 2} days?"
        asked.append({"messages": [{"role": "user", "content": said}], "tool_choice": "required"})
    extra = [tool(f"other_{number}", x={"type": "string"}) for number in range(8)]
    asked.append({"tools": TOOLS + extra})
    asked.append({"messages": HELLO, "tools": None, "max_tokens": 15})
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    asked.append({"tools": None, "response_format": form, "max_tokens": 15})
    return [{"stream": stream, "tooldecoding": {"order_limit": 2}} | each for each in asked for stream in (False, True)]


def answered(server: Running, request: dict[str, Any]) -> Any:
    """What a client sees, without ids, times, cost, and numbers that rounding changes."""
    answers = server.chunks(**request) if request["stream"] else [server.ask(**request).json()]
    found = answers[-1]["tooldecoding"]
    assert found.pop("counters")["forward_passes"] > 0
    for call in found["calls"]:
        for parameter in call["parameters"]:
            assert parameter.pop("logprob") <= 0 < parameter.pop("confidence")
    return without_ids([answer["choices"] for answer in answers]), found


def test_answers_do_not_depend_on_other_clients(reference: ToolDecoder) -> None:
    asked = requests()
    with running(reference, max_batch=4) as server, ThreadPoolExecutor(8) as clients:
        alone = [answered(server, request) for request in asked]
        together = [clients.submit(answered, server, request) for request in reversed(asked)]
        for request in asked[::4]:
            with closing(server.unread(**request)) as connection:
                connection.recv(1) if request["stream"] else connection.close()
        assert [each.result() for each in reversed(together)] == alone
        scheduler = server.answerer.scheduler
        wait_until(lambda: not scheduler._jobs and not scheduler._waiting)
        assert len(server.answerer.scheduler._batch) == 0
