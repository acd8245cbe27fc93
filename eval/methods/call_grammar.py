"""The calls of some tools as a grammar in Lark's syntax, which other libraries read."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from eval.errors import EvalError
from lookup.dictionary import ToolSpec
from lookup.grammar.literal_values import render_value
from lookup.grammar.notations import QUOTED_TEXT, Notation, TextSyntax, inside
from lookup.languages.codepoints import RESERVED, RESERVED_CHARACTER
from tooldecoding.chat.documentation import json_schema
from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tokens.token_texts import END, SpecialTexts

_NATIVE_NOTATIONS: Final = ("python", "python-lists", "quoted")
"""The notations of values, beside JSON, that have rules."""

_PIECES: Final = re.compile(rf"({RESERVED_CHARACTER.pattern})")

_NUMBERS: Final = r"""INT: /-?(0|[1-9][0-9]{0,39})/
FLOAT: /-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?/
"""

Schema = Mapping[str, Any]
"""A JSON Schema of types and enums, as ``arguments_schema`` makes it."""


@dataclass(frozen=True)
class Grammar:
    """A grammar whose rule ``start`` is one call or more.

    Attributes
    ----------
    lark : str
        All rules but those of ``schemas``.
    schemas : mapping
        Name of a rule -> JSON Schema of what it writes.
    """

    lark: str
    schemas: Mapping[str, Mapping[str, Any]]


def demand_grammar(method: str, call_format: CallFormat) -> None:
    """Raise an EvalError, which lists the formats that have a grammar, unless this one does."""
    if not _has_grammar(call_format):
        known = ", ".join(name for name, other in CALL_FORMATS.items() if _has_grammar(other))
        raise EvalError(
            f"the method {method} has no grammar of calls in the format {call_format.name}; formats that have one: "
            f"{known}"
        )


def call_grammar(
    begun: str, tools: Iterable[ToolSpec], call_format: CallFormat, most_calls: int, special: SpecialTexts
) -> Grammar:
    """Return the grammar of calls.

    A call has a documented name, then its required keys and any of the others, in the order of the documentation. JSON
    formats have the arguments' JSON Schema as a rule of its own; the values of others are written out. A tool ``sail``
    with the required text ``to`` and the optional integer ``crew``, in the format pythonic, at most two calls::

        start: "[" call (further){0,1} "]" ("\\n")?
        further: ", " call
        call: call_0
        call_0: "sail(" ("to=" value_0 (", " "crew=" value_1)?) ")"
        value_0: TEXT
        value_1: INT

    Parameters
    ----------
    begun : str
        The text before the first name.
    call_format : CallFormat
        Bound to the tokenizer; one that passes ``demand_grammar``.
    special : SpecialTexts
        Which tokens the reserved characters stand for.
    """
    writer = _Writer(call_format, special)
    calls = [writer.call(tool) for tool in tools]
    several = call_format.parallel and most_calls > 1
    further = f" (further){{0,{most_calls - 1}}}" if several else ""
    # a model ends with a line break where it wants no further call; without one it would have to begin another
    ending = r' ("\n")?' if several else ""
    closer = call_format.closer.replace(END, "")  # the end of the turn is no part of a grammar
    rules = [
        f"start: {writer.literal(begun)} call{further} {writer.literal(closer)}{ending}",
        f"further: {writer.literal(call_format.next_call)} call",
        f"call: {' | '.join(f'call_{n}' for n in range(len(calls)))}",
        *(f"call_{n}: {call}" for n, call in enumerate(calls)),
    ]
    values = "" if call_format.notation == "json" else writer.values.lark
    return Grammar("\n".join(rules) + "\n" + values, writer.schemas)


def arguments_schema(tool: ToolSpec) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments: keys in this order, and no others.

    It says the types and enums that were read from the documentation, and nothing else of the values.
    """
    return _closed({"required": []} | json_schema(tool, prose=False)["parameters"])


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema whose objects have the keys listed and no others; libraries differ where it is not said."""
    row = dict(schema)
    if "properties" in row:
        row["properties"] = {key: _closed(value) for key, value in row["properties"].items()}
        row["additionalProperties"] = False
    elif "object" in row.get("type", ()):
        row["additionalProperties"] = _closed(row.get("additionalProperties", {}))
    if "array" in row.get("type", ()):
        row["items"] = _closed(row.get("items", {}))
    if "anyOf" in row:
        row["anyOf"] = [_closed(branch) for branch in row["anyOf"]]
    return row


class _Writer:
    """Writes the rules of calls."""

    def __init__(self, call_format: CallFormat, special: SpecialTexts) -> None:
        self._format = call_format
        self._tokens = {character: token for token, character in special.texts.items()}
        self.schemas: dict[str, Mapping[str, Any]] = {}
        self.values = _ValueRules(call_format.notation, self.literal)

    def literal(self, text: str) -> str:
        """Return a text as Lark writes it; a reserved character is its token."""
        parts = [part for part in _PIECES.split(text) if part]
        return " ".join(
            f"<[{self._tokens[part]}]>" if ord(part[0]) in RESERVED else json.dumps(part, ensure_ascii=False)
            for part in parts
        )

    def call(self, tool: ToolSpec) -> str:
        """Return the rule of one call, from its name to its end."""
        bracket, end = self._format.bracket, self._format.end_of(empty=False)
        parameters = [tool.parameter(name) for name in self._format.ordered(p.name for p in tool.parameters)]
        schema = arguments_schema(replace(tool, parameters=tuple(parameters)))
        if self._format.notation == "json":
            name = f"arguments_{len(self.schemas)}"
            self.schemas[name] = schema
            return f"{self.literal(tool.name + bracket[:-1])} {name} {self.literal(end[1:])}"
        pairs = [
            (f"{self.literal(self._format.key(key))} {self.values.value(value)}", key in schema["required"])
            for key, value in schema["properties"].items()
        ]
        arguments = in_order(pairs, self.literal(self._format.separator))
        return f"{self.literal(tool.name + bracket)} {arguments} {self.literal(end)}"


def _has_grammar(call_format: CallFormat) -> bool:
    pieces = (call_format.opener, call_format.bracket, call_format.next_call)
    if any(INDEX in piece for piece in pieces) or call_format.empty_end is not None:
        return False
    if call_format.notation == "json":
        return call_format.bracket.endswith("{") and call_format.end.startswith("}")
    return call_format.notation in _NATIVE_NOTATIONS


class _ValueRules:
    """The rules of the values that a call format writes as Python literals, or between single quotes.

    Each schema gets its rule once.

    Parameters
    ----------
    notation : Notation
        One of ``_NATIVE_NOTATIONS``.
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

    ``pairs``: the rule of a key with its value, and whether it is required.
    """
    first_required = next((n for n, (_, required) in enumerate(pairs) if required), len(pairs))
    behind = [f"({separator} {pair}){'' if required else '?'}" for pair, required in pairs]
    begun = [" ".join([pairs[n][0], *behind[n + 1 :]]) for n in range(min(first_required + 1, len(pairs)))]
    optional = "" if first_required < len(pairs) else "?"
    return f"({' | '.join(begun)}){optional}" if begun else ""


def _text_pattern(syntax: TextSyntax) -> str:
    count = "+" if syntax == QUOTED_TEXT else "*"
    return f"/{re.escape(syntax.opening)}{syntax.unit}{count}{re.escape(syntax.closing)}/"
