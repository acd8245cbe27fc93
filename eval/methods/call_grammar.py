"""The calls of some tools as a grammar in Lark's syntax, which other libraries read."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from eval.errors import EvalError
from eval.methods.lark_values import NATIVE_NOTATIONS, ValueRules, in_order
from lookup.dictionary import ToolSpec
from lookup.languages.codepoints import RESERVED, RESERVED_CHARACTER
from tooldecoding.chat.documentation import json_schema
from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tokens.token_texts import END, SpecialTexts

_PIECES = re.compile(rf"({RESERVED_CHARACTER.pattern})")


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
    formats have the arguments' JSON Schema as a rule of its own; the values of others are written out.

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
        self.values = ValueRules(call_format.notation, self.literal)

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
    return call_format.notation in NATIVE_NOTATIONS
