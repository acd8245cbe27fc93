"""The command line: what it prints, and one clear message with exit code 2 for every bad input."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from conftest import CASES, Ran
from tiny_models import sentencepiece_tokenizer, tiny_model

Cli = Callable[..., Ran]
TOOLS = CASES / "tools.jsonl"
DIALOGUE = CASES / "dialogue.jsonl"
TOKENS = {"forced_tokens", "constrained_tokens", "free_tokens"}
COUNTERS = {"forward_passes", "positions", "reused_positions", "padding", *TOKENS, "cache_bytes", "seconds"}


@pytest.fixture
def decode(cli: Cli, tiny_model_path: str) -> Cli:
    return lambda *arguments: cli("decode", "--model", tiny_model_path, "--max-value-tokens", 6, *arguments)


def assert_bad(ran: Ran, *said: str) -> None:
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    for part in said:
        assert part in ran.err


class TestLookup:
    def test_json_has_every_parameter(self, cli: Cli) -> None:
        tools = json.loads(cli("lookup", TOOLS, "--json").out)["tools"]
        assert [t["name"] for t in tools] == ["BookTable", "CancelTable", "GetWeather"]
        people = tools[0]["parameters"][2]
        assert people == {
            "name": "people",
            "type": "int",
            "raw_type": "int",
            "required": people["required"],
            "description": "The number of people.",
        }

    def test_table_names_each_key(self, cli: Cli) -> None:
        out = cli("lookup", TOOLS).out
        assert all(word in out for word in ("BookTable", "restaurant", "booking_id", "required", "raw type"))

    def test_reads_standard_input(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(TOOLS.read_text()))
        assert cli("lookup", "-", "--json").code == 0

    def test_escapes_what_would_steer_a_terminal(self, cli: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "docs.jsonl"
        docs.write_text(json.dumps({"name": "A", "description": "red \x1b[31m", "input_parameters": {}}))
        ran = cli("lookup", docs)
        assert "\x1b" not in ran.out
        assert "\\x1b[31m" in ran.out

    def test_needs_no_torch(self) -> None:
        code = "import sys; import tooldecoding.cli.app; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MIXED = """Tools:
def add(a: int, b: Optional[int] = None, **more) -> int:
    \"\"\"Adds.\"\"\"

{"name": "add", "parameters": {"type": "object", "properties": {"x": {"type": "object", "properties": {
  "y": {"type": "string"}}, "required": ["y"]}}, "required": ["x"]}}
type other = (_: {z: string}) => any;
"""


class TestExplain:
    @pytest.fixture
    def docs(self, tmp_path: Path) -> Path:
        path = tmp_path / "docs.txt"
        path.write_text(MIXED)
        return path

    def test_twins_are_an_error_that_shows_both_places(self, cli: Cli, docs: Path) -> None:
        assert_bad(cli("lookup", docs), f"{docs}:5:1: two tools", f"at {docs}:2:1 already", "--on-duplicate rename")

    def test_span_form_and_rules(self, cli: Cli, docs: Path) -> None:
        out = cli("lookup", docs, "--on-duplicate", "rename", "--explain").out
        for part in ("docs.txt:2:1-3:", "docs.txt:5:1-6:", "add_2", "x.y", "decided by", "habit", "default", "**more"):
            assert part in out
        assert "was not taken: 1" in out and f"{docs}:7:1: a function without documentation" in out

    def test_json(self, cli: Cli, docs: Path) -> None:
        ran = cli("lookup", docs, "--on-duplicate", "rename", "--explain", "--json")
        found = json.loads(ran.out)
        assert [t["name"] for t in found["tools"]] == ["add", "add_2"] and ran.err == ""
        assert found["tools"][1]["documented_name"] == "add"
        for tool, begins in zip(found["tools"], ("def add", '{"name"'), strict=True):
            span = tool["source"]["span"]
            assert MIXED[span["start"] : span["end"]].startswith(begins)
        assert [p["rule"] for p in found["tools"][0]["parameters"]] == ["habit", "default"]
        assert found["tools"][1]["parameters"][0]["properties"][0]["required"] is True
        assert [entry["span"]["line"] for entry in found["unread"]] == [7]

    def test_what_was_not_taken_is_said_on_standard_error(self, cli: Cli, docs: Path) -> None:
        ran = cli("lookup", docs, "--on-duplicate", "rename", "--json")
        assert ran.code == 0 and f"note: {docs}:7:1: a function without" in ran.err and "taken over for add;" in ran.err


def test_bench_lookup_reads_every_form(cli: Cli) -> None:
    rows = [
        json.loads(line)
        for line in cli("bench", "lookup", "--megabytes", 0.01, "--repeats", 1, "--json").out.splitlines()
    ]
    forms = [row for row in rows if ":" not in row["name"] and row["name"] != "prose"]
    assert len(forms) == 9 and {row["outcome"] for row in forms} == {"128 tools"}
    assert {row["name"].partition(":")[0] for row in rows if row not in forms} == {"documentation", "prose", "hostile"}


class TestBadDocumentation:
    def test_missing_file_names_the_nearest(self, cli: Cli) -> None:
        assert_bad(cli("lookup", CASES / "tool.jsonl"), "no such file", f"did you mean {TOOLS}?")

    def test_missing_folder(self, cli: Cli, tmp_path: Path) -> None:
        assert_bad(cli("lookup", tmp_path / "no" / "tools.jsonl"), "no such file", "no folder")

    def test_folder(self, cli: Cli) -> None:
        assert_bad(cli("lookup", CASES), "expected a file, found a directory")

    def test_not_utf8(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "docs").write_bytes(b"caf\xe9")
        assert_bad(cli("lookup", tmp_path / "docs"), "expected UTF-8", "0xe9 at offset 3")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "empty"),
            ('{"name": "A"}', "no tool documentation found"),
            ("nothing here", ":1:1: expected a value, found 'nothing here'"),
            ('{"name": "A", "description": "", "input_parameters": {"k": }}', ":1:"),
        ],
    )
    def test_text_without_a_tool(self, cli: Cli, tmp_path: Path, text: str, said: str) -> None:
        docs = tmp_path / "docs.jsonl"
        docs.write_text(text)
        assert_bad(cli("lookup", docs), str(docs), said)

    def test_two_tools_of_one_name(self, cli: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "docs.jsonl"
        docs.write_text(TOOLS.read_text() * 2)
        assert_bad(cli("lookup", docs), "two tools of one name", "'BookTable'", ":4:1", ":1:1")


class TestDecode:
    def test_json_is_as_documented(self, decode: Cli) -> None:
        ran = decode("--tools", TOOLS, "--dialogue", DIALOGUE, "--tool-choice", "BookTable", "--json")
        assert ran.code == 0, ran.err
        result = json.loads(ran.out)
        assert list(result) == ["id", "text", "calls", "valid", "errors", "candidates", "counters"]
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


class TestUncarriedNames:
    DOCS: ClassVar = [
        {"name": "get-weather", "parameters": {"properties": {"from": {"type": "boolean"}}, "required": ["from"]}}
    ]

    def test_are_warned_of_with_the_formats_that_can_carry_them(self, decode: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "docs.json"
        docs.write_text(json.dumps(self.DOCS))
        ran = decode("--tools", docs, "--prompt", "x", "--format", "pythonic", "--json")
        assert ran.code == 0 and ran.err.count("\n") == 1
        assert ran.err.startswith("warning: the format pythonic cannot carry the tool name 'get-weather' (no format")
        assert "the key 'from' of get-weather (api-bank can carry it)" in ran.err

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
        bad([*some, "--format", "xml"], "--format: expected 'api-bank' or 'pythonic', got 'xml'")
        bad([*some, "--order-limit", "0"], "--order-limit", "1 or more, got 0")
        bad([*some, "--order-limit", "-4"], "1 or more, got -4")
        bad([*some, "--orders", "up"], "--orders", "'shuffled-once' or 'aggregated', got 'up'")
        bad([*some, "--template", "x"], "--template", "got 'x'")
        bad([*some, "--batch-size", "0"], "--batch-size", "got 0")
        bad([*some, "--out", "x"], "--out takes the results of a --batch")
        bad([], "exactly one of --prompt, --dialogue and --batch, got none")
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
