"""``tooldecoding lookup``: what it prints, and one clear message for bad documentation."""

import json
from pathlib import Path

from command_line import CASES, Cli, assert_bad
from tools import documented

TOOLS = CASES / "tools.jsonl"
MIXED = """Tools:
def add(a: int, b: Optional[int] = None, **more) -> int:
    \"\"\"Adds.\"\"\"

{"name": "add", "parameters": {"type": "object", "properties": {"x": {"type": "object", "properties": {
  "y": {"type": "string"}}, "required": ["y"]}}, "required": ["x"]}}
type other = (_: {z: string}) => any;
"""


def test_json_has_every_parameter(cli: Cli) -> None:
    tools = json.loads(cli("lookup", TOOLS, "--json").out)["tools"]
    assert [t["name"] for t in tools] == ["BookTable", "CancelTable", "GetWeather"]
    people = tools[0]["parameters"][2]
    known = {"name": "people", "type": "int", "raw_type": "int", "description": "The number of people."}
    assert people == known | {"required": people["required"]}


def test_what_is_read_of_a_text_with_twins(cli: Cli, tmp_path: Path) -> None:
    docs = tmp_path / "docs.txt"
    docs.write_text(MIXED)
    assert_bad(cli("lookup", docs), f"{docs}:5:1: two tools", f"at {docs}:2:1 already", "--on-duplicate rename")
    out = " ".join(cli("lookup", docs, "--on-duplicate", "rename", "--explain").out.split())  # long paths break lines
    for part in ("docs.txt:2:1-3:", "docs.txt:5:1-6:", "add_2", "x.y", "decided by", "habit", "default", "**more"):
        assert part in out
    assert "was not taken: 1" in out and f"{docs}:7:1: a function without documentation" in out
    ran = cli("lookup", docs, "--on-duplicate", "rename", "--json")
    assert ran.code == 0 and f"note: {docs}:7:1: a function without" in ran.err and "taken over for add;" in ran.err


def test_what_is_not_enforced(cli: Cli, tmp_path: Path) -> None:
    docs = tmp_path / "limits.json"
    whole, few = {"type": "array", "contains": {"type": "integer"}}, {"type": "array", "maxItems": 2}
    docs.write_text(json.dumps([documented("a", x=whole), documented("b", description="red \x1b[31m", x=few)]))
    out, plain = cli("lookup", docs, "--explain").out, cli("lookup", docs).out
    assert out.count("not enforced while decoding, only checked: parameter 'x': contains") == 1
    assert out.count("not enforced") == 1 and "not enforced" not in plain
    first, second = json.loads(cli("lookup", docs, "--explain", "--json").out)["tools"]
    assert first["unenforced"] == ["parameter 'x': contains"] and second["unenforced"] == []
    assert "\x1b" not in plain and "\\x1b[31m" in plain, "what would steer a terminal is escaped"


def test_a_file_without_a_tool(cli: Cli, tmp_path: Path) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_bytes(b"caf\xe9")
    assert_bad(cli("lookup", docs), str(docs), "0xe9 at offset 3")
    assert_bad(cli("lookup", CASES / "tool.jsonl"), "no such file", f"did you mean {TOOLS}?")
