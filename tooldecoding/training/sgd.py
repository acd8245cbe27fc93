"""Dialogues of the Schema-Guided Dialogue dataset in API-Bank's shape (CC BY-SA 4.0, read in place).

Source: google-research-datasets/dstc8-schema-guided-dialogue; ``*_tools_x1..x5.json`` hold SGD-X's
paraphrases of the same tools, row by row and parameter by parameter in the same order.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from tooldecoding.call_format import Call
from tooldecoding.training.dialogue import Line, TrainingDialogue

TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list(str)"}
VARIANTS = ("", "_x1", "_x2", "_x3", "_x4", "_x5")


def _description(properties: Mapping[str, Any], optional: bool) -> str:
    text = str(properties.get("description", ""))
    if "enum" in properties:
        text += " One of: " + ", ".join(str(v) for v in properties["enum"])
    return f"[Optional] {text}" if optional else text


def documentation(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's schema as API-Bank prints a description."""
    required = tool["parameters"]["required"]
    return {
        "name": tool["name"],
        "description": tool["description"],
        "input_parameters": {
            key: {"type": TYPES[spec["type"]], "description": _description(spec, key not in required)}
            for key, spec in tool["parameters"]["properties"].items()
        },
        "output_parameters": {"results": {"type": "list", "description": "The results."}},
    }


class SgdDialogues:
    """The dialogues of one split (``train`` or ``dev``), drawn at random with a random paraphrase."""

    def __init__(self, folder: Path, split: str, keep_services: frozenset[str] | None = None) -> None:
        with gzip.open(folder / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.rows = [r for r in rows if keep_services is None or keep_services >= set(r["services"])]
        self.variants: list[list[dict[str, Any]]] = [
            json.loads((folder / f"{split}_tools{v}.json").read_text(encoding="utf-8")) for v in VARIANTS
        ]
        self.row_of = {(t["service"], t["name"]): i for i, t in enumerate(self.variants[0])}

    @property
    def services(self) -> frozenset[str]:
        """Names of the split's services."""
        return frozenset(tool["service"] for tool in self.variants[0])

    def _renamed(self, index: int, variant: int, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments under the paraphrased keys, in the order of the documentation."""
        base = self.variants[0][index]["parameters"]["properties"]
        names = self.variants[variant][index]["parameters"]["properties"]
        return {new: arguments[old] for old, new in zip(base, names, strict=True) if old in arguments}

    def draw(self, rng: Random, max_calls: int = 5) -> TrainingDialogue:
        """A random dialogue, cut after its ``max_calls``-th call; responses are thinned to a few fields."""
        row = rng.choice(self.rows)
        variant = rng.randrange(len(VARIANTS))
        calls = row["calls"][:max_calls]
        at = {call["turn"]: call for call in calls}
        used = {self.row_of[call["service"], call["name"]] for call in calls}
        offered = [i for (service, _), i in self.row_of.items() if service in row["services"] and i not in used]
        shown = sorted(used) + rng.sample(offered, min(len(offered), rng.choice([0, 0, 1])))
        shown = self._distinct_names(shown, variant)
        rng.shuffle(shown)
        later = {str(v) for call in row["calls"] for v in call["arguments"].values()}
        turns: list[Line | Call] = []
        for position, turn in enumerate([*row["turns"], None]):
            if position in at:
                call = at[position]
                index = self.row_of[call["service"], call["name"]]
                if index not in shown:
                    break
                turns.append(Call(self.variants[variant][index]["name"],
                                  self._renamed(index, variant, call["arguments"])))  # fmt: skip
                if turn is not None:
                    turns.append(Line("API-Response: " + json.dumps(self._thin(rng, turn["result"], later),
                                                                    ensure_ascii=False)))  # fmt: skip
            elif turn is not None and turn["role"] != "API":
                turns.append(Line(f"{turn['role']}: {' '.join(turn['text'].split())}"))
        return TrainingDialogue(tuple(documentation(self.variants[variant][i]) for i in shown), tuple(turns))

    def _distinct_names(self, indices: list[int], variant: int) -> list[int]:
        seen: dict[str, int] = {}
        for index in indices:
            seen.setdefault(self.variants[variant][index]["name"], index)
        return list(seen.values())

    @staticmethod
    def _thin(rng: Random, result: Any, later: set[str]) -> Any:
        """At most two rows, each with the fields that calls use and up to two others."""
        if not isinstance(result, list):
            return result
        thinned = []
        for item in result[:2]:
            kept = {key for key, value in item.items() if str(value) in later}
            others = [key for key in item if key not in kept]
            kept |= set(rng.sample(others, min(2, len(others))))
            thinned.append({key: value for key, value in item.items() if key in kept})
        return thinned

    def stream(self, seed: int, max_calls: int = 5) -> Iterator[TrainingDialogue]:
        """An endless seeded stream of dialogues that hold at least one call."""
        rng = Random(f"sgd-{seed}")
        while True:
            dialogue = self.draw(rng, max_calls)
            if any(isinstance(turn, Call) for turn in dialogue.turns):
                yield dialogue
