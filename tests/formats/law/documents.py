"""The tool documentation of the corpora, as prompts with tools and with JSON Schemas that ``lookup`` had no part in."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data import rows
from lookup import extract
from lookup.dictionary import LookupDictionary

Json = dict[str, Any]

_GROUP = 6
"""Tools in a prompt, where the corpus does not say."""
_TYPES = {
    "str": "string", "string": "string", "enum": "string", "date": "string", "int": "integer", "integer": "integer",
    "float": "number", "number": "number", "bool": "boolean", "boolean": "boolean", "list": "array", "array": "array",
    "tuple": "array", "dict": "object", "object": "object",
}  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A prompt with its tools, as ``extract`` reads them, and a JSON Schema of ``parameters`` for each ``name``."""

    id: str
    question: str
    source: Any = field(repr=False)
    schemas: list[Json] = field(repr=False)

    @property
    def tools(self) -> LookupDictionary:
        """The tools as ``lookup`` reads them."""
        return extract(self.source, on_duplicate="rename")


def documents(data: Path) -> Iterator[Document]:
    """Everything in the folder of all corpora, in the same sequence each time."""
    for read in (_benchmarks, _sgd, _api_bank, _seal_tools, _stable_tool_bench):
        yield from read(data)


def _benchmarks(data: Path) -> Iterator[Document]:
    """BFCL, and ACEBench, whose questions are texts."""
    for path in (*sorted((data / "bfcl").glob("BFCL_v4_*.json")), *sorted((data / "acebench").glob("data_*.json"))):
        for entry in rows(path):
            if tools := entry.get("function"):
                asked = entry["question"]
                question = asked if isinstance(asked, str) else asked[0][-1]["content"]
                yield Document(entry["id"], question, tools, list(map(_schema, tools)))


def _sgd(data: Path) -> Iterator[Document]:
    for path in sorted((data / "sgd").glob("*_tools*.json")):
        for name, tools in itertools.groupby(json.loads(path.read_text(encoding="utf-8")), lambda t: t["service"]):
            distinct = list({tool["name"]: tool for tool in tools}.values())
            yield Document(f"{path.stem} {name}", "Find me a bus.", distinct, list(map(_schema, distinct)))


def _api_bank(data: Path) -> Iterator[Document]:
    for number, group in _groups(rows(data / "api-bank" / "api_descriptions.jsonl")):
        schemas = []
        for row in group:
            keys = row["input_parameters"]
            required = [key for key, spec in keys.items() if "[Optional]" not in spec["description"]]
            schemas.append(_object(row["name"], keys, required))
        yield Document(f"api-bank {number}", "Book a meeting.", group, schemas)


def _seal_tools(data: Path) -> Iterator[Document]:
    for number, group in _groups(rows(data / "seal-tools" / "tool.jsonl")):
        schemas = [_object(row["api_name"], row["parameters"], row.get("required", ())) for row in group]
        yield Document(f"seal-tools {number}", "Look it up.", group, schemas)


def _stable_tool_bench(data: Path) -> Iterator[Document]:
    for path in sorted((data / "stabletoolbench").glob("*.json")):
        for query in json.loads(path.read_text(encoding="utf-8")):
            distinct = list({document["api_name"]: document for document in query["api_list"]}.values())
            schemas = []
            for row in distinct:
                required = [key["name"] for key in row["required_parameters"]]
                keys: dict[str, Json] = {}
                for key in (*row["required_parameters"], *row["optional_parameters"]):
                    keys.setdefault(key["name"], key)  # the first of a name counts
                schemas.append(_object(row["api_name"], keys, required))
            yield Document(f"query {query['query_id']}", query["query"], distinct, schemas)


def _groups(tools: list[Json]) -> Iterator[tuple[int, list[Json]]]:
    return ((start // _GROUP, tools[start : start + _GROUP]) for start in range(0, len(tools), _GROUP))


def _object(name: str, keys: Mapping[str, Json], required: Iterable[str]) -> Json:
    """The schema of keys that stand beside a list of required ones; an empty default is none."""
    kept = {
        key: {k: v for k, v in spec.items() if k in ("type", "enum", "items", "default") and (k, v) != ("default", "")}
        for key, spec in keys.items()
    }
    return _schema({"name": name, "parameters": {"properties": kept, "required": list(required)}})


def _schema(function: Mapping[str, Any]) -> Json:
    """The function with the types of JSON Schema."""
    parameters = function["parameters"] if "parameters" in function else function.get("arguments", {})
    return {"name": function["name"], "parameters": {**_plain(parameters), "type": "object"}}


def _plain(schema: Any) -> Any:
    """A schema with the types of JSON Schema; an enum beside ``array`` is that of the elements."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _plain(value) if key not in ("enum", "default") else value for key, value in schema.items()}
    if isinstance(plain.get("type"), str):
        word = re.match(r"\w+", plain.pop("type").lower())  # ``list(str)``, ``DATE (YYYY-MM-DD)``
        plain |= {"type": _TYPES[word[0]]} if word and word[0] in _TYPES else {}
    if plain.get("type") == "array" and "enum" in plain:
        plain["items"] = {**plain.get("items", {}), "enum": plain.pop("enum")}
    if isinstance(plain.get("required"), list) and plain.get("properties"):
        # a required key of which nothing is documented may be anything
        missing = [key for key in plain["required"] if key not in plain["properties"]]
        plain["properties"] |= {key: {} for key in missing}
    if plain.get("properties") == {}:
        del plain["properties"]
    return plain
