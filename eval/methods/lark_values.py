"""Rules in Lark's syntax for the values that a call format writes as Python literals, or between single quotes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from lookup.dictionary import ANY, ParameterSpec, ValueType
from lookup.values.literal_values import render_value
from lookup.values.notations import QUOTED_TEXT, Notation, TextSyntax, inside

NATIVE_NOTATIONS: Final = ("python", "python-lists", "quoted")
"""The notations of values that have such rules."""

_NUMBERS: Final = r"""INT: /-?(0|[1-9][0-9]{0,39})/
FLOAT: /-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?/
"""

Literal = Callable[[str], str]
"""Writes a text as Lark does."""


class ValueRules:
    """The rules of the values of one grammar; each type gets its rule once.

    Parameters
    ----------
    notation : Notation
        One of ``NATIVE_NOTATIONS``.
    literal : callable
        Writes a text as Lark does.
    """

    def __init__(self, notation: Notation, literal: Literal) -> None:
        self._notation = notation
        self._inside = inside(notation)
        self._literal = literal
        self._names: dict[str, str] = {}
        self._inner_text = " | ".join(_text_pattern(t) for t in self._inside.texts)

    @property
    def lark(self) -> str:
        """All rules that were needed so far."""
        rules = "".join(f"{name}: {body}\n" for body, name in self._names.items())
        texts = f"TEXT: {self._inner_text}\nWHOLE_TEXT: {_text_pattern(QUOTED_TEXT)}\n"
        return f"{_NUMBERS}{texts}any: {self._any}\n{rules}"

    def value(self, spec: ParameterSpec) -> str:
        """Return the name of the rule of a parameter's values."""
        of = spec.value_type
        if self._notation != "quoted":
            return self._type(of)
        alternatives = [self._quoted(branch) for branch in of.any_of or (of,)]
        if of.nullable:
            alternatives.append(self._literal(f"'{self._inside.null}'"))
        return self._rule(alternatives)

    def _quoted(self, of: ValueType) -> str:
        """Return what a type that is no union writes between single quotes."""
        if of.enum:
            return self._members(of.enum, self._notation)
        if of.admits_text:
            return "WHOLE_TEXT"
        return f"{self._literal(chr(39))} {self._alone(of)} {self._literal(chr(39))}"

    def _type(self, of: ValueType) -> str:
        alternatives = [self._type(branch) for branch in of.any_of] if of.any_of else [self._alone(of)]
        if of.nullable:
            alternatives.append(self._literal(self._inside.null))
        return self._rule(alternatives)

    def _alone(self, of: ValueType) -> str:
        """Return what a type that is no union writes inside brackets or alone, without null."""
        if of.enum:
            return self._rule([" | ".join(self._literal(self._inside.render(member)) for member in of.enum)])
        match of.kind:
            case "str":
                return "TEXT"
            case "int":
                return "INT"
            case "float":
                return "FLOAT"
            case "bool":
                return self._rule([" | ".join(map(self._literal, self._inside.booleans))])
            case "any":
                return "any"
            case "dict" if of.properties:
                return self._record(of.properties)
        item = self._type(of.items or ANY)
        if of.kind == "dict":
            return self._rule([self._between("{", f"TEXT {self._literal(self._inside.spacing.colon)} {item}", "}")])
        if of.kind == "tuple" and self._inside.has_tuples:
            comma = self._literal(self._inside.spacing.comma)
            several = f"{item} ({comma} {item})+"
            return self._rule([f'"()" | "(" {item} ",)" | "(" {several} ")"'])
        return self._rule([self._between("[", item, "]")])

    def _record(self, properties: Sequence[ParameterSpec]) -> str:
        colon = self._inside.spacing.colon
        pairs = []
        for spec in properties:
            keys = " | ".join(self._literal(key + colon) for key in self._inside.keys(spec.name))
            pairs.append((f"({keys}) {self._type(spec.value_type)}", bool(spec.required)))
        body = in_order(pairs, self._literal(self._inside.spacing.comma))
        return self._rule([f'"{{" {body} "}}"'])

    @property
    def _any(self) -> str:
        colon = self._literal(self._inside.spacing.colon)
        words = " | ".join(map(self._literal, [*self._inside.booleans, self._inside.null]))
        lists, dicts = self._between("[", "any", "]"), self._between("{", f"TEXT {colon} any", "}")
        return f"TEXT | FLOAT | {words} | {lists} | {dicts}"

    def _between(self, opening: str, item: str, closing: str) -> str:
        comma = self._literal(self._inside.spacing.comma)
        return f'"{opening}" ({item} ({comma} {item})*)? "{closing}"'

    def _members(self, members: Iterable[Any], notation: Notation) -> str:
        return self._rule([" | ".join(self._literal(render_value(member, notation)) for member in members)])

    def _rule(self, alternatives: Sequence[str]) -> str:
        """Return the name of a rule with these alternatives."""
        body = " | ".join(alternatives)
        return self._names.setdefault(body, f"value_{len(self._names)}")


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
    return f"/{syntax.opening}{syntax.unit}{count}{syntax.closing}/"
