"""The lookup dictionary: what the documentation says of each tool, as frozen data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal

Kind = Literal["str", "int", "float", "bool", "list", "dict", "tuple", "any"]


class Missing:
    """The type of ``MISSING``: no default documented (``None`` is a documented null)."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True)
class ValueType:
    """A normalised type.

    ``items`` is the element type of a list or tuple, ``None`` when undocumented. ``enum`` holds the members
    that an element may be; the enum of a whole parameter stands in ``ParameterSpec``.
    """

    kind: Kind
    items: "ValueType | None" = None
    enum: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        return f"{self.kind}[{self.items}]" if self.items else self.kind


ANY: Final = ValueType("any")


@dataclass(frozen=True)
class ParameterSpec:
    """One key of a tool.

    ``required`` is three-state: ``None`` says that the documentation does not tell.
    ``raw_type`` is the type as written; ``enum`` keeps the documented members as they stand,
    also where they clash with the type. ``enum=None`` means that no enum is documented.
    """

    name: str
    type: ValueType
    raw_type: str
    required: bool | None
    description: str = ""
    enum: tuple[Any, ...] | None = None
    default: Any = MISSING

    @property
    def value_type(self) -> ValueType:
        """The type whose ``enum`` says which values are right.

        A documented enum decides alone, also where it clashes with the type. On a list or tuple, members that
        are no lists limit the elements.
        """
        if not self.enum:
            return self.type
        if self.type.kind in ("list", "tuple") and not any(isinstance(m, list | tuple) for m in self.enum):
            return replace(self.type, items=replace(self.type.items or ANY, enum=self.enum))
        return replace(self.type, enum=self.enum)

    def to_json(self) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints; an absent enum or default is left out."""
        row: dict[str, Any] = {
            "name": self.name,
            "type": self.type.kind,
            "raw_type": self.raw_type,
            "required": self.required,
        }
        if self.enum is not None:
            row["enum"] = list(self.enum)
        if self.default is not MISSING:
            row["default"] = self.default
        row["description"] = self.description
        return row


@dataclass(frozen=True)
class ToolSpec:
    """One tool; ``parameters`` stand in documentation order, names are unique."""

    name: str
    description: str = ""
    parameters: tuple[ParameterSpec, ...] = ()

    @property
    def required(self) -> tuple[ParameterSpec, ...]:
        """Parameters known to be required, in documentation order."""
        return tuple(p for p in self.parameters if p.required)

    @property
    def optional(self) -> tuple[ParameterSpec, ...]:
        """Parameters that a call may leave out (optional or undocumented), in documentation order."""
        return tuple(p for p in self.parameters if not p.required)

    def parameter(self, name: str) -> ParameterSpec:
        """The parameter called ``name``; KeyError if there is none."""
        for spec in self.parameters:
            if spec.name == name:
                return spec
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints for a tool."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": [p.to_json() for p in self.parameters],
        }


@dataclass(frozen=True)
class LookupDictionary(Mapping[str, ToolSpec]):
    """Tool name -> ToolSpec, in documentation order."""

    tools: tuple[ToolSpec, ...]
    _by_name: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", MappingProxyType({t.name: t for t in self.tools}))

    def __getitem__(self, name: str) -> ToolSpec:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def to_json(self) -> dict[str, Any]:
        """``{"tools": [...]}`` as ``tooldecoding lookup --json`` prints it."""
        return {"tools": [t.to_json() for t in self.tools]}
