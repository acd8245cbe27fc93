"""Where the tests ask lookup: the grammar and the check of a schema, and how much work something is."""

import json
import sys
from collections.abc import Callable
from typing import Any

from lookup import extract
from lookup.dictionary import MISSING, ParameterSpec, ToolSpec, ValueType
from lookup.errors import DocumentationError
from lookup.grammar.notations import BareKeys, Notation, RawText
from lookup.grammar.value_grammar import ValueGrammar, schema_grammar
from lookup.schema.document import Document
from lookup.schema.value_schema import ValueSchema, value_schema

Schema = dict[str, Any]
NOTATIONS: list[Notation] = [
    "python", "quoted", "json", "json-lines", "python-lists", "python-json", RawText("\n</parameter>"),
    RawText("</arg_value>"), RawText("</P>", " string=T>", " string=F>"), RawText("\U000f0003"),
    RawText("</\U000f0003p>", ' s="1">', ' s="0">'), BareKeys("<|q|>"), BareKeys("\U000f0004"),
]  # fmt: skip
ONE_OF_EACH: list[Notation] = [
    "python", "quoted", "json", "json-lines", RawText("\n</parameter>"), BareKeys("\U000f0004"),
]  # fmt: skip


def keyed(required: str = "", /, **properties: Any) -> Schema:
    """The schema of an object with these keys."""
    return {"type": "object", "properties": properties, "required": required.split()}


def documented(schema: Schema) -> ValueSchema:
    """A schema as the documentation of a tool."""
    return value_schema(schema, Document(schema, documentation=True))


def grammar_of(allowed: ValueSchema, notation: Notation = "json") -> ValueGrammar | None:
    """The grammar; None if the schema allows nothing that the notation can write."""
    try:
        return schema_grammar(allowed, notation)
    except DocumentationError:
        return None


def spec(kind: ValueType | Any, enum: tuple[Any, ...] | None = None, **fields: Any) -> ParameterSpec:
    """A required parameter of a type."""
    value_type = kind if isinstance(kind, ValueType) else ValueType(kind)
    return ParameterSpec("x", value_type, "", True, enum=enum, **fields)


def record(*keys: tuple[str, ValueType], required: bool = True) -> ValueType:
    """An object with these keys."""
    return ValueType("dict", properties=tuple(ParameterSpec(name, t, "", required) for name, t in keys))


def steps(work: Callable[[], object]) -> int:
    """The number of function calls, which is the same on every machine."""
    count = 0

    def watch(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def literal(value: Any) -> str:
    """The literal of a value in JSON."""
    return json.dumps(value, ensure_ascii=False)


def type_text(t: ValueType) -> str:
    """A type in short: ``list[str in ["a"]]?``; ``?`` if it may be null."""
    if t.any_of:
        text = " | ".join(map(type_text, t.any_of))
    elif t.properties is not None:
        text = "{" + ", ".join(map(key_text, t.properties)) + "}"
    else:
        text = t.kind + (f"[{type_text(t.items)}]" if t.items else "")
    return text + ("" if t.enum is None else f" in {literal(t.enum)}") + ("?" if t.nullable else "")


def key_text(p: ParameterSpec) -> str:
    """A key in short: ``x!: int = 5 # Words.``; ``!`` if it is required."""
    text = f"{p.name}{'!' if p.required else ''}: {type_text(p.type)}" + (f" in {literal(p.enum)}" if p.enum else "")
    text += "" if p.default is MISSING else f" = {literal(p.default)}"
    return text + f" # {p.description}" * bool(p.description)


def only(source: Any) -> ToolSpec:
    """The only tool of some documentation."""
    (tool,) = extract(source).tools
    return tool


def tool_text(tool: ToolSpec) -> str:
    """A tool in short: ``f(x: int) -> Words.``"""
    keys = ", ".join(map(key_text, tool.parameters))
    return f"{tool.name}({keys})" + f" -> {tool.description}" * bool(tool.description)
