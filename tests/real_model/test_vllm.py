"""The real vLLM on a CPU, with the plug-in and behind the proxy; ``make vllm`` installs it and runs these."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import openai
import pytest

from running_server import HELLO, ROME, TOOLS, running, tool
from tooldecoding.decoder import ToolDecoder

PLACE: Final = os.environ.get("TOOLDECODING_TEST_VLLM")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(PLACE is None, reason="make vllm installs vLLM")]
READY_S: Final = 300
TWO = [{"role": "user", "content": "What is the weather in Rome for 3 days, and in Oslo for 2 days?"}]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def vllm(port: int, plugin: bool) -> Iterator[subprocess.Popen[bytes]]:
    """Inside the block vLLM serves the model ``qwen``."""
    assert PLACE is not None
    place = Path(PLACE).absolute()
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    environment |= {"VLLM_PLUGINS": "tooldecoding" if plugin else ""}
    command = [
        place / "bin/python", "-m", "vllm.entrypoints.openai.api_server", "--model", place / "model",
        "--served-model-name", "qwen", "--dtype", "bfloat16", "--max-model-len", "16384", "--enforce-eager",
        "--enable-scale-out", "--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--port", port,
    ]  # fmt: skip
    with subprocess.Popen([*map(str, command)], cwd="/", env=environment, start_new_session=True) as process:
        try:
            end = time.monotonic() + READY_S
            while not is_ready(port):
                assert time.monotonic() < end and process.poll() is None
                time.sleep(1)
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/v1/models").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def plugged() -> Iterator[str]:
    port = free_port()
    with vllm(port, plugin=True):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module", params=["plug-in", "proxy"])
def client(request: pytest.FixtureRequest, plugged: str) -> Iterator[openai.OpenAI]:
    if request.param == "plug-in":
        yield openai.OpenAI(base_url=plugged + "/v1", api_key="none")
        return
    with running(ToolDecoder.from_upstream(plugged), upstream=plugged, model="qwen") as server:
        yield openai.OpenAI(base_url=server.url + "/v1", api_key="none")


def calls(message: Any) -> list[tuple[str, str]]:
    return [(each.function.name, each.function.arguments) for each in message.tool_calls or ()]


def test_every_kind_of_request(client: openai.OpenAI) -> None:
    def ask(messages: Any, choice: Any, **more: Any) -> Any:
        return client.chat.completions.create(
            model="qwen", messages=messages, tools=TOOLS, tool_choice=choice, max_tokens=200, **more
        )

    rome = [("get_weather", '{"city": "Rome", "days": 3}')]
    assert calls(ask(ROME, "required").choices[0].message) == rome
    assert calls(ask(ROME, "auto").choices[0].message) == rome
    [named] = calls(ask(ROME, {"type": "function", "function": {"name": "book_table"}}).choices[0].message)
    assert named[0] == "book_table"
    assert ask(HELLO, "none").choices[0].message.content
    assert len(calls(ask(TWO, "required").choices[0].message)) == 2
    deltas = [chunk.choices[0].delta for chunk in ask(ROME, "required", stream=True) if chunk.choices]
    streamed = [call for delta in deltas for call in delta.tool_calls or ()]
    assert [call.function.name for call in streamed if call.function.name] == ["get_weather"]
    made = [{"type": "function", **each["function"]} for each in TOOLS]
    response = client.responses.create(model="qwen", input=ROME[0]["content"], tools=made, tool_choice="required")
    assert [item.type for item in response.output] == ["function_call"]


def test_requests_without_tools_are_the_engines_own(client: openai.OpenAI, plugged: str) -> None:
    given = {"model": "qwen", "messages": HELLO, "temperature": 0, "max_tokens": 12}
    straight = openai.OpenAI(base_url=plugged + "/v1", api_key="none").chat.completions.create(**given)
    passed = client.chat.completions.create(**given)
    assert passed.choices == straight.choices
    left = client.chat.completions.create(**given, tools=TOOLS, extra_body={"tooldecoding": False})
    assert "tooldecoding" not in (left.model_extra or {})


def test_many_tools_and_other_scripts(client: openai.OpenAI) -> None:
    tools = [*TOOLS, *(tool(f"tool_{n}", text={"type": "string"}) for n in range(126))]
    asked = [{"role": "user", "content": "東京の天気を3日分教えてください"}]
    made = client.chat.completions.create(model="qwen", messages=asked, tools=tools, tool_choice="required")
    assert calls(made.choices[0].message)


def test_an_engine_that_was_killed_and_started_again_goes_on() -> None:
    port = free_port()
    with vllm(port, plugin=False):
        served = ToolDecoder.from_upstream(f"http://127.0.0.1:{port}")
        first = served.chat(ROME, TOOLS, "required").calls[0]
    served.model.server._patience = READY_S
    with vllm(port, plugin=False):
        assert served.chat(ROME, TOOLS, "required").calls[0].arguments == first.arguments
