"""StableToolBench: requests that need several calls of RapidAPI's services."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from eval.benchmarks.python_calls import python_name
from eval.benchmarks.samples import Sample
from eval.benchmarks.validity import VALIDITY_NOTE, FirstCall
from eval.errors import EvalError
from eval.validation import documentation_of, listed, read_json_rows, validated
from tooldecoding.chat.messages import Message

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

    EvalError if no group has a file, or a file is malformed.

    ``data``: a folder with ``G1_instruction.json`` and others, or a checkout of ``THUNLP-MT/StableToolBench``.
    """
    places = [(category, Path(data, folder, f"{category}.json")) for category in categories for folder in _FOLDERS]
    paths = {category: path for category, path in places if path.is_file()}
    if not paths:
        raise EvalError(
            f"{data}: found no {listed([f'{category}.json' for category in categories])}; --data for stabletoolbench "
            f"is the folder with them, or a checkout, where they lie in {_FOLDERS[1]}"
        )
    return [_sample(row, c, place) for c, path in paths.items() for place, row in read_json_rows(path)]


def _sample(row: dict[str, Any], category: str, place: str) -> Sample:
    query = validated(_Query, row, place)
    documentation = documentation_of([_service(service) for service in row["api_list"]], f"{place}: api_list")
    names = zip(documentation.lookup.tools, query.api_list, strict=True)
    relevant = [tool.name for tool, service in names if [service.tool_name, service.api_name] in query.relevant]
    turns = (Message("user", query.query),)
    dialogue = str(query.query_id)
    return Sample(f"{category}_{dialogue}", category, dialogue, turns, documentation, (), frozenset(relevant))


def _service(service: dict[str, Any]) -> dict[str, Any]:
    """Return a service as RapidAPI documents it, with Python's names and without StableToolBench's sample answer."""
    lists = {word: [spec | {"name": python_name(spec["name"])} for spec in service[word]] for word in _LISTS}
    return {
        "tool_name": python_name(service["tool_name"]),
        "api_name": python_name(service["api_name"]),
        "api_description": service["api_description"],
    } | lists


STABLETOOLBENCH: Final = FirstCall(
    name="stabletoolbench",
    categories=GROUPS,
    figure="relevant tool",
    load=load_samples,
    note=f"{VALIDITY_NOTE} Relevant tool: the first call names one of the tools that the query was written for. Later "
    "steps are not decoded, for they need the answers of the services.",
)
