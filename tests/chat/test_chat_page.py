"""The agent of the page on chat, run as it stands there, on a model that a test speaks for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from chat_models import HERMES, decoder_of, says

PAGE = (Path(__file__).parents[2] / "docs" / "chat.md").read_text(encoding="utf-8")


def snippet(name: str) -> dict[str, Any]:
    """The names that the page's snippet with a function defines."""
    [code] = [code for code in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE) if name in code]
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "<page>", "exec"), names)
    return names


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def planned(prompt: str) -> str:
    """Ask for the weather, tell it to Ada, then say so; each step needs the result of the one before."""
    results = re.findall(r"\[tool\](.*)\n", prompt)
    if not results:
        return call("get_weather", city="Rome", days=2)
    if len(results) == 1:
        return "I tell her.\n" + call("send_message", to="Ada", text="/".join(json.loads(results[0])["forecast"]))
    return f"Done: {json.loads(results[1])}"


def test_the_agent_gives_results_back_until_the_model_answers() -> None:
    decoder = decoder_of(HERMES, max_value_tokens=30)
    says(decoder, planned)
    messages = snippet("def run_agent")["run_agent"](decoder, "Tell Ada how the weather in Rome will be.")
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert json.loads(messages[2]["content"]) == {"city": "Rome", "forecast": ["rain", "rain"]}
    assert messages[3]["content"] == "I tell her."
    [sent] = messages[3]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"to": "Ada", "text": "rain/rain"}
    assert messages[5] == {"role": "assistant", "content": "Done: sent to Ada"}


def test_the_page_shows_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    decoder = decoder_of(HERMES, max_value_tokens=30)
    says(decoder, planned)
    tools = [*snippet("def run_agent")["TOOLS"].values()]
    reply = snippet("def show")["show"](decoder, [{"role": "user", "content": "Go."}], tools)
    assert capsys.readouterr().out == f"{reply.ids[0]} get_weather {{'city': 'Rome', 'days': 2}}\n"
    assert reply.finish_reason == "tool_calls"
