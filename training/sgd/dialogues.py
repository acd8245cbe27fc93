"""Dialogues of the Schema-Guided Dialogue dataset as training examples (CC BY-SA 4.0, read in place).

Source: google-research-datasets/dstc8-schema-guided-dialogue; ``*_tools_x1..x5.json`` hold SGD-X's paraphrases of the
same tools, row by row and parameter by parameter in the same order. Names and keys are renamed further, so that no
wording can be learnt by heart.
"""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Speaker, ToolResponse, Utterance
from training.example import FORMS, Answer, Example, ExampleTurn
from training.sgd.other_values import with_other_values
from training.synthetic.documentation import BFCL_TYPES, retyped
from training.synthetic.lexicon import Draw

VARIANTS = ("", "_x1", "_x2", "_x3", "_x4", "_x5")
_PARTS: re.Pattern[str] = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_CASTS: Mapping[str, Any] = {"integer": int, "number": float, "boolean": lambda text: text.lower() == "true"}


def restyle_name(d: Draw, name: str) -> str:
    """A tool's name in another spelling."""
    parts: list[str] = [part.lower() for part in _PARTS.findall(name)]
    return d.choice(["_".join(parts), parts[0] + "".join(p.capitalize() for p in parts[1:]), f"{parts[-1]}.{name}",
                     "_".join(parts), f"{name}{d.choice(['Service', 'Api', 'Tool'])}"])  # fmt: skip


def restyle_key(d: Draw, key: str) -> str:
    """A key in another spelling, or one that says nothing, so that its description has to be read."""
    parts: list[str] = [part.lower() for part in _PARTS.findall(key)] or [key]
    return d.choice([parts[0] + "".join(p.capitalize() for p in parts[1:]), "".join(p.capitalize() for p in parts),
                     f"{d.choice(['the', 'user', 'my', 'req', d.pseudo_word(1)])}_{key}", parts[-1], d.pseudo_word(),
                     f"{key}_{d.choice(['value', 'field', 'param'])}"])  # fmt: skip


class SgdTool:
    """One tool under the names of one example.

    Parameters
    ----------
    schema : mapping
        A row of ``*_tools*.json``, in any paraphrase.
    base : mapping
        The same row before paraphrasing.
    """

    def __init__(self, d: Draw, schema: Mapping[str, Any], base: Mapping[str, Any], renamed: bool) -> None:
        self.base_name = base["name"]
        self.name = restyle_name(d, schema["name"]) if renamed and d.chance(0.4) else str(schema["name"])
        self.description = schema["description"]
        properties: Mapping[str, Any] = schema["parameters"]["properties"]
        self.keys: dict[str, str] = {}
        for old, key in zip(base["parameters"]["properties"], properties, strict=True):
            new = restyle_key(d, key) if renamed and d.chance(0.25) else key
            self.keys[old] = key if new in self.keys.values() or new in properties else new
        rows = list(zip(self.keys.items(), properties.values(), strict=True))
        if renamed and d.chance(0.6):
            d.shuffle(rows)
        self.properties = {new: dict(row) for (_, new), row in rows}
        needed = {self.keys[old] for old in base["parameters"]["required"]}
        self.required = [key for key in self.properties if key in needed]

    def call(self, arguments: Mapping[str, str], typed: bool) -> Call:
        """A call of the data under this example's names, in documentation order."""
        given = {self.keys[old]: value for old, value in arguments.items()}
        values = {key: given[key] for key in self.properties if key in given}
        if typed:
            values = {key: _typed(value, self.properties[key]) for key, value in values.items()}
        return Call(self.name, values)

    def print(self, d: Draw, template: str) -> dict[str, Any]:
        """The tool as the evaluation's prompts print one that is documented by a JSON Schema."""
        if template == "api-bank":
            rows = {
                key: {"type": row["type"], "description": self._described(key, row)}
                for key, row in self.properties.items()
            }
            return {"name": self.name, "description": self.description, "input_parameters": rows}
        schema = {"type": "object", "properties": self.properties, "required": self.required}
        parameters = retyped(schema, BFCL_TYPES if d.chance(0.6) else {})
        return {"name": self.name, "description": self.description, "parameters": parameters}

    def _described(self, key: str, row: Mapping[str, Any]) -> str:
        members = f" One of: {', '.join(map(str, row['enum']))}" if row.get("enum") else ""
        return f"{'' if key in self.required else '[Optional] '}{row['description']}{members}"


def _typed(value: str, row: Mapping[str, Any]) -> Any:
    """A value of the data, which are all texts, as one of its documented type, where it is one."""
    if value in row.get("enum", ()):
        return value
    try:
        return _CASTS.get(row["type"], str)(value)
    except ValueError:
        return value


class SgdDialogues:
    """The dialogues of one split (``train`` or ``dev``), drawn at random under random names."""

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
        """Random dialogues about the same tools, documented alike.

        Parameters
        ----------
        count : int
            How many there are, where the data has as many with the same services.
        most_calls : int
            The dialogue ends behind that many calls.
        whole : bool
            All tools of the services and whole results, as the evaluation shows them; otherwise few of both.
        renamed : bool
            Paraphrased and renamed; otherwise as the data has them.
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
            examples.append(Example(printed, required, tuple(turns), FORMS[template]))
        return examples

    def _free_values(self, row: Mapping[str, Any]) -> set[str]:
        """Values of texts without an enum that stand in the dialogue before the call as they are written."""
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
                turns.append(Answer((tools[index].call(call["arguments"], template == "bfcl"),)))
                if turn is not None:
                    result = turn["result"] if whole else thinned(d, turn["result"], later)
                    turns.append(ToolResponse(tools[index].name, result))
            elif turn is not None and turn["role"] != "API":
                speaker: Speaker = "user" if turn["role"] == "User" else "assistant"
                turns.append(Utterance(speaker, " ".join(turn["text"].split())))
        return turns


def thinned(d: Draw, result: Any, later: set[str]) -> Any:
    """At most two rows, each with the fields that calls use and up to two others."""
    if not isinstance(result, list):
        return result
    rows = []
    for item in result[:2]:
        kept = {key for key, value in item.items() if str(value) in later}
        others: Sequence[str] = [key for key in item if key not in kept]
        kept |= set(d.sample(others, min(2, len(others))))
        rows.append({key: value for key, value in item.items() if key in kept})
    return rows
