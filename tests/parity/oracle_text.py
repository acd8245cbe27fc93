"""The oracle for signatures of Python, which say less than the data they were printed from."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parity.facts import ABSENT, Key, Tool, container, kind_of_name

Function = Mapping[str, Any]


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


def without_descriptions(tool: Tool) -> Tool:
    """A tool without descriptions of its keys, such as a plain signature."""
    return replace(tool, keys=tuple(replace(key, description="") for key in tool.keys))
