"""``tooldecoding decode``: what it prints, and one clear message with exit code 2 for every bad input."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from command_line import CASES, Ran, assert_bad, limited
from tiny_models import sentencepiece_tokenizer, tiny_model

Cli = Callable[..., Ran]
TOOLS = CASES / "tools.jsonl"
DIALOGUE = CASES / "dialogue.jsonl"
TOKENS = {"forced_tokens", "constrained_tokens", "free_tokens"}
COUNTERS = {"forward_passes", "positions", "reused_positions", "padding", *TOKENS, "cache_bytes", "seconds"}


@pytest.fixture
def decode(cli: Cli, tiny_model_path: str) -> Cli:
    return lambda *arguments: cli("decode", "--model", tiny_model_path, "--max-value-tokens", 6, *arguments)


class TestDecode:
    def test_json_is_as_documented(self, decode: Cli) -> None:
        ran = decode("--tools", TOOLS, "--dialogue", DIALOGUE, "--tool-choice", "BookTable", "--json")
        assert ran.code == 0, ran.err
        result = json.loads(ran.out)
        assert list(result) == [
            "id", "format", "text", "thinking", "content", "calls", "valid", "errors", "repeated", "candidates",
            "counters",
        ]  # fmt: skip
        assert result["id"] == "dialogue"
        (call,) = result["calls"]
        assert call["name"] == "BookTable"
        assert list(call["arguments"]) == ["restaurant", "time", "people"]
        assert isinstance(call["arguments"]["people"], int)
        assert all({"name", "value", "votes", "share", "logprob"} <= set(p) for p in call["parameters"])
        assert len(result["candidates"]) == 6
        assert set(result["counters"]) >= COUNTERS

    def test_text_shows_call_vote_orders_and_counters(self, decode: Cli) -> None:
        ran = decode(
            "--tools", TOOLS, "--dialogue", DIALOGUE, "--tool-choice", "BookTable", "--order-limit", 2, "--show-orders"
        )
        assert ran.code == 0, ran.err
        assert "API-Request: [BookTable(restaurant=" in ran.out
        for word in ("restaurant → time → people", "votes", "log-probability", "forward passes"):
            assert word in ran.out

    def test_what_the_model_writes_by_itself_is_shown_beside(self, decode: Cli, tmp_path: Path) -> None:
        some = ["--tools", TOOLS, "--dialogue", DIALOGUE, "--max-text-tokens", 9]
        alone = json.loads(decode(*some, "--tool-choice", "none", "--json").out)
        both = json.loads(decode(*some, "--tool-choice", "BookTable", "--show-greedy", "--json").out)
        assert both["calls"] and both["greedy"]["text"] == alone["text"]
        assert both["greedy"]["forward_passes"] == alone["counters"]["forward_passes"], "the prompt is read again"
        shown = decode(*some, "--tool-choice", "BookTable", "--show-greedy").out
        assert "the model by itself" in shown and "BookTable(" in shown.partition("the model by itself")[2]
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"prompt": "x"}\n')
        assert_bad(decode("--tools", TOOLS, "--batch", rows, "--show-greedy"), "--show-greedy is for a single prompt")

    def test_raw_prompt_brings_its_documentation(self, decode: Cli) -> None:
        ran = decode("--prompt", TOOLS.read_text() + "\nCall: ", "--json", "--order-limit", 1)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["valid"]

    def test_prompt_from_standard_input(self, decode: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(TOOLS.read_text() + "\nCall: "))
        assert decode("--prompt", "-", "--json", "--order-limit", 1).code == 0

    def test_bfcl_writes_typed_literals(self, decode: Cli) -> None:
        ran = decode(
            "--tools", TOOLS, "--prompt", "A table, please.", "--template", "bfcl", "--tool-choice", "BookTable",
            "--json", "--max-calls", 1,
        )  # fmt: skip
        assert ran.code == 0, ran.err
        assert f"people={json.loads(ran.out)['calls'][0]['arguments']['people']}" in ran.out

    def test_a_prompt_with_tools_shows_them_to_the_model(self, decode: Cli) -> None:
        some = ["--tools", TOOLS, "--prompt", "Cancel table 7.", "--order-limit", 1]
        ran = decode(*some)
        assert ran.code == 0 and "User: Cancel table 7.\nAPI-Request: [" in ran.out, ran
        assert "Cancel table 7.[" in decode(*some, "--template", "raw").out

    def test_a_template_that_does_not_fit_is_warned_of(self, decode: Cli) -> None:
        ran = decode("--tools", TOOLS, "--dialogue", DIALOGUE, "--format", "pythonic", "--order-limit", 1, "--json")
        assert ran.code == 0 and ran.err.startswith("warning: the template api-bank asks"), ran

    def test_keys_of_unknown_requiredness(self, decode: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "docs.json"
        keys = {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "integer", "default": 1}}
        docs.write_text(json.dumps({"name": "f", "arguments": {"type": "object", "properties": keys}}))
        ran = decode("--tools", docs, "--prompt", "Go.", "--json", "--unknown-keys", "required")
        (call,) = json.loads(ran.out)["calls"]
        assert {"a", "b"} <= call["arguments"].keys()

    def test_none_writes_text_alone(self, decode: Cli) -> None:
        ran = decode("--prompt", "Hello", "--tool-choice", "none", "--max-text-tokens", 4, "--json")
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["calls"] == []

    def test_config_file(self, decode: Cli, tmp_path: Path) -> None:
        config = tmp_path / "run.yaml"
        config.write_text(f"tools: {TOOLS}\ndialogue: {DIALOGUE}\norder_limit: 3\njson: true\ntool_choice: BookTable\n")
        assert len(json.loads(decode("--config", config).out)["candidates"]) == 3
        assert len(json.loads(decode("--config", config, "--order-limit", 2).out)["candidates"]) == 2


def test_tools_that_are_not_enforced_as_a_whole_are_named_once(decode: Cli, tmp_path: Path) -> None:
    docs = tmp_path / "docs.json"
    docs.write_text(json.dumps([limited("a", contains={"type": "integer"}), limited("b", maxItems=2)]))
    ran = decode("--tools", docs, "--prompt", "x", "--tool-choice", "b", "--format", "pythonic", "--json")
    assert ran.code == 0 and ran.err.count("\n") == 1
    assert "enforced while decoding, but checked after, for a; see lookup --explain" in ran.err
    docs.write_text(json.dumps([limited("b", maxItems=2)]))
    assert decode("--tools", docs, "--prompt", "x", "--format", "pythonic", "--json").err == ""


class TestUncarriedNames:
    DOCS: ClassVar = [
        {"name": "get-weather", "parameters": {"properties": {"from": {"type": "boolean"}}, "required": ["from"]}}
    ]

    def test_are_warned_of_with_the_formats_that_can_carry_them(self, decode: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "docs.json"
        docs.write_text(json.dumps(self.DOCS))
        ran = decode("--tools", docs, "--prompt", "x", "--format", "pythonic", "--json")
        assert ran.code == 0 and ran.err.count("\n") == 1
        assert ran.err.startswith("warning: the format pythonic cannot carry the tool name 'get-weather' (hermes, ")
        assert "the key 'from' of get-weather (api-bank, hermes, " in ran.err

    def test_are_found_in_a_prompt_as_well(self, decode: Cli) -> None:
        ran = decode("--prompt", f"{json.dumps(self.DOCS)}\nUser: x", "--format", "api-bank", "--json")
        assert ran.code == 0 and "warning: the format api-bank cannot carry the tool name" in ran.err
        assert "'from'" not in ran.err


class TestBadDecode:
    @pytest.fixture
    def bad(self, decode: Cli) -> Callable[..., None]:
        def check(arguments: list[object], *said: str) -> None:
            assert_bad(decode("--tools", TOOLS, *arguments), *said)

        return check

    def test_settings(self, bad: Callable[..., None]) -> None:
        some = ["--dialogue", DIALOGUE]
        bad([*some, "--format", "xml"], "--format: expected 'auto', 'api-bank', 'pythonic', 'hermes'", "got 'xml'")
        bad([*some, "--order-limit", "0"], "--order-limit", "1 or more, got 0")
        bad([*some, "--order-limit", "-4"], "1 or more, got -4")
        bad([*some, "--orders", "up"], "--orders", "'shuffled-once' or 'aggregated', got 'up'")
        bad([*some, "--template", "x"], "--template", "got 'x'")
        bad([*some, "--batch-size", "0"], "--batch-size", "got 0")
        bad([*some, "--out", "x"], "--out takes the results of a --batch")
        bad([], "exactly one of --prompt, --messages, --dialogue and --batch, got none")
        bad([*some, "--prompt", "x"], "got --prompt and --dialogue")

    def test_model_device_and_dtype(self, bad: Callable[..., None], tmp_path: Path) -> None:
        some = ["--dialogue", DIALOGUE]
        bad([*some, "--model", tmp_path], "cannot load", str(tmp_path))
        bad([*some, "--device", "abacus"], "device 'abacus'")
        bad([*some, "--dtype", "fp8"], "--dtype", "got 'fp8'")
        bad([*some, "--template", "chat"], "no chat template")
        bad([*some, "--tool-choice", "Nothing"], "unknown tool_choice 'Nothing'", "BookTable")

    def test_prompts(self, bad: Callable[..., None], tmp_path: Path) -> None:
        bad(["--prompt", ""], "the prompt is empty")
        bad(["--prompt", "word " * 6000], "too many", "context is 4096 tokens")
        bad(["--dialogue", tmp_path / "none.jsonl"], "no such file")

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ('{"text": "hi"}', ":2: a dialogue row needs a 'role'"),
            ('{"role": "User"}', ":2: a row of role User needs a 'text'"),
            ('{"role": "User", "text": }', ":2:26: malformed JSON: expecting value"),
        ],
    )
    def test_dialogue_rows(self, bad: Callable[..., None], tmp_path: Path, row: str, said: str) -> None:
        dialogue = tmp_path / "d.jsonl"
        dialogue.write_text('{"role": "User", "text": "hi"}\n' + row + "\n")
        bad(["--dialogue", dialogue], f"{dialogue}{said}")

    def test_prompt_without_documentation(self, decode: Cli) -> None:
        assert_bad(decode("--prompt", "hello"), "<prompt>", "no tool documentation found")

    def test_dialogue_without_documentation(self, decode: Cli) -> None:
        assert_bad(decode("--dialogue", DIALOGUE), "--tools DOCS")

    def test_wrong_number_has_no_traceback(self, decode: Cli) -> None:
        ran = decode("--prompt", "x", "--order-limit", "many")
        assert ran.code == 2
        assert "--order-limit" in ran.err
        assert "Traceback" not in ran.err


def test_a_tokenizer_without_the_needed_characters(cli: Cli, tmp_path: Path) -> None:
    tokenizer = sentencepiece_tokenizer(byte_fallback=False)
    tokenizer.save_pretrained(tmp_path)
    tiny_model("llama", len(tokenizer)).save_pretrained(tmp_path)
    docs = tmp_path / "docs.json"
    docs.write_text('{"name": "f", "parameters": {"type": "object", "properties": {"城市": {"type": "string"}}, '
                    '"required": ["城市"]}}', encoding="utf-8")  # fmt: skip
    ran = cli("decode", "--model", tmp_path, "--tools", docs, "--prompt", "x")
    assert_bad(ran, "has no token for '城'", "byte-level or byte-fallback tokens")


def test_the_demo_has_six_orders(decode: Cli) -> None:
    demo = Path(__file__).parent.parent / "tooldecoding" / "demo"
    ran = decode(
        "--tools", demo / "tools.jsonl", "--dialogue", demo / "dialogue.jsonl", "--tool-choice", "SendMessage", "--json"
    )
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["candidates"]) == 6
