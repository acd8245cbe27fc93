"""Extraction from every corpus finds what its data say, as objects and in the middle of any prompt."""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from data import DATA, needs_data
from formats.law.documents import documents
from lookup import MISSING, ParameterSpec, extract

STEP = 8
METHODS = {"get", "put", "post", "delete", "patch"}
STYLES: list[dict[str, Any]] = [
    {}, {"allow_unicode": True, "width": 1000}, {"default_flow_style": None}, {"default_style": '"'},
]  # fmt: skip
TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array"}
FRAMES = (
    "You compose functions. [Use] {only} these:\nTOOLS\n\nQuestion: QUESTION\n",
    "<|im_start|>system\nYou may call one or more functions (e.g. f(x)).\n\n# Tools\n\nTOOLS\n<|im_end|>\n"
    "<|im_start|>user\nQUESTION<|im_end|>\n<|im_start|>assistant\n",
    "SYSTEM: answer in the format [func(key='value')], nothing else.\n\n```\nTOOLS\n```\nUser: QUESTION\nAssistant:",
    "Here is a list of functions in JSON, XML or Python format that you can invoke.\nTOOLS\n\n### User: QUESTION\n",
)
# The users of these entries of BFCL paste documentation of other tools.
DECOYS = tuple(
    f"live_{kind}_{number}-"
    for kind, numbers in (("simple", [78]), ("multiple", [125]), ("irrelevance", [91, 121, 257, 421, 517, 518, 765]))
    for number in numbers
)


def prompt(text: str, question: str, number: int) -> str:
    """Documentation with other text around it, in one of several layouts, such as indented or with CRLF."""
    layout = number % (len(FRAMES) + 2)
    text = indent(text, "    ") if layout == len(FRAMES) else text
    whole = FRAMES[layout % len(FRAMES)].replace("TOOLS", text).replace("QUESTION", question)
    return whole.replace("\n", "\r\n") if layout == len(FRAMES) + 1 else whole


def different(schema: dict[str, Any], parameters: tuple[ParameterSpec, ...]) -> Iterator[str]:
    """What an object's keys have otherwise than its schema says."""
    properties, found = schema.get("properties", {}), {p.name: p for p in parameters}
    if list(properties) != list(found):
        yield f"keys {list(properties)}, found {list(found)}"
        return
    for name, spec in properties.items():
        p, listed = found[name], schema.get("required")
        inside = p.type.items
        enum = p.enum if p.enum or inside is None else inside.enum
        wanted = spec["items"] if spec.get("type") == "array" and "items" in spec else spec
        if isinstance(spec.get("type"), str) and not p.type.any_of and TYPES.get(p.type.kind, "array") != spec["type"]:
            yield f"{name} is {p.type}, not {spec['type']}"
        if "enum" in wanted and enum != tuple(wanted["enum"]):
            yield f"{name} has {enum}, not {wanted['enum']}"
        if p.default != spec.get("default", MISSING):
            yield f"{name} has {p.default}"
        if spec.get("description", p.description) != p.description:
            yield f"{name} says {p.description!r}"
        own = {"optional", "required"} & {k for k, v in spec.items() if isinstance(v, bool | str)}
        if listed is not None and not own and bool(p.required) != (name in listed):
            yield f"{name} is required: {p.required} by {p.rule}"
        if spec.get("type") == "object" and "properties" in spec:
            yield from different(spec, p.type.properties or ())
        elif isinstance(spec.get("items"), dict) and "properties" in spec["items"] and inside is not None:
            yield from different(spec["items"], inside.properties or ())


@needs_data
def test_tools_of_all_corpora_are_those_of_their_data() -> None:
    for number, document in enumerate(list(documents(DATA))[::STEP]):
        tools, names = document.tools, {schema["name"] for schema in document.schemas}
        assert {t.documented_name or t.name for t in tools.tools} == names, document.id
        for tool, schema in zip(tools.tools, document.schemas, strict=True):
            assert list(different(schema["parameters"], tool.parameters)) == [], document.id
        if document.id.startswith(DECOYS):
            continue
        lines = "\n".join(json.dumps(part, ensure_ascii=False) for part in document.source)
        for text in (json.dumps(document.source, indent=(None, 4)[number % 2]), repr(document.source), lines):
            assert extract(prompt(text, document.question, number), on_duplicate="rename") == tools, document.id


def open_api(data: Path) -> Iterator[tuple[str, Any]]:
    """Documents of OpenAPI with their names."""
    for path in sorted((data / "toolalpaca").glob("eval_*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")):
            if "Documentation" in entry:
                yield entry["Name"], json.loads(entry["Documentation"])
    for path in sorted((data / "restbench").glob("*_oas.json")):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))


@needs_data
def test_open_api_documents_are_read_in_json_and_in_every_style_of_yaml() -> None:
    for number, (name, document) in enumerate(open_api(DATA)):
        tools = extract(document)
        assert len(tools.tools) == sum(len(METHODS & item.keys()) for item in document["paths"].values()) > 0, name
        assert extract(prompt(json.dumps(document), "Find one.", number)) == tools, name
        if number % 8 == 0:
            for style in STYLES:
                text = yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, **style)
                assert extract(text) == tools, name
                assert extract(prompt(f"```yaml\n{text.rstrip()}\n```", "Find one.", number)) == tools, name
