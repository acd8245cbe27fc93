"""BFCL's prompts in every format in which its functions are printed."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from parity import renderings
from parity.corpora import Row, fenced, prompt, read_lines, yaml_text
from parity.facts import Case, Tool
from parity.oracle import schema_tool

Functions = list[dict[str, Any]]
Format = Callable[[Functions], tuple[Any, list[Tool]]]

_CORPORA = {"BFCL live": "live_*", "BFCL V1": "[!l]*[!at]"}
# The users of these entries paste documentation of other tools.
_DECOYS = (
    "live_simple_78-", "live_multiple_125-", "live_irrelevance_91-", "live_irrelevance_121-", "live_irrelevance_257-",
    "live_irrelevance_421-", "live_irrelevance_517-", "live_irrelevance_518-", "live_irrelevance_765-",
)  # fmt: skip


def rows() -> list[Row]:
    """Every corpus in every format."""
    return [
        Row(corpus, title, target, partial(_cases, pattern=pattern, form=form, every=title == "JSON"))
        for corpus, pattern in _CORPORA.items()
        for title, (target, form) in _FORMATS.items()
    ]


def _cases(data: Path, pattern: str, form: Format, every: bool) -> Iterator[Case]:
    """The entries with a function that no earlier entry has, or ``every`` entry."""
    seen: set[str] = set()
    for number, entry in enumerate(_entries(data, pattern)):
        written = set(map(json.dumps, entry["function"]))
        if not entry["id"].startswith(_DECOYS) and (every or not written <= seen):
            seen |= written
            yield from _case(entry, form, number)


def _entries(data: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted((data / "bfcl").glob(f"BFCL_v4_{pattern}.json")):
        yield from (entry for entry in read_lines(path) if "function" in entry)


def _case(entry: dict[str, Any], form: Format, number: int) -> Iterator[Case]:
    source, expected = form(entry["function"])
    if expected:
        question = "\n".join(message["content"] for turn in entry["question"] for message in turn)
        yield Case(entry["id"], prompt(source, question, number) if isinstance(source, str) else source, expected)


def _schema(printed: Callable[[Functions], str]) -> Format:
    return lambda functions: (printed(functions), list(map(schema_tool, functions)))


_FORMATS: dict[str, tuple[float, Format]] = {
    "JSON": (100, _schema(renderings.indented_json)),
    "Python repr": (100, _schema(str)),
    "OpenAI JSON": (100, _schema(renderings.openai)),
    "MCP JSON": (100, _schema(renderings.mcp)),
    "Anthropic JSON": (100, _schema(renderings.anthropic)),
    "YAML": (99, _schema(lambda functions: fenced(yaml_text({"tools": functions}, sort_keys=False)))),
}
