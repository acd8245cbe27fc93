"""How many tools of each corpus say more of their values than a type, and what of that is not enforced."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lookup import extract
from lookup.dictionary import ToolSpec
from parity.corpora import read_lines
from parity.table import all_rows

ONE_FORMAT = {
    "BFCL live": "JSON", "BFCL V1": "JSON", "BFCL Java, JavaScript": "JSON", "SGD": "JSON", "API-Bank": "JSON lines",
    "Seal-Tools": "JSON lines", "ToolAlpaca": "OpenAPI JSON", "StableToolBench": "JSON", "RestBench": "OpenAPI JSON",
}  # fmt: skip
"""Corpus -> the format in which it is read; all others have the same tools."""


@dataclass
class Count:
    """The different tools of a corpus.

    ``lawful`` have a parameter that says more than a type; ``together`` say something of several parameters;
    ``unenforced`` have something that is checked only when a call is finished, or not at all; ``words`` says what.
    """

    tools: int = 0
    lawful: int = 0
    together: int = 0
    unenforced: int = 0
    words: Counter[str] = field(default_factory=Counter)

    def add(self, tool: ToolSpec) -> None:
        """Count a tool."""
        self.tools += 1
        self.lawful += any(p.schema is not None for p in tool.parameters)
        self.together += tool.conditions is not None
        self.unenforced += bool(tool.unenforced)
        self.words.update({note.rpartition(": ")[2] for note in tool.unenforced})


def count_corpora(data: Path) -> dict[str, Count]:
    """The counts of each corpus that is in the folder."""
    found: dict[str, Count] = {}
    for corpus, source in _sources(data):
        count, seen = found.setdefault(corpus, Count()), set()
        for text, settings in source:
            for tool in extract(text, **settings).tools:
                written = json.dumps(tool.to_json(), sort_keys=True, default=repr)
                if written not in seen:
                    seen.add(written)
                    count.add(tool)
    return found


def print_counts(found: dict[str, Count], console: Console) -> None:
    """Print a line for each corpus."""
    table = Table(title="Tools whose documentation says more than types")
    table.add_column("corpus")
    for name in ("tools", "more than types", "several together", "not enforced"):
        table.add_column(name, justify="right")
    table.add_column("what is not enforced")
    for corpus, count in found.items():
        words = ", ".join(f"{word} ({number})" for word, number in count.words.most_common())
        numbers = (count.tools, count.lawful, count.together, count.unenforced)
        table.add_row(corpus, *(f"{number:,}" for number in numbers), words)
    console.print(table)


def _sources(data: Path) -> Iterator[tuple[str, Iterator[tuple[Any, dict[str, Any]]]]]:
    for row in all_rows():
        if ONE_FORMAT.get(row.corpus) == row.format:
            cases = row.cases(data)
            yield row.corpus, ((c.source, {"origin": c.origin, "on_duplicate": c.on_duplicate}) for c in cases)
    files = sorted((data / "acebench").glob("data_*.json"))
    entries = (entry for path in files for entry in read_lines(path))
    yield "ACEBench", ((e["function"], {"on_duplicate": "rename"}) for e in entries if e.get("function"))
