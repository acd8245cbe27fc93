"""Small folders in API-Bank's layout, for tests that need no benchmark data."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.api_bank.benchmark import API_BANK
from eval.benchmarks.api_bank.checker import TOOLS
from eval.benchmarks.api_bank.data import LEVEL_1
from eval.benchmarks.samples import Sample

Turn = tuple[str, Mapping[str, Any], Any]
"""Tool, arguments, output."""


def described(name: str) -> dict[str, Any]:
    keys = {k: {"type": "str", "description": k} for k in {**TOOLS[name].keys, **TOOLS[name].optional}}
    return {"name": name, "description": f"Text of {name}.", "input_parameters": keys, "output_parameters": {}}


def api_row(name: str, arguments: Mapping[str, Any], output: Any) -> dict[str, Any]:
    result = {"api_name": name, "input": arguments or None, "output": output, "exception": None}
    return {"role": "API", "api_name": name, "param_dict": arguments, "result": result}


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_folder(folder: Path, dialogues: Mapping[str, Sequence[Turn]], level: str = LEVEL_1) -> Path:
    """Dialogues of calls with words before each; all tools documented."""
    write_lines(folder / "api_descriptions.jsonl", [described(name) for name in TOOLS])
    for name, turns in dialogues.items():
        rows = [row for turn in turns for row in ({"role": "User", "text": "please"}, api_row(*turn))]
        write_lines(folder / level / f"{name}.jsonl", [*rows, {"role": "AI", "text": "done"}])
    return folder


class Bank:
    """The samples of a folder's file ``a``, by number of the call."""

    def __init__(self, folder: Path, level: str = LEVEL_1) -> None:
        self.level = level
        self.samples: dict[str, Sample] = {s.id: s for s in API_BANK.load(str(folder), [level])}

    def sample(self, call: int = 0) -> Sample:
        return self.samples[f"{self.level}/a.jsonl/{2 * call}"]

    def error(self, prediction: str, call: int = 0) -> str | None:
        return API_BANK.judge(self.sample(call), prediction).error_type

    def satisfiable(self) -> list[bool]:
        return [API_BANK.satisfiable(s) for s in self.samples.values() if s.dialogue.endswith("/a.jsonl")]


def only(folder: Path, *turns: Turn) -> Bank:
    """One dialogue, in the file ``a``."""
    return Bank(write_folder(folder, {"a": turns}))
