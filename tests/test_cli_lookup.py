"""``tooldecoding lookup``: what they print, and one clear message for bad documentation."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import CASES, Cli, assert_bad, limited

TOOLS = CASES / "tools.jsonl"


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

    def test_what_is_not_enforced(self, cli: Cli, tmp_path: Path) -> None:
        docs = tmp_path / "limits.json"
        docs.write_text(json.dumps([limited("a", contains={"type": "integer"}), limited("b", maxItems=2)]))
        out = cli("lookup", docs, "--explain").out
        assert out.count("not enforced while decoding, only checked: parameter 'x': contains") == 1
        assert out.count("not enforced") == 1
        assert "not enforced" not in cli("lookup", docs).out
        first, second = json.loads(cli("lookup", docs, "--explain", "--json").out)["tools"]
        assert first["unenforced"] == ["parameter 'x': contains"] and second["unenforced"] == []

    def test_what_was_not_taken_is_said_on_standard_error(self, cli: Cli, docs: Path) -> None:
        ran = cli("lookup", docs, "--on-duplicate", "rename", "--json")
        assert ran.code == 0 and f"note: {docs}:7:1: a function without" in ran.err and "taken over for add;" in ran.err


class TestBadDocumentation:
    def test_missing_file_names_the_nearest(self, cli: Cli) -> None:
        assert_bad(cli("lookup", CASES / "tool.jsonl"), "no such file", f"did you mean {TOOLS}?")

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
