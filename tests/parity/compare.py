"""Compare the result of ``lookup.extract`` with the oracle, key by key."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lookup import MISSING, DocumentationError, ParameterSpec, ToolSpec, ValueType, extract
from parity.facts import ABSENT, Case, Key, Tool

FIELDS = ("names", "keys", "required", "raw types", "kinds", "enums", "defaults", "descriptions")


class Remark(str):
    """Stands for a value that is not documented."""

    __repr__ = str.__str__


@dataclass(frozen=True)
class Miss:
    """One disagreement. ``where`` is the case, the tool and the key."""

    field: str
    where: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: expected {_shown(self.expected)}, found {_shown(self.found)}"


@dataclass
class Tally:
    """Agreements and misses for one corpus in one format."""

    tools: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)

    def agreement(self, name: str) -> float | None:
        """The exact agreement of a field in percent; ``None`` if nothing was compared."""
        if not self.asked[name]:
            return None
        return 100 * (1 - sum(miss.field == name for miss in self.misses) / self.asked[name])

    def worst(self) -> float:
        """The lowest agreement of all fields."""
        return min((a for a in map(self.agreement, FIELDS) if a is not None), default=0.0)

    def ask(self, name: str, where: str, expected: Any, found: Any) -> None:
        """Count one comparison. Values agree only if their types do."""
        self.asked[name] += 1
        if repr(expected) != repr(found):
            self.misses.append(Miss(name, where, expected, found))

    def check(self, case: Case) -> None:
        """Extract the tools of a case and compare them."""
        found: list[ToolSpec] = []
        error = Remark("none")
        try:
            found = list(extract(case.source, origin=case.origin, on_duplicate=case.on_duplicate).values())
        except DocumentationError as failure:
            error = Remark(f"an error: {failure}")
        self.tools += len(case.expected)
        by_name = {tool.name: tool for tool in found}
        expected_names = [tool.name for tool in case.expected]
        for tool in found:
            if tool.name not in expected_names:
                self.ask("names", f"{case.id}, {tool.name!r}", Remark("no such tool"), Remark("a tool"))
        for tool in case.expected:
            where = f"{case.id}, {tool.name!r}"
            if tool.name in by_name:
                self.ask("names", where, tool.name, tool.name)
                self.compare(where, tool, by_name[tool.name])
            else:
                self.ask("names", where, Remark("a tool"), error)
        if by_name.keys() == set(expected_names):
            self.ask("names", case.id, expected_names, list(by_name))  # their order

    def compare(self, where: str, expected: Tool, found: ToolSpec) -> None:
        """Compare one tool. A missing key counts as one miss, of the field ``keys``."""
        keys = list(flat_keys(found.parameters))
        self.ask("descriptions", where, expected.description, found.description)
        self.ask("keys", where, [key.path for key in expected.keys], [key.path for key in keys])
        by_path = {key.path: key for key in keys}
        for key in expected.keys:
            if other := by_path.get(key.path):
                place = f"{where}, {key.path!r}"
                self.ask("required", place, key.required, other.required)
                self.ask("raw types", place, key.raw_type, other.raw_type)
                self.ask("kinds", place, key.kind, other.kind)
                self.ask("enums", place, (key.enum, key.element_enum), (other.enum, other.element_enum))
                self.ask("defaults", place, key.default, other.default)
                self.ask("descriptions", place, key.description, other.description)


def flat_keys(parameters: tuple[ParameterSpec, ...], prefix: str = "") -> Iterator[Key]:
    """The extracted keys in the shape of the oracle's."""
    for spec in parameters:
        yield Key(
            path=prefix + spec.name,
            required=spec.required,
            raw_type=spec.raw_type,
            kind=_kind(spec.type),
            enum=spec.enum,
            element_enum=_element_enum(spec.type),
            default=ABSENT if spec.default is MISSING else spec.default,
            description=spec.description,
        )
        yield from _inner_keys(spec.type, prefix + spec.name)


def _inner_keys(kind: ValueType, path: str) -> Iterator[Key]:
    if kind.properties:
        yield from flat_keys(kind.properties, f"{path}.")
    elif kind.items:
        yield from _inner_keys(kind.items, f"{path}[]")


def _kind(kind: ValueType) -> str:
    name = " | ".join(map(_kind, kind.any_of)) or kind.kind
    if kind.items:
        name = f"{name}[{_kind(kind.items)}]"
    return f"{name}?" if kind.nullable else name


def _element_enum(kind: ValueType) -> tuple[Any, ...] | None:
    return None if kind.items is None else kind.items.enum or _element_enum(kind.items)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 240 else f"{text[:200]}… ({len(text)} characters)"
