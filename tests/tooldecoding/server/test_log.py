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


@pytest.mark.parametrize(("status", "changes"), [(200, {}), (400, {SECRET: 1}), (404, {"model": SECRET})])
def test_an_answer_has_the_id_of_its_request_and_prompts_are_logged_only_when_asked_for(
    server: Running, reference: ToolDecoder, caplog: pytest.LogCaptureFixture, status: int, changes: dict[str, Any]
) -> None:
    content, identifier = json.dumps(body(**ASKED | changes)), {"X-Request-ID": "trace:1.a-B_2"}
    with caplog.at_level(logging.DEBUG):
        answer = server.send(content, identifier)
        wait_until(lambda: any(row["event"] == "answered" for row in fields(caplog)))  # it is written behind the answer
        assert not [row for row in fields(caplog) if SECRET in str(row)]
        [line] = [row for row in fields(caplog) if row["event"] == "answered"]
        with running(reference, log_prompts=True) as telling:
            telling.send(content, identifier)
        told = [row for row in fields(caplog) if row["event"] == "prompt"]
    assert (answer.status_code, answer.headers["x-request-id"]) == (status, "trace:1.a-B_2") and SECRET in answer.text
    assert (line["request_id"], line["status"], line["path"]) == ("trace:1.a-B_2", status, "/v1/chat/completions")
    assert line["seconds"] >= 0
    assert all(SECRET in str(row) and row["request_id"] == "trace:1.a-B_2" for row in told)
    assert told or status != 200
