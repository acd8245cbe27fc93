"""Documentation of API-Bank's tools: our file of descriptions, the source text of a checkout, or its table."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.tool_objects import json_schema

DESCRIPTIONS_FILE: Final = "api_descriptions.jsonl"
SOURCES_FOLDER: Final = "apis"
TABLE_FILE: Final = "all_apis.csv"

_ATTRIBUTES: Final = {"description", "input_parameters", "output_parameters"}


@dataclass(frozen=True)
class Descriptions:
    """Documentation by tool name.

    Attributes
    ----------
    tools : mapping
        Name -> object with ``name``, ``description`` and the parameters.
    verbatim : bool
        Whether these are the words of API-Bank's code.
    origin : Path
    """

    tools: Mapping[str, Mapping[str, Any]]
    verbatim: bool
    origin: Path


def find_descriptions(folder: Path) -> Descriptions:
    """Documentation that lies in a folder of dialogues, beside it, or in the checkout that it belongs to.

    Raises
    ------
    EvalError
        If there is none, or it is malformed.
    """
    places = [folder, folder.parent]
    for place in places:
        if (file := place / DESCRIPTIONS_FILE).is_file():
            return Descriptions(_read_lines(file), True, file)
    for place in places:
        if tools := _read_sources(place / SOURCES_FOLDER):
            return Descriptions(tools, True, place / SOURCES_FOLDER)
    for place in (*places, *(p / "data" for p in places)):
        if (file := place / TABLE_FILE).is_file():
            return Descriptions(_read_table(file), False, file)
    raise EvalError(
        f"{folder}: no documentation of the tools; expected {DESCRIPTIONS_FILE}, {SOURCES_FOLDER}/*.py or {TABLE_FILE} "
        f"there or in {folder.parent}"
    )


def _read_lines(file: Path) -> dict[str, Mapping[str, Any]]:
    tools: dict[str, Mapping[str, Any]] = {}
    for number, line in numbered_lines(read_text(file, EvalError)):
        row = read_row(line, number, str(file), EvalError)
        if not isinstance(row.get("name"), str) or not isinstance(row.get("input_parameters"), dict):
            raise EvalError(f"{file}:{number}: a tool needs a 'name' and 'input_parameters', found {', '.join(row)}")
        tools[row["name"]] = row
    return tools


def _read_sources(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The class attributes of a checkout's tools, read as text: its code is not run."""
    tools: dict[str, Mapping[str, Any]] = {}
    for file in sorted(folder.glob("*.py")):
        try:
            module = ast.parse(read_text(file, EvalError))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise EvalError(f"{file}: expected Python source text of a tool: {error}") from None
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                attributes = dict(_attributes(node, file))
                if attributes.keys() >= _ATTRIBUTES:
                    tools[node.name] = {"name": node.name} | attributes
    return tools


def _attributes(node: ast.ClassDef, file: Path) -> Iterator[tuple[str, Any]]:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in _ATTRIBUTES:
                try:
                    yield name, ast.literal_eval(statement.value)
                except ValueError:
                    raise EvalError(f"{file}:{statement.lineno}: expected a literal {name}") from None


def _read_table(file: Path) -> dict[str, Mapping[str, Any]]:
    documentation = Documentation.read(read_text(file, EvalError), str(file), on_duplicate="rename")
    return {tool.name: json_schema(tool) for tool in documentation.lookup.tools}
