"""The tool documentation of all corpora, as prompts with tools and with JSON Schemas that ``lookup`` had no part in."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookup import extract
from lookup.dictionary import LookupDictionary
from parity.corpora import groups, read_lines
from parity.facts import ABSENT, Key, Tool, kind_of_name
from parity.oracle import api_bank_tool, rapid_tool, seal_tool
from parity.oracle_openapi import openapi_tools

Json = dict[str, Any]

_GROUP = 6
"""Tools in a prompt, where the corpus does not say."""
_TYPES = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "array",
    "dict": "object",
}  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A prompt with its tools.

    Attributes
    ----------
    source : object
        What ``extract`` reads.
    schemas : list of dict
        For each tool its ``name`` and its ``parameters``, a JSON Schema.
    """

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
    for read in _CORPORA:
        yield from read(data)


def _bfcl(data: Path) -> Iterator[Document]:
    for path in sorted((data / "bfcl").glob("BFCL_v4_*.json")):
        for entry in read_lines(path):
            if entry.get("function"):
                question = entry["question"][0][-1]["content"]
                yield Document(entry["id"], question, entry["function"], list(map(_schema, entry["function"])))


def _acebench(data: Path) -> Iterator[Document]:
    for path in sorted((data / "acebench").glob("data_*.json")):
        for entry in read_lines(path):
            if entry["function"]:
                schemas = list(map(_schema, entry["function"]))
                yield Document(entry["id"], entry["question"], entry["function"], schemas)


def _sgd(data: Path) -> Iterator[Document]:
    for path in sorted((data / "sgd").glob("*_tools*.json")):
        for name, tools in itertools.groupby(json.loads(path.read_text(encoding="utf-8")), lambda t: t["service"]):
            distinct = list({tool["name"]: tool for tool in tools}.values())
            yield Document(f"{path.stem} {name}", "Find me a bus.", distinct, list(map(_schema, distinct)))


def _api_bank(data: Path) -> Iterator[Document]:
    path = data / "api-bank" / "api_descriptions.jsonl"
    yield from _facts(path.name, read_lines(path), api_bank_tool)


def _seal_tools(data: Path) -> Iterator[Document]:
    path = data / "seal-tools" / "tool.jsonl"
    yield from _facts(path.name, read_lines(path), seal_tool)


def _stable_tool_bench(data: Path) -> Iterator[Document]:
    for path in sorted((data / "stabletoolbench").glob("*.json")):
        for query in json.loads(path.read_text(encoding="utf-8")):
            distinct = list({document["api_name"]: document for document in query["api_list"]}.values())
            schemas = [_schema_of(rapid_tool(document)) for document in distinct]
            yield Document(f"query {query['query_id']}", query["query"], distinct, schemas)


def _open_api(data: Path) -> Iterator[Document]:
    """ToolAlpaca and RestBench; a large document stands in several prompts."""
    named = [(path.stem, path.read_text(encoding="utf-8")) for path in sorted((data / "restbench").glob("*_oas.json"))]
    for path in sorted((data / "toolalpaca").glob("*.json")):
        apis = json.loads(path.read_text(encoding="utf-8"))
        named += [(api["Name"], api["Documentation"]) for api in apis if "Documentation" in api]
    for name, text in named:
        document = json.loads(text)
        for number, group in groups(list(document["paths"]), _GROUP):
            part = document | {"paths": {path: document["paths"][path] for path in group}}
            schemas = [_schema_of(tool) for tool in openapi_tools(part)]
            yield Document(f"{name} {number}", "Who directed it?", part, schemas)


_CORPORA = (_bfcl, _api_bank, _seal_tools, _open_api, _stable_tool_bench, _sgd, _acebench)


def _facts(name: str, rows: list[Json], read: Callable[[Json], Tool]) -> Iterator[Document]:
    for number, group in groups(rows, _GROUP):
        yield Document(f"{name} {number}", "Book a meeting.", group, [_schema_of(read(row)) for row in group])


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
        kind = _TYPES.get(kind_of_name(plain.pop("type")).partition("[")[0])
        plain |= {"type": kind} if kind else {}
    if plain.get("type") == "array" and "enum" in plain:
        plain["items"] = {**plain.get("items", {}), "enum": plain.pop("enum")}
    if plain.get("properties") == {}:
        del plain["properties"]
    return plain


def _schema_of(tool: Tool) -> Json:
    """The JSON Schema of a flat description."""
    root: Json = {"type": "object", "properties": {}, "required": []}
    for key in tool.keys:
        path, around = key.path, root
        *outer, name = path.replace("[]", "\0[]").split(".") if _is_path(path, tool) else [path]
        for part in outer:
            around = around["properties"][part.partition("\0")[0]]
            for _ in range(part.count("[]")):
                around = around.setdefault("items", {})
        around.setdefault("properties", {})[name] = _key_schema(key)
        around.setdefault("required", []).extend([name] if key.required else [])
    return {"name": tool.name, "parameters": root}


def _is_path(path: str, tool: Tool) -> bool:
    """Whether a key with a dot stands inside another one."""
    outer = {key.path for key in tool.keys}
    return "." in path and path.rpartition(".")[0].replace("[]", "") in {o.replace("[]", "") for o in outer}


def _key_schema(key: Key) -> Json:
    schema = _kind_schema(key.kind.removesuffix("?"))
    if key.enum is not None:
        (schema.setdefault("items", {}) if schema.get("type") == "array" else schema)["enum"] = list(key.enum)
    if key.element_enum is not None:
        schema.setdefault("items", {})["enum"] = list(key.element_enum)
    if key.default is not ABSENT:
        schema["default"] = key.default
    if key.kind.endswith("?"):
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema


def _kind_schema(kind: str) -> Json:
    outer, _, inner = kind.partition("[")
    schema: Json = {"type": _TYPES[outer]} if outer in _TYPES else {}
    if inner:
        schema["items"] = _kind_schema(inner.removesuffix("]"))
    return schema
