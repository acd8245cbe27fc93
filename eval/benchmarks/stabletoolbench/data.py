"""Reads StableToolBench's solvable queries with the services that they may call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from eval.benchmarks.json_files import read_json_rows
from eval.benchmarks.python_names import python_name
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.validation import validated
from lookup.errors import ToolDecodingError
from tooldecoding.prompts.dialogue import Utterance
from tooldecoding.prompts.documentation import Documentation

GROUPS: Final = ("G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction")
"""The groups of queries, by official name: one service, services of one category, of several categories."""

_FOLDERS: Final = ("", "solvable_queries/test_instruction")
_LISTS: Final = ("required_parameters", "optional_parameters")


class _Key(BaseModel):
    name: str


class _Service(BaseModel):
    tool_name: str
    api_name: str
    api_description: str | None
    required_parameters: list[_Key]
    optional_parameters: list[_Key]


class _Query(BaseModel):
    query: str
    query_id: int | str
    api_list: Annotated[list[_Service], Field(min_length=1)]
    relevant: list[list[str]] = Field(alias="relevant APIs")


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the queries of those groups whose file is there, with the names of the relevant tools as the answer.

    Services and keys have names that Python can write, as in ToolBench's prompts; see ``python_name``.

    Parameters
    ----------
    data : str
        A folder with ``G1_instruction.json`` and others, or a checkout of ``THUNLP-MT/StableToolBench``.

    Raises
    ------
    EvalError
        If no group has a file, or a file is malformed.
    """
    root = Path(data)
    paths = {
        category: path
        for category in categories
        for folder in _FOLDERS
        if (path := root / folder / f"{category}.json").is_file()
    }
    if not paths:
        raise EvalError(
            f"{data}: found no {' or '.join(f'{c}.json' for c in categories)}; --data for stabletoolbench is the "
            f"folder with them, or a checkout, where they lie in {_FOLDERS[1]}"
        )
    return [
        _sample(validated(_Query, row, place), row, category, place)
        for category, path in paths.items()
        for place, row in read_json_rows(path)
    ]


def _sample(query: _Query, row: dict[str, Any], category: str, place: str) -> Sample:
    services = [_service(service) for service in row["api_list"]]
    try:
        documentation = Documentation.read(services, f"{place}: api_list", "rename")
    except ToolDecodingError as error:
        raise EvalError(str(error)) from None
    relevant = {tuple(pair) for pair in query.relevant}
    return Sample(
        id=f"{category}_{query.query_id}",
        category=category,
        dialogue=str(query.query_id),
        turns=(Utterance("user", query.query),),
        documentation=documentation,
        calls=(),
        answer=frozenset(
            tool.name
            for tool, service in zip(documentation.lookup.tools, query.api_list, strict=True)
            if (service.tool_name, service.api_name) in relevant
        ),
    )


def _service(service: dict[str, Any]) -> dict[str, Any]:
    """Return a service as RapidAPI documents it, with Python's names and without StableToolBench's sample answer."""
    lists = {word: [spec | {"name": python_name(spec["name"])} for spec in service[word]] for word in _LISTS}
    return {
        "tool_name": python_name(service["tool_name"]),
        "api_name": python_name(service["api_name"]),
        "api_description": service["api_description"],
    } | lists
