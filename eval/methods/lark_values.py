"""Rules in Lark's syntax for the values that a call format writes as Python literals, or between single quotes."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lookup.values.literal_values import render_value
from lookup.values.notations import QUOTED_TEXT, Notation, TextSyntax, inside

NATIVE_NOTATIONS: Final = ("python", "python-lists", "quoted")
"""The notations of values that have such rules."""

_NUMBERS: Final = r"""INT: /-?(0|[1-9][0-9]{0,39})/
FLOAT: /-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?/
"""

Schema = Mapping[str, Any]
"""A JSON Schema of types and enums, as ``arguments_schema`` makes it."""


class ValueRules:
    """The rules of the values of one grammar; each schema gets its rule once.

    Parameters
    ----------
    notation : Notation
        One of ``NATIVE_NOTATIONS``.
    literal : callable
        Writes a text as Lark does.
    """

    def __init__(self, notation: Notation, literal: Callable[[str], str]) -> None:
        self._quoted = notation == "quoted"
        self._inside = inside(notation)
        self._literal = literal
        self._names: dict[str, str] = {}

    @property
    def lark(self) -> str:
        """All rules that were needed so far."""
        rules = "".join(f"{name}: {body}\n" for body, name in self._names.items())
        inner = " | ".join(_text_pattern(t) for t in self._inside.texts)
        colon, words = self._literal(self._inside.spacing.colon), map(self._inside.render, (True, False, None))
        alternatives = ["TEXT", "FLOAT", *map(self._literal, words)]
        alternatives += [self._between("[", "any", "]"), self._between("{", f"TEXT {colon} any", "}")]
        texts = f"TEXT: {inner}\nWHOLE_TEXT: {_text_pattern(QUOTED_TEXT)}\n"
        return f"{_NUMBERS}{texts}any: {' | '.join(alternatives)}\n{rules}"

    def value(self, schema: Schema) -> str:
        """Return the name of the rule of a parameter's values."""
        return self._rule([self._whole(branch) for branch in _branches(schema)])

    def _whole(self, schema: Schema) -> str:
        """Return what one branch writes as the value of a key."""
        if not self._quoted:
            return self._inner(schema)
        if "enum" in schema:
            return self._rule([self._literal(render_value(member, "quoted")) for member in schema["enum"]])
        if schema.get("type") in (None, "string"):
            return "WHOLE_TEXT"
        return f"{self._literal(chr(39))} {self._inner(schema)} {self._literal(chr(39))}"

    def _nested(self, schema: Schema) -> str:
        return self._rule([self._inner(branch) for branch in _branches(schema)])

    def _inner(self, schema: Schema) -> str:
        """Return what one branch writes inside brackets or alone."""
        if "enum" in schema:
            return self._rule([self._literal(self._inside.render(member)) for member in schema["enum"]])
        colon = self._literal(self._inside.spacing.colon)
        match schema.get("type"):
            case "string":
                return "TEXT"
            case "integer":
                return "INT"
            case "number":
                return "FLOAT"
            case "boolean":
                return self._rule([self._literal(self._inside.render(value)) for value in (True, False)])
            case "null":
                return self._literal(self._inside.render(None))
            case "array":
                return self._rule([self._between("[", self._nested(schema["items"]), "]")])
            case "object" if "properties" in schema:
                return self._record(schema)
            case "object":
                pair = f"TEXT {colon} {self._nested(schema['additionalProperties'])}"
                return self._rule([self._between("{", pair, "}")])
            case _:
                return "any"

    def _record(self, schema: Schema) -> str:
        pairs = []
        for key, value in schema["properties"].items():
            spellings = [self._literal(text + self._inside.spacing.colon) for text in self._inside.keys(key)]
            pairs.append((f"({' | '.join(spellings)}) {self._nested(value)}", key in schema.get("required", ())))
        return self._rule([f'"{{" {in_order(pairs, self._literal(self._inside.spacing.comma))} "}}"'])

    def _between(self, opening: str, item: str, closing: str) -> str:
        comma = self._literal(self._inside.spacing.comma)
        return f'"{opening}" ({item} ({comma} {item})*)? "{closing}"'

    def _rule(self, alternatives: Sequence[str]) -> str:
        """Return the name of a rule with these alternatives."""
        body = " | ".join(alternatives)
        return self._names.setdefault(body, f"value_{len(self._names)}")


def _branches(schema: Schema) -> list[Schema]:
    """Return the alternatives of a schema, each of one type at most."""
    if "anyOf" in schema:
        return [inner for branch in schema["anyOf"] for inner in _branches(branch)]
    types = schema.get("type")
    return [{**schema, "type": name} for name in types] if isinstance(types, list) else [schema]


def in_order(pairs: Sequence[tuple[str, bool]], separator: str) -> str:
    """Return what writes pairs in their order, with a separator between two; any that is not required may be left out.

    Parameters
    ----------
    pairs : sequence of (str, bool)
        The rule of a key with its value, and whether it is required.
    """
    first_required = next((n for n, (_, required) in enumerate(pairs) if required), len(pairs))
    behind = [f"({separator} {pair}){'' if required else '?'}" for pair, required in pairs]
    begun = [" ".join([pairs[n][0], *behind[n + 1 :]]) for n in range(min(first_required + 1, len(pairs)))]
    optional = "" if first_required < len(pairs) else "?"
    return f"({' | '.join(begun)}){optional}" if begun else ""


def _text_pattern(syntax: TextSyntax) -> str:
    count = "+" if syntax == QUOTED_TEXT else "*"
    return f"/{re.escape(syntax.opening)}{syntax.unit}{count}{re.escape(syntax.closing)}/"
