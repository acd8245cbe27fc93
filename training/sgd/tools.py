"""Tools of the Schema-Guided Dialogue dataset, renamed in every example so that no name can be memorised."""

import re
from collections.abc import Mapping
from typing import Any

from tooldecoding.formats.call_format import Call
from training.synthetic.documentation import BFCL_TYPES, marked_description, retyped
from training.synthetic.lexicon import Draw

_PARTS: re.Pattern[str] = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_CASTS: Mapping[str, Any] = {"integer": int, "number": float, "boolean": lambda text: text.lower() == "true"}


def restyle_name(d: Draw, name: str) -> str:
    """Return a tool's name in another spelling."""
    parts: list[str] = [part.lower() for part in _PARTS.findall(name)]
    return d.choice(["_".join(parts), parts[0] + "".join(p.capitalize() for p in parts[1:]), f"{parts[-1]}.{name}",
                     "_".join(parts), f"{name}{d.choice(['Service', 'Api', 'Tool'])}"])  # fmt: skip


def restyle_key(d: Draw, key: str) -> str:
    """Return a key in another spelling, or a meaningless key, so that the model has to read its description."""
    parts: list[str] = [part.lower() for part in _PARTS.findall(key)] or [key]
    return d.choice([parts[0] + "".join(p.capitalize() for p in parts[1:]), "".join(p.capitalize() for p in parts),
                     f"{d.choice(['the', 'user', 'my', 'req', d.pseudo_word(1)])}_{key}", parts[-1], d.pseudo_word(),
                     f"{key}_{d.choice(['value', 'field', 'param'])}"])  # fmt: skip


class SgdTool:
    """One tool with the names of one example.

    Parameters
    ----------
    schema : mapping
        A row of ``*_tools*.json``, in any paraphrase.
    base : mapping
        The same row of ``*_tools.json``.
    renamed : bool
        Whether some names and keys are respelled and the parameters shuffled.
    """

    def __init__(self, d: Draw, schema: Mapping[str, Any], base: Mapping[str, Any], renamed: bool) -> None:
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
        """Return a call of the data with this example's names, in documentation order; ``typed`` converts values."""
        given = {self.keys[old]: value for old, value in arguments.items()}
        values = {key: given[key] for key in self.properties if key in given}
        if typed:
            values = {key: _typed(value, self.properties[key]) for key, value in values.items()}
        return Call(self.name, values)

    def print(self, d: Draw, template: str) -> dict[str, Any]:
        """Document the tool as the evaluation's prompts print one that has a JSON Schema."""
        if template == "api-bank":
            rows = {
                key: {
                    "type": row["type"],
                    "description": marked_description(row["description"], row, key in self.required),
                }
                for key, row in self.properties.items()
            }
            return {"name": self.name, "description": self.description, "input_parameters": rows}
        schema = {"type": "object", "properties": self.properties, "required": self.required}
        if template == "hermes":
            function = {"name": self.name, "description": self.description, "parameters": schema}
            return {"type": "function", "function": function}
        parameters = retyped(schema, BFCL_TYPES if d.chance(0.6) else {})
        return {"name": self.name, "description": self.description, "parameters": parameters}


def _typed(value: str, row: Mapping[str, Any]) -> Any:
    """Return a value of the data, always a text, as its documented type; as the text if it is not of that type."""
    if value in row.get("enum", ()):
        return value
    try:
        return _CASTS.get(row["type"], str)(value)
    except ValueError:
        return value
