"""Where the shared data lies, and how it is read; tests skip where it is absent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared data is not at {DATA}")


def bfcl_entries(pattern: str) -> Iterator[dict[str, Any]]:
    """Entries of the BFCL files whose names match, each with ``id``, ``question`` and ``function``."""
    for path in sorted((DATA / "bfcl").glob(f"BFCL_v4_{pattern}.json")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def api_bank_calls() -> Iterator[tuple[str, list[dict[str, Any]], list[dict[str, Any]]]]:
    """Every API call of every dialogue: its id, the rows before it, and descriptions of the dialogue's tools."""
    descriptions = {}
    for line in (DATA / "api-bank" / "api_descriptions.jsonl").read_text(encoding="utf-8").splitlines():
        description = json.loads(line)
        descriptions[description["name"]] = description
    for level in ("level-1-given-desc", "level-2-toolsearcher"):
        for path in sorted((DATA / "api-bank" / level).glob("*.jsonl")):
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            names = dict.fromkeys(r["api_name"] for r in rows if r["role"] == "API")
            tools = [descriptions[n] for n in names if n in descriptions]
            for number, row in enumerate(rows):
                if row["role"] == "API" and tools:
                    yield f"{level}/{path.stem}/{number}", rows[:number], tools
