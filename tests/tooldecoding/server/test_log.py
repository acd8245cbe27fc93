"""The log: one line an answer, request ids, and no prompt unless asked for."""

import json
import logging
from typing import Any

import pytest

from running_server import Running, body, running, wait_until
from tooldecoding.decoder import ToolDecoder

SECRET = "Qzvx"
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": f"Weather in {SECRET} for 3 days?"}],
    "tool_choice": "required",
    "tooldecoding": {"order_limit": 1},
}


def fields(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [{"event": record.getMessage(), **getattr(record, "fields", {})} for record in caplog.records]


def test_prompts_are_logged_only_when_asked_for(
    server: Running, reference: ToolDecoder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert SECRET in server.ask(**ASKED).text
        server.ask(**ASKED | {"temperature": SECRET})
        server.ask(**ASKED | {SECRET: 1})
        assert not [row for row in fields(caplog) if SECRET in str(row)]
        with running(reference, log_prompts=True) as telling:
            telling.ask(**ASKED)
        [told] = [row for row in fields(caplog) if SECRET in str(row)]
    assert told["event"] == "prompt" and told["request_id"]


@pytest.mark.parametrize("status", [200, 400, 404])
def test_an_answer_has_the_id_of_its_request(server: Running, caplog: pytest.LogCaptureFixture, status: int) -> None:
    changes = {200: {}, 400: {"n": 2}, 404: {"model": "other"}}[status]
    request = body(tool_choice="none", max_tokens=1, **changes)
    with caplog.at_level(logging.INFO):
        answer = server.send(json.dumps(request), {"X-Request-ID": "trace:1.a-B_2"})
        wait_until(lambda: any(row["event"] == "answered" for row in fields(caplog)))  # it is written behind the answer
    assert answer.status_code == status
    assert answer.headers["x-request-id"] == "trace:1.a-B_2"
    [line] = [row for row in fields(caplog) if row["event"] == "answered"]
    assert (line["request_id"], line["status"], line["path"]) == ("trace:1.a-B_2", status, "/v1/chat/completions")
    assert line["seconds"] >= 0
