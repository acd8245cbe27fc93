"""RestBench's TMDB: questions to a database of films, answered through the operations of an OpenAPI document."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from eval.benchmarks.python_calls import writable_name
from eval.benchmarks.samples import Sample
from eval.benchmarks.validity import VALIDITY_NOTE, FirstCall
from eval.errors import EvalError
from eval.validation import read_json_file, read_json_rows, validated
from lookup import extract
from lookup.dictionary import ToolSpec
from lookup.errors import ToolDecodingError
from tooldecoding.chat.documentation import Documentation, json_schema
from tooldecoding.chat.messages import Message

ALL: Final = "tmdb"

_QUESTIONS: Final = "tmdb.json"
_DOCUMENT: Final = "tmdb_oas.json"
_FOLDERS: Final = (("", ""), ("datasets", "specs"))
_METHODS: Final = ("get", "put", "post", "delete", "patch")


class _Question(BaseModel):
    query: str
    solution: Annotated[list[str], Field(min_length=1)]


class _Document(BaseModel):
    paths: dict[str, dict[str, Any]]


def load_samples(data: str, categories: Sequence[str]) -> list[Sample]:
    """Return the questions, each with the name of the first correct operation as its answer.

    Names of operations and keys that no call in Python's syntax can have are changed: ``GET_search-tv`` is
    ``get_search_tv``.

    EvalError for a missing or malformed file, or a path whose first operation is not documented.

    ``data``: a folder with ``tmdb.json`` and ``tmdb_oas.json``, or a checkout of ``Yifan-Song793/RestGPT``.
    """
    places = [(Path(data, first, _QUESTIONS), Path(data, second, _DOCUMENT)) for first, second in _FOLDERS]
    found = next((pair for pair in places if all(path.is_file() for path in pair)), None)
    if found is None:
        raise EvalError(
            f"{data}: --data for restbench is a folder with {_QUESTIONS} and {_DOCUMENT}, or a checkout of RestGPT"
        )
    questions, document = found
    tools = _read_operations(document)
    rows = [(place, validated(_Question, row, place)) for place, row in read_json_rows(questions)]
    documentation = Documentation.read([json_schema(tool) for tool in tools.values()], str(document))
    samples = []
    for number, (place, row) in enumerate(rows):
        first = row.solution[0].strip()
        if first not in tools:
            raise EvalError(f"{place}: the solution begins with {first!r}, which is not in {document.name}")
        turns = (Message("user", row.query),)
        answer = frozenset({tools[first].name})
        samples.append(Sample(f"{ALL}_{number}", ALL, str(number), turns, documentation, (), answer))
    return samples


def _read_operations(path: Path) -> dict[str, ToolSpec]:
    """Return ``GET /search/tv`` -> the operation as the extractor reads it, with names that Python can write."""
    document = read_json_file(path)
    tools = {}
    for address, operations in validated(_Document, document, str(path)).paths.items():
        shared = {key: value for key, value in operations.items() if key not in _METHODS}
        for method in (method for method in _METHODS if method in operations):
            alone = document | {"paths": {address: shared | {method: operations[method]}}}
            try:
                [tool] = extract(alone, origin=f"{path}: {method} {address}").tools
            except ToolDecodingError as error:
                raise EvalError(str(error)) from None
            tools[f"{method.upper()} {address}"] = _with_python_names(tool, path)
    names = [tool.name for tool in tools.values()]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise EvalError(f"{path}: two operations have the name {twice!r}")
    return tools


def _with_python_names(tool: ToolSpec, path: Path) -> ToolSpec:
    parameters = tuple(replace(spec, name=writable_name(spec.name)) for spec in tool.parameters)
    if len({spec.name for spec in parameters}) < len(parameters):
        raise EvalError(f"{path}: two keys of {tool.name} have one name in Python")
    return replace(tool, name=writable_name(tool.name), parameters=parameters)


RESTBENCH: Final = FirstCall(
    name="restbench",
    categories=(ALL,),
    figure="first path",
    load=load_samples,
    note=f"{VALIDITY_NOTE} First path is exact: the first call names the operation that people wrote down as the first "
    "of the correct path. Later steps are not decoded, for they need the answers of the live service.",
)
