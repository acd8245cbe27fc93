"""``tooldecoding decode``: what it prints of prompts and messages, and one clear line for every bad input."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from call_ids import OPENAI
from command_line import CASES, Cli, assert_bad
from tiny_models import saved, sentencepiece_tokenizer
from tools import documented

TOOLS = CASES / "tools.jsonl"
BOTH = ["--tools", TOOLS, "--dialogue", CASES / "dialogue.jsonl"]
TOKENS = {"forced_tokens", "constrained_tokens", "free_tokens"}
COUNTERS = {"forward_passes", "positions", "reused_positions", "padding", *TOKENS, "cache_bytes", "seconds"}
USER = {"role": "user", "content": "Set a timer."}
TOOL = {"type": "function", "function": documented("set_timer", description="Set.", minutes={"type": "boolean"})}
CHAT = {"messages": [USER], "tools": [TOOL], "tool_choice": "required"}


@pytest.fixture
def decode(cli: Cli, tiny_model_path: str) -> Cli:
    return lambda *arguments: cli("decode", "--model", tiny_model_path, "--max-value-tokens", 6, *arguments)


@pytest.fixture
def chat(cli: Cli, chat_model_path: Path) -> Cli:
    """``decode`` with a chat model."""
    few = ["--order-limit", 2, "--max-value-tokens", 6, "--max-text-tokens", 4, "--max-calls", 1]
    return lambda *arguments: cli("decode", "--model", chat_model_path, *few, *arguments)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any, name: str = "chat.json") -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def test_json_is_as_documented(decode: Cli) -> None:
    ran = decode(*BOTH, "--tool-choice", "BookTable", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert list(result) == [
        "id", "format", "text", "thinking", "content", "calls", "valid", "errors", "cut", "too_many", "repeated",
        "next_call_log_odds", "left_out", "asked", "candidates", "counters",
    ]  # fmt: skip
    assert result["id"] == "dialogue"
    (call,) = result["calls"]
    assert call["name"] == "BookTable"
    assert list(call["arguments"]) == ["restaurant", "time", "people"]
    assert isinstance(call["arguments"]["people"], int)
    assert all({"name", "value", "votes", "share", "logprob"} <= set(p) for p in call["parameters"])
    assert len(result["candidates"]) == 4
    assert set(result["counters"]) >= COUNTERS


def test_what_the_model_writes_by_itself_is_shown_beside(decode: Cli, file: Any) -> None:
    some = [*BOTH, "--max-text-tokens", 9]
    alone = json.loads(decode(*some, "--tool-choice", "none", "--json").out)
    both = json.loads(decode(*some, "--tool-choice", "BookTable", "--show-greedy", "--json").out)
    assert both["calls"] and both["greedy"]["text"] == alone["text"]
    assert both["greedy"]["forward_passes"] == alone["counters"]["forward_passes"], "the prompt is read again"
    shown = decode(*some, "--tool-choice", "BookTable", "--show-greedy").out
    assert "the model by itself" in shown and "BookTable(" in shown.partition("the model by itself")[2]
    ran = decode("--tools", TOOLS, "--batch", file('{"prompt": "x"}\n'), "--show-greedy")
    assert_bad(ran, "--show-greedy is for a single prompt")


def test_a_prompt_with_tools_shows_them_to_the_model(decode: Cli) -> None:
    some = ["--tools", TOOLS, "--prompt", "Cancel table 7.", "--order-limit", 1]
    ran = decode(*some)
    assert ran.code == 0 and "User: Cancel table 7.\nAPI-Request: [" in ran.out, ran
    assert "Cancel table 7.[" in decode(*some, "--template", "raw").out
    ran = decode(*BOTH, "--format", "pythonic", "--order-limit", 1, "--json")
    assert ran.code == 0 and ran.err.startswith("warning: the template api-bank asks"), ran


def test_keys_of_unknown_requiredness(decode: Cli, file: Any) -> None:
    keys = {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "integer", "default": 1}}
    docs = file({"name": "f", "arguments": {"type": "object", "properties": keys}})
    ran = decode("--tools", docs, "--prompt", "Go.", "--json", "--unknown-keys", "required")
    (call,) = json.loads(ran.out)["calls"]
    assert {"a", "b"} <= call["arguments"].keys()


def test_a_message_is_printed(chat: Cli, file: Any) -> None:
    ran = chat("--messages", file(CHAT), "--json")
    assert (ran.code, ran.err) == (0, "")
    result = json.loads(ran.out)
    assert list(result)[:4] == ["id", "message", "finish_reason", "format"]
    assert (result["id"], result["format"], result["finish_reason"]) == ("chat", "hermes", "tool_calls")
    [call] = result["message"]["tool_calls"]
    assert OPENAI.fullmatch(call["id"]) and call["function"]["name"] == "set_timer"
    assert json.loads(call["function"]["arguments"]) == result["calls"][0]["arguments"]
    assert result["valid"] and result["text"].startswith("<tool_call>\n")


def test_messages_and_prompts_in_one_batch(chat: Cli, file: Any) -> None:
    rows = {
        "m": CHAT,
        "p": {"prompt": "Go.", "tools": [TOOL]},
        "named": CHAT | {"tool_choice": {"type": "function", "function": {"name": "set_timer"}}},
        "text": {"messages": [USER]},
        "bad": {"messages": [{"role": "robot", "content": "x"}]},
    }
    lines = "\n".join(json.dumps({"id": name} | row) for name, row in rows.items())
    ran = chat("--batch", file(lines, "rows.jsonl"))
    assert ran.code == 0 and "4 decoded, 0 skipped, 1 failed" in ran.err, ran
    results = {row["id"]: row for row in map(json.loads, ran.out.splitlines())}
    assert OPENAI.fullmatch(results["m"]["message"]["tool_calls"][0]["id"])
    assert results["named"]["finish_reason"] == "tool_calls"
    assert "message" not in results["p"] and results["p"]["calls"]
    assert results["text"]["message"]["content"] and not results["text"]["calls"]
    assert "found 'robot'" in results["bad"]["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BOTH, "--dtype", "fp8"], ["--dtype", "such as float64 or torch.bfloat16, got 'fp8'"]),
        ([*BOTH, "--template", "chat"], ["no chat template"]),
        (["--prompt", "hello"], ["<prompt>", "no tool documentation found"]),
        (BOTH[2:], ["--tools DOCS"]),
    ],
)
def test_what_cannot_be_decoded(decode: Cli, arguments: list[object], said: list[str]) -> None:
    assert_bad(decode(*arguments), *said)


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        ("", [], "chat.json:1:1: malformed JSON: expecting value"),
        ({"messages": [USER], "model": "x", "temperature": 1}, [], "unknown key 'model'; known: messages"),
        ([{"role": "user", "content": "word " * 5000}], [], "context is 4096 tokens"),
        ({"messages": [USER], "tool_choice": "required"}, [], "there is no tool to call"),
        (CHAT, ["--tools", TOOLS], "tools stand in the file and in --tools"),
        (CHAT, ["--tool-choice", "none"], "stands in the file and in --tool-choice"),
        (CHAT, ["--prompt", "x"], "got --prompt and --messages"),
        (CHAT, ["--template", "api-bank"], "messages go through the chat template"),
    ],
)
def test_bad_messages(chat: Cli, file: Any, content: Any, arguments: list[Any], said: str) -> None:
    assert_bad(chat("--messages", file(content), *arguments), said)


def test_a_tokenizer_without_the_needed_characters(cli: Cli, file: Any, tmp_path: Path) -> None:
    docs, model = file(documented("f", 城市={"type": "string"})), saved(tmp_path, sentencepiece_tokenizer(False))
    ran = cli("decode", "--model", model, "--tools", docs, "--prompt", "x")
    assert_bad(ran, "has no token for '城'", "byte-level or byte-fallback tokens")
