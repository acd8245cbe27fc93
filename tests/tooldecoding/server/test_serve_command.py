"""``tooldecoding serve``: its address, its log, and how it ends."""

import json
import logging
import socket
from typing import Any

import pytest

from command_line import Cli, assert_bad
from running_server import HELLO, MODEL, PATH, Running, body, running, serving, wait_until
from tooldecoding.decoder import ToolDecoder

SECRET = "Qzvx"


def test_a_port_in_use_is_told_before_the_model_is_loaded(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.app.load_completions", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_bad(cli("serve", "--port", port), "cannot listen on 127.0.0.1", str(port), "in use")


def test_what_runs_is_finished_when_the_server_is_told_to_stop() -> None:
    with serving("-m", "tooldecoding", "serve", "--model", MODEL, "--port", 0, "--device", "cpu") as served:
        served.assert_what_runs_is_finished()
    answered = [line for line in served.logged("answered") if line["path"] == PATH]
    assert [line["status"] for line in answered] == [200, 200]
    assert all({"time", "level", "event"} <= line.keys() and line["level"] == "info" for line in served.lines)
    assert HELLO[0]["content"] not in str(served.lines)


@pytest.mark.parametrize(("status", "changes"), [(200, {}), (400, {SECRET: 1}), (404, {"model": SECRET})])
def test_an_answer_has_the_id_of_its_request_and_prompts_are_logged_only_when_asked_for(
    server: Running, reference: ToolDecoder, caplog: pytest.LogCaptureFixture, status: int, changes: dict[str, Any]
) -> None:
    said = [{"role": "user", "content": f"Weather in {SECRET} for 3 days?"}]
    asked = body(messages=said, tool_choice="required", tooldecoding={"order_limit": 1}, **changes)
    content, identifier = json.dumps(asked), {"X-Request-ID": "trace:1.a-B_2"}

    def logged(event: str) -> list[dict[str, Any]]:
        return [record.fields for record in caplog.records if record.getMessage() == event]  # type: ignore[attr-defined]

    with caplog.at_level(logging.DEBUG):
        answer = server.send(content, identifier)
        wait_until(lambda: bool(logged("answered")))  # it is written behind the answer
        assert not [record for record in caplog.records if SECRET in str(vars(record))]
        [line] = logged("answered")
        with running(reference, log_prompts=True) as telling:
            telling.send(content, identifier)
    assert (answer.status_code, answer.headers["x-request-id"]) == (status, "trace:1.a-B_2") and SECRET in answer.text
    assert (line["request_id"], line["status"], line["path"]) == ("trace:1.a-B_2", status, PATH)
    assert line["seconds"] >= 0
    prompts = logged("prompt")
    assert all(SECRET in row["prompt"] and row["request_id"] == "trace:1.a-B_2" for row in prompts)
    assert prompts or status != 200
