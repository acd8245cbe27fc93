"""The oracle for printed forms that say less than the data they were printed from, or something else."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from parity.facts import ABSENT, Key, Tool, container, kind_of_name
from parity.oracle import requiredness
from parity.renderings import python_type, xml_type

Function = Mapping[str, Any]


def xml_tool(function: Function) -> Tool:
    """BFCL's XML prints requiredness, but loses commas in defaults and the keys of elements."""
    return Tool(
        function["name"], function["description"].strip(), tuple(_printed_keys(function["parameters"], "", xml=True))
    )


def python_tool(function: Function) -> Tool:
    """BFCL's docstrings do not print requiredness. A key with a default is optional."""
    return Tool(
        function["name"], function["description"].strip(), tuple(_printed_keys(function["parameters"], "", xml=False))
    )


def _printed_keys(schema: Mapping[str, Any], prefix: str, xml: bool) -> Iterator[Key]:
    for name, spec in schema["properties"].items():
        description = spec.get("description", "").strip()
        default = spec.get("default", ABSENT)
        required = requiredness(None, None, description, default is not ABSENT, None)
        if xml:
            required = name in schema["required"] if "required" in schema else True
            default = _without_commas(default)
        raw_type = xml_type(spec) if xml else python_type(spec)
        yield Key(
            path=prefix + name,
            required=required,
            raw_type=raw_type,
            kind="dict" if "properties" in spec else kind_of_name(raw_type),
            enum=tuple(spec["enum"]) if "enum" in spec else None,
            default=default,
            description=description,
        )
        if "properties" in spec:
            yield from _printed_keys(spec, f"{prefix}{name}.", xml)


def _without_commas(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(",", "")
    if isinstance(value, list):
        return [_without_commas(member) for member in value]
    if isinstance(value, dict):
        return {_without_commas(key): _without_commas(member) for key, member in value.items()}
    return value


def source_tool(source: str, function: Function | None = None) -> Tool:
    """A Python function or a signature with ``def`` before it, read with ``ast``.

    The descriptions are those of ``function``, from which the docstring was made.
    """
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    arguments = [*node.args.args, *node.args.kwonlyargs]
    defaults: list[ast.expr | None] = [None] * (len(node.args.args) - len(node.args.defaults))
    defaults += [*node.args.defaults, *node.args.kw_defaults]
    properties = function["parameters"]["properties"] if function else {}
    found = []
    for argument, default in zip(arguments, defaults, strict=True):
        assert argument.annotation
        kind, enum, element_enum = _annotated(argument.annotation)
        found.append(
            Key(
                path=argument.arg,
                required=default is None,
                raw_type=ast.get_source_segment(source, argument.annotation) or "",
                kind=kind,
                enum=enum,
                element_enum=element_enum,
                default=ABSENT if default is None else ast.literal_eval(default),
                description=properties.get(argument.arg, {}).get("description", "").strip(),
            )
        )
    return Tool(node.name, function["description"].strip() if function else "", tuple(found))


def _annotated(node: ast.expr) -> tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """The kind of an annotation, its members, and those of its elements."""
    if isinstance(node, ast.BinOp):  # T | None
        kind, enum, elements = _annotated(node.left)
        return f"{kind}?", enum, elements
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        outer = node.value.id
        if outer == "Literal":
            members = tuple(ast.literal_eval(node.slice) if isinstance(node.slice, ast.Tuple) else [node.slice.value])
            return kind_of_members(members), members, None
        kind, enum, elements = _annotated(node.slice)
        if outer == "Optional":
            return f"{kind}?", enum, elements
        return container(kind_of_name(outer), kind), None, enum or elements
    assert isinstance(node, ast.Name), ast.dump(node)
    return kind_of_name(node.id), None, None


def kind_of_members(members: tuple[Any, ...]) -> str:
    """``int`` for ``(1, 2)``, ``str | int`` for ``("a", 1)``."""
    kinds = list(dict.fromkeys(type(member).__name__ for member in members if member is not None))
    return " | ".join(kinds) + ("?" if None in members else "")


def alpaca_tools(text: str, marked: bool) -> list[Tool]:
    """ToolAlpaca's texts. ``marked`` is for ``Functions``, where every key has a marker."""
    pattern = _NUMBERED if marked else _NAMED
    return [
        Tool(match["name"], " ".join(match["description"].split()), tuple(_prose_keys(match["keys"], marked)))
        for match in pattern.finditer(text)
    ]


_NAMED = re.compile(r"^(?P<name>[\w-]+): (?P<description>[^\n]*)\nParameters: (?P<keys>\{.*\})$", re.MULTILINE)
_NUMBERED = re.compile(
    r"^\d+\. Name: (?P<name>[\w-]+)\n *Description: (?P<description>[^\n]*)\n *Input: (?P<keys>\{.*\}|None)$",
    re.MULTILINE,
)
_PROSE = re.compile(
    r"(?:(?P<marker>Required|Optional)\. )?(?P<type>[A-Za-z]+(?:\[.*?\](?=\.(?: |$))| of \w+)?)\. ?"
    r"(?:One of: \[(?P<enum>[^\]]*)\]\. ?)?(?P<description>.*)",
    re.DOTALL,
)
_MEMBER = re.compile(r"(?P<name>\w+): (?P<prose>(?:(?!,\s*\w+: ).)*)")


def _prose_keys(written: str, marked: bool) -> Iterator[Key]:
    for name, prose in (json.loads(written) if written != "None" else {}).items():
        yield from _prose_key(name, prose, None if marked else False)


def _prose_key(path: str, prose: str, habit: bool | None) -> Iterator[Key]:
    match = _PROSE.fullmatch(prose)
    if not match:
        yield Key(path, requiredness(None, None, prose, False, habit), "", "any", description=prose)
        return
    raw_type, description, enum = match["type"], match["description"].strip(), match["enum"]
    if enum is None and (behind := re.search(r" ?One of: \[([^\]]*)\]\.$", description)):
        description, enum = description[: behind.start()], behind[1]
    inner = re.fullmatch(r"Array\[Object\{(.*)\}\. ?\]", raw_type, re.DOTALL)
    yield Key(
        path=path,
        required={"Required": True, "Optional": False}.get(
            match["marker"], requiredness(None, None, description, False, habit)
        ),
        raw_type=raw_type,
        kind="list[dict]" if inner else kind_of_name(raw_type),
        enum=None if enum is None else tuple(enum.split(", ")),
        description=description,
    )
    for member in _MEMBER.finditer(inner[1]) if inner else ():
        yield from _prose_key(f"{path}[].{member['name']}", member["prose"], habit)


def without_descriptions(tool: Tool) -> Tool:
    """A tool without descriptions of its keys, such as a plain signature."""
    return replace(tool, keys=tuple(replace(key, description="") for key in tool.keys))
