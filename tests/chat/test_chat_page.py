"""The agent of the page on chat, run as it stands there, on a model that a test speaks for."""

import re
from pathlib import Path
from typing import Any

import pytest
from chat_models import HERMES, MCP_STUB, call, decoder_of, says

from tooldecoding.agents.servers import McpServer

PAGE = (Path(__file__).parents[2] / "docs" / "chat.md").read_text(encoding="utf-8")


def snippet(name: str) -> dict[str, Any]:
    """The names that the page's snippet with a function defines."""
    [code] = [code for code in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) if name in code]
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "<page>", "exec"), names)
    return names


def get_weather(city: str, days: int) -> str:
    """Get the weather forecast.

    Args:
        city: Name of the city.
        days: Number of days.
    """
    return "rain"


def test_the_agent_calls_tools_of_a_server_until_the_model_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = McpServer(name="stub", command=MCP_STUB[0], args=MCP_STUB[1:])
    monkeypatch.setattr(McpServer, "parse", classmethod(lambda cls, text: stub))
    decoder = decoder_of(HERMES, max_value_tokens=30)
    says(decoder, lambda prompt: "Done." if "[tool]" in prompt else "I ask.\n" + call("echo", text="Rome"))
    messages = snippet("def run_agent")["run_agent"](decoder, "Say Rome.")
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["content"] == "I ask." and messages[2]["content"] == "Rome"
    assert messages[3] == {"role": "assistant", "content": "Done."}


def test_the_page_shows_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    decoder = decoder_of(HERMES, max_value_tokens=30)
    says(decoder, lambda prompt: call("get_weather", city="Rome", days=2))
    reply = snippet("def show")["show"](decoder, [{"role": "user", "content": "Go."}], [get_weather])
    assert capsys.readouterr().out == f"{reply.ids[0]} get_weather {{'city': 'Rome', 'days': 2}}\n"
    assert reply.finish_reason == "tool_calls"
