"""``decode --messages`` and rows with messages: what is printed, and one clear line for every bad input."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_models import HERMES

from call_ids import OPENAI
from command_line import Ran, assert_bad
from tiny_models import byte_level_tokenizer, tiny_model

Cli = Callable[..., Ran]

USER = {"role": "user", "content": "Set a timer."}
SCHEMA = {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]}
TOOL = {"type": "function", "function": {"name": "set_timer", "description": "Set.", "parameters": SCHEMA}}


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat")
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = HERMES
    tokenizer.save_pretrained(folder)
    tiny_model("llama", len(tokenizer)).save_pretrained(folder)
    return folder


@pytest.fixture
def decode(cli: Cli, chat_folder: Path) -> Cli:
    few = ["--order-limit", 2, "--max-value-tokens", 6, "--max-text-tokens", 4]
    return lambda *arguments: cli("decode", "--model", chat_folder, *few, *arguments)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any, name: str = "chat.json") -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


class TestMessages:
    def test_a_message_is_printed(self, decode: Cli, file: Any) -> None:
        chat = {"messages": [USER], "tools": [TOOL], "tool_choice": "required"}
        ran = decode("--messages", file(chat), "--json", "--max-calls", 1)
        assert (ran.code, ran.err) == (0, "")
        result = json.loads(ran.out)
        assert list(result)[:4] == ["id", "message", "finish_reason", "format"]
        assert (result["id"], result["format"], result["finish_reason"]) == ("chat", "hermes", "tool_calls")
        [call] = result["message"]["tool_calls"]
        assert OPENAI.fullmatch(call["id"]) and call["function"]["name"] == "set_timer"
        assert json.loads(call["function"]["arguments"]) == result["calls"][0]["arguments"]
        assert result["valid"] and result["text"].startswith("<tool_call>\n")


class TestRows:
    def test_messages_and_prompts_in_one_batch(self, decode: Cli, file: Any) -> None:
        rows = [
            {"id": "m", "messages": [USER], "tools": [TOOL], "tool_choice": "required"},
            {"id": "p", "prompt": "Go.", "tools": [TOOL]},
            {"id": "named", "messages": [USER], "tools": [TOOL],
             "tool_choice": {"type": "function", "function": {"name": "set_timer"}}},
            {"id": "text", "messages": [USER]},
            {"id": "unknown", "messages": [USER], "tools": [TOOL], "tool_choice": "other"},
            {"id": "bad", "messages": [{"role": "robot", "content": "x"}]},
            {"id": "nameless", "messages": [USER], "tools": [{"type": "function", "function": {}}]},
        ]  # fmt: skip
        ran = decode("--batch", file("\n".join(map(json.dumps, rows)), "rows.jsonl"), "--max-calls", 1)
        assert ran.code == 0 and "4 decoded, 0 skipped, 3 failed" in ran.err, ran
        results = {row["id"]: row for row in map(json.loads, ran.out.splitlines())}
        assert OPENAI.fullmatch(results["m"]["message"]["tool_calls"][0]["id"])
        assert results["named"]["finish_reason"] == "tool_calls"
        assert "message" not in results["p"] and results["p"]["calls"]
        assert results["text"]["message"]["content"] and not results["text"]["calls"]
        assert "unknown tool_choice 'other'" in results["unknown"]["error"]
        assert "found 'robot'" in results["bad"]["error"]
        assert "tool" in results["nameless"]["error"]


class TestBad:
    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "chat.json:1:1: malformed JSON: expecting value"),
            ({"messages": [USER], "model": "x", "temperature": 1}, "unknown key 'model'; known: messages"),
            ([{"role": "user", "content": "word " * 5000}], "context is 4096 tokens"),
            ({"messages": [USER], "tool_choice": "required"}, "there is no tool to call"),
        ],
    )  # fmt: skip
    def test_files(self, decode: Cli, file: Any, content: Any, said: str) -> None:
        assert_bad(decode("--messages", file(content)), said)

    def test_two_places(self, decode: Cli, file: Any) -> None:
        chat, tools = file({"messages": [USER], "tools": [TOOL], "tool_choice": "auto"}), file([TOOL], "tools.json")
        assert_bad(decode("--messages", chat, "--tools", tools), "tools stand in the file and in --tools")
        assert_bad(decode("--messages", chat, "--tool-choice", "none"), "stands in the file and in --tool-choice")
        assert_bad(decode("--messages", chat, "--prompt", "x"), "got --prompt and --messages")
        assert_bad(decode("--messages", chat, "--template", "api-bank"), "messages go through the chat template")
        assert_bad(decode("--messages", "-", "--tools", "-"), "standard input can be read once")

    def test_a_model_without_a_chat_template(self, cli: Cli, tiny_model_path: str, file: Any) -> None:
        assert_bad(cli("decode", "--model", tiny_model_path, "--messages", file([USER])), "no chat template")
