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

    def test_the_message_goes_on_in_the_next_file(self, decode: Cli, file: Any) -> None:
        tools, conversation = file([TOOL], "tools.json"), [USER]
        for _ in range(3):
            ran = decode("--messages", file(conversation), "--tools", tools, "--tool-choice", "set_timer", "--json",
                         "--max-calls", 1)  # fmt: skip
            assert ran.code == 0, ran.err
            message = json.loads(ran.out)["message"]
            [call] = message["tool_calls"]
            assert call["id"] not in json.dumps(conversation)
            conversation += [message, {"role": "tool", "tool_call_id": call["id"], "content": "ok"}]

    def test_the_model_need_not_call(self, decode: Cli, file: Any) -> None:
        """Without --tool-choice, messages are decoded with ``auto``: a random model writes text."""
        ran = decode("--messages", file([USER]), "--tools", file([TOOL], "tools.json"), "--json")
        assert json.loads(ran.out)["finish_reason"] == "length"
        assert json.loads(decode("--messages", file([USER]), "--json").out)["calls"] == []

    def test_the_format_of_a_prompt_is_that_of_the_template(self, decode: Cli, file: Any) -> None:
        ran = decode("--prompt", "Go.", "--tools", file([TOOL], "tools.json"), "--json", "--max-calls", 1)
        assert json.loads(ran.out)["format"] == "hermes"
        ran = decode("--prompt", "Go.", "--tools", file([TOOL], "tools.json"), "--json", "--template", "api-bank")
        assert json.loads(ran.out)["format"] == "api-bank"

    def test_another_format_is_warned_of(self, decode: Cli, file: Any) -> None:
        some = ["--tools", file([TOOL], "tools.json"), "--format", "pythonic", "--json", "--max-calls", 1]
        for given in (["--prompt", "Go."], ["--messages", file([USER]), "--tool-choice", "required"]):
            ran = decode(*given, *some)
            assert ran.code == 0 and ran.err.count("\n") == 1
            assert ran.err.startswith("warning: the model's chat template writes calls in the format hermes, but")

    def test_text_output_shows_the_call(self, decode: Cli, file: Any) -> None:
        chat = {"messages": [USER], "tools": [TOOL], "tool_choice": "required"}
        ran = decode("--messages", file(chat), "--max-calls", 1, "--min-confidence", 0.5)
        assert ran.code == 0 and "[assistant]<tool_call>" in ran.out and "confidence" in ran.out


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
        assert "messages[0]: unknown role 'robot'" in results["bad"]["error"]
        assert "tool" in results["nameless"]["error"]


class TestBad:
    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "chat.json:1:1: malformed JSON: expecting value"),
            ("[" * 100_000, "chat.json: malformed JSON: nested too deeply"),
            ("3", "expected a list of messages or an object with 'messages', found int"),
            ({"message": [USER]}, "found only 'message'"),
            ({"messages": [USER], "model": "x", "temperature": 1}, "unknown key 'model'; known: messages"),
            ([], "messages: expected at least one message"),
            ([{"role": "robot", "content": "x"}], "messages[0]: unknown role 'robot'"),
            ([USER, {"role": "tool", "tool_call_id": "a", "content": "x"}], "messages[1]: the tool_call_id 'a' is"),
            ([USER, {"role": "assistant", "content": "x"}], "messages[1]: the conversation ends"),
            ([{"role": "user", "content": "word " * 5000}], "context is 4096 tokens"),
            ([{"role": "user", "content": "x" * (17 << 20)}], "messages[0]: expected at most"),
            ({"messages": [USER], "tools": [{"type": "function", "function": {"parameters": SCHEMA}}]}, "needs a name"),
            ({"messages": [USER], "tools": [TOOL], "tool_choice": "other"}, "unknown tool_choice 'other'"),
            ({"messages": [USER], "tools": [TOOL], "tool_choice": {"type": "tool"}}, "chat.json: tool_choice:"),
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

    def test_a_missing_file(self, decode: Cli, tmp_path: Path) -> None:
        assert_bad(decode("--messages", tmp_path / "none.json"), "no such file")

    def test_a_model_without_a_chat_template(self, cli: Cli, tiny_model_path: str, file: Any) -> None:
        assert_bad(cli("decode", "--model", tiny_model_path, "--messages", file([USER])), "no chat template")
