"""Dialogues of the Schema-Guided Dialogue dataset as training examples (CC BY-SA 4.0, not copied into the project).

Source: google-research-datasets/dstc8-schema-guided-dialogue. The files ``*_tools_x1..x5.json`` hold SGD-X's
paraphrases of the same tools, in the same order tool by tool and parameter by parameter.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tooldecoding.prompts.dialogue import Speaker, ToolResponse, Utterance
from training.answer import Answer
from training.example import TEMPLATES, Example, ExampleTurn
from training.sgd.other_values import with_other_values
from training.sgd.tools import SgdTool
from training.synthetic.lexicon import Draw

VARIANTS = ("", "_x1", "_x2", "_x3", "_x4", "_x5")


class SgdDialogues:
    """The dialogues of one split (``train`` or ``dev``), drawn at random and with random names.

    Parameters
    ----------
    keep_services : frozenset of str, optional
        Keep only dialogues with no other services.
    """

    def __init__(self, folder: Path, split: str, keep_services: frozenset[str] | None = None) -> None:
        with gzip.open(folder / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.rows = [r for r in rows if r["calls"] and (keep_services is None or keep_services >= set(r["services"]))]
        self.variants: list[list[dict[str, Any]]] = [
            json.loads((folder / f"{split}_tools{v}.json").read_text(encoding="utf-8")) for v in VARIANTS
        ]
        self.index = {(t["service"], t["name"]): i for i, t in enumerate(self.variants[0])}
        self.alike: dict[frozenset[str], list[Any]] = {}
        for row in self.rows:
            self.alike.setdefault(frozenset(row["services"]), []).append(row)

    def draw(
        self,
        d: Draw,
        template: str,
        count: int = 1,
        most_calls: int = 5,
        whole: bool = True,
        renamed: bool = True,
    ) -> list[Example]:
        """Draw dialogues about the same tools, with the same documentation.

        Parameters
        ----------
        count : int
            How many; fewer if the data has fewer with the same services.
        most_calls : int
            A dialogue ends after so many calls.
        whole : bool
            Show all tools of the services and whole results, as the evaluation does; otherwise few of both.
        renamed : bool
            Paraphrase, rename and replace values; otherwise everything is as in the data.
        """
        alike = self.alike[frozenset(d.choice(self.rows)["services"])]
        rows = d.sample(alike, min(count, len(alike)))
        if renamed:
            rows = [with_other_values(d, row, self._free_values(row)) if d.chance(0.5) else row for row in rows]
        variant = d.randrange(len(VARIANTS)) if renamed else 0
        used = {self.index[c["service"], c["name"]] for row in rows for c in row["calls"][:most_calls]}
        offered = [i for (service, _), i in self.index.items() if service in rows[0]["services"]]
        shown = offered if whole else sorted(used | set(d.sample(offered, min(len(offered), d.randint(0, 2)))))
        tools: dict[int, SgdTool] = {}
        for i in shown:
            tool = SgdTool(d, self.variants[variant][i], self.variants[0][i], renamed)
            if tool.name not in [t.name for t in tools.values()]:
                tools[i] = tool
        order = list(tools.values())
        if renamed:
            d.shuffle(order)
        required = {tool.name: tool.required for tool in order}
        printed = tuple(tool.print(d, template) for tool in order)
        examples = []
        for row in rows:
            calls = {call["turn"]: call for call in row["calls"][:most_calls]}
            turns = self._turns(d, row, calls, tools, template, whole)
            examples.append(Example(printed, required, tuple(turns), TEMPLATES[template]))
        return examples

    def _free_values(self, row: Mapping[str, Any]) -> set[str]:
        """Return the values of string keys without an enum that the dialogue mentions before every call with them."""
        free: set[str] = set()
        members: set[str] = set()
        for call in row["calls"]:
            before = str(row["turns"][: call["turn"]])
            properties = self.variants[0][self.index[call["service"], call["name"]]]["parameters"]["properties"]
            for key, value in call["arguments"].items():
                is_free = properties[key]["type"] == "string" and "enum" not in properties[key] and value in before
                (free if is_free else members).add(str(value))
        return free - members

    def _turns(
        self, d: Draw, row: Mapping[str, Any], at: Mapping[int, Any], tools: Mapping[int, SgdTool], template: str,
        whole: bool,
    ) -> list[ExampleTurn]:  # fmt: skip
        later = {str(v) for call in row["calls"] for v in call["arguments"].values()}
        turns: list[ExampleTurn] = []
        for position, turn in enumerate([*row["turns"], None]):
            if position in at:
                call = at[position]
                index = self.index[call["service"], call["name"]]
                if index not in tools:
                    break
                turns.append(Answer((tools[index].call(call["arguments"], TEMPLATES[template].typed),)))
                if turn is not None:
                    result = turn["result"] if whole else thinned(d, turn["result"], later)
                    turns.append(ToolResponse(tools[index].name, result))
            elif turn is None or turn["role"] == "API":  # a call beyond the last one
                break
            else:
                speaker: Speaker = "user" if turn["role"] == "User" else "assistant"
                turns.append(Utterance(speaker, " ".join(turn["text"].split())))
        return turns


def thinned(d: Draw, result: Any, later: set[str]) -> Any:
    """Return at most two rows of a result, each with the fields that calls use and up to two others."""
    if not isinstance(result, list):
        return result
    rows = []
    for item in result[:2]:
        kept = {key for key, value in item.items() if str(value) in later}
        others: Sequence[str] = [key for key in item if key not in kept]
        kept |= set(d.sample(others, min(2, len(others))))
        rows.append({key: value for key, value in item.items() if key in kept})
    return rows
