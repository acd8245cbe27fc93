"""langchain-openai against the server."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from running_server import MODEL, ROME, Running

langchain = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed, nor needed")


class GetWeather(BaseModel):
    """Get the weather of a city for some days."""

    city: Annotated[str, Field(max_length=8)]
    days: int


@pytest.fixture(scope="module")
def chat(server: Running) -> Any:
    return langchain.ChatOpenAI(
        base_url=f"{server.url}/v1",
        api_key="any",
        model=MODEL,
        temperature=0,
        max_tokens=40,
        max_retries=0,
        extra_body={"tooldecoding": {"order_limit": 1}},
    )


@pytest.mark.parametrize("choice", [None, "auto", "any", "GetWeather"])
def test_tools_are_bound(chat: Any, choice: str | None) -> None:
    bound = chat.bind_tools([GetWeather], **{} if choice is None else {"tool_choice": choice})
    answer = bound.invoke(ROME)
    [call] = answer.tool_calls
    assert (call["name"], call["args"]) == ("GetWeather", {"city": "Rome", "days": 3})
    assert answer.response_metadata["finish_reason"] == "tool_calls"
    assert answer.usage_metadata["input_tokens"] > 0

    whole = None
    for chunk in bound.stream(ROME):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    assert [(each["name"], each["args"]) for each in whole.tool_calls] == [(call["name"], call["args"])]
    assert not whole.invalid_tool_calls


def test_results_go_back(chat: Any) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    bound = chat.bind_tools([GetWeather], tool_choice="any")
    asked = messages.HumanMessage(ROME[0]["content"])
    answer = bound.invoke([asked])
    result = messages.ToolMessage("Sunny.", tool_call_id=answer.tool_calls[0]["id"])
    assert chat.invoke([messages.SystemMessage("Help."), asked, answer, result]).content


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_structured_output(chat: Any, method: str) -> None:
    assert isinstance(chat.with_structured_output(GetWeather, method=method).invoke(ROME), GetWeather)
    assert isinstance(list(chat.with_structured_output(GetWeather, method=method).stream(ROME))[-1], GetWeather)


def test_text_is_streamed(chat: Any) -> None:
    said = chat.bind(max_tokens=8)
    assert "".join(chunk.content for chunk in said.stream("Hello")) == said.invoke("Hello").content
