"""Groups as bytes: equal behind the wire, and shared tools are one object for a whole run."""

import json
import pickle
from pathlib import Path

from lookup import MISSING, extract
from tooldecoding.batches.batch_rows import read_batch
from tooldecoding.batches.open_source import open_source
from tooldecoding.batches.rows import Row
from tooldecoding.cluster.packing import Packer, Unpacker
from tooldecoding.prompts.documentation import Documentation

SCHEMA = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "[a-f]{2,4}", "default": "ab"},
        "count": {"type": "integer", "minimum": 3, "enum": [3, 4]},
        "place": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "when": {"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 2},
    },
    "required": ["code"],
}
TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}


def test_a_pickled_dictionary_is_the_same() -> None:
    tools = extract([TOOL])
    again = pickle.loads(pickle.dumps(tools))
    assert again == tools and again.to_json(explain=True) == tools.to_json(explain=True)
    assert list(again.decided("required")["look"].parameters) == list(tools.decided("required")["look"].parameters)
    defaults = {parameter.name: parameter.default for parameter in again["look"].parameters}
    assert defaults == {"code": "ab", "count": MISSING, "place": MISSING, "when": MISSING}
    assert defaults["count"] is MISSING


def test_tools_of_several_groups_are_one_object_in_the_worker(tmp_path: Path) -> None:
    documentation = Documentation.read([TOOL], "tools")
    lines = [{"prompt": "Look."}, {"prompt": "Again."}, {"messages": [{"role": "user", "content": "x"}]}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = read_batch(open_source(str(tmp_path / "rows.jsonl")), documentation)
    packer, unpacker = Packer(), Unpacker()
    seen = []
    for row in rows:
        [again] = unpacker.unpack(packer.pack([row]))
        assert again == row
        assert isinstance(again, Row) and again.documentation is not None
        seen.append(again.documentation.lookup)
    assert all(lookup is seen[0] for lookup in seen)


def test_only_the_latest_tools_are_kept() -> None:
    packer, unpacker = Packer(), Unpacker()
    many = [extract([{**TOOL, "function": {**TOOL["function"], "name": f"tool_{n}"}}]) for n in range(130)]  # type: ignore[dict-item]
    for tools in many:
        assert unpacker.unpack(packer.pack(tools)) == tools
    assert unpacker.unpack(packer.pack(many)) == many
