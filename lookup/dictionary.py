"""The lookup dictionary: what the documentation says of each tool, as frozen data."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal

Kind = Literal["str", "int", "float", "bool", "list", "dict", "tuple", "any"]

UnknownKeys = Literal["optional", "required"]
"""What a key counts as of which the documentation does not tell whether it is required."""

Rule = Literal["flag", "list", "prose", "default", "path variable", "habit"]
"""What decided whether a key is required, strongest first, except that a path variable beats everything.

``flag`` is what the property itself says (``required: true``), ``list`` a list of required keys beside the
properties or a list of its own for each kind, ``prose`` a word in the description (``[Optional]``), ``default``
that a default is documented, ``path variable`` that the key stands in the tool's path (``/albums/{id}``), and
``habit`` what the form means by saying nothing.
"""


class Missing:
    """The type of ``MISSING``: no default documented (``None`` is a documented null)."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True)
class ValueType:
    """A normalised type.

    Attributes
    ----------
    items : ValueType, optional
        The element type of a list or tuple, the type of the values of a dict without documented keys; ``None``
        when undocumented.
    enum : tuple, optional
        The members that an element may be; the enum of a whole parameter stands in ``ParameterSpec``.
    properties : tuple of ParameterSpec, optional
        The documented keys of an object, which are required or optional of their own; ``None`` when undocumented.
    any_of : tuple of ValueType
        The alternatives of a union; ``kind`` is ``any`` then.
    nullable : bool
        Whether the documentation allows null, too.
    """

    kind: Kind
    items: "ValueType | None" = None
    enum: tuple[Any, ...] | None = None
    properties: "tuple[ParameterSpec, ...] | None" = None
    any_of: "tuple[ValueType, ...]" = ()
    nullable: bool = False

    def __str__(self) -> str:
        if self.any_of:
            return " | ".join(map(str, self.any_of))
        return f"{self.kind}[{self.items}]" if self.items else self.kind

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """``{"type": kind}`` with what else is documented of the type."""
        row: dict[str, Any] = {"type": self.kind}
        if self.any_of:
            row["any_of"] = [branch.to_json(explain) for branch in self.any_of]
        if self.items:
            row["items"] = self.items.to_json(explain)
        if self.enum is not None:
            row["enum"] = list(self.enum)
        if self.properties is not None:
            row["properties"] = [p.to_json(explain) for p in self.properties]
        if self.nullable:
            row["nullable"] = True
        return row


ANY: Final = ValueType("any")


@dataclass(frozen=True)
class ParameterSpec:
    """One key of a tool, or of an object inside one.

    ``required`` is three-state: ``None`` says that the documentation does not tell; ``rule`` says what decided.
    ``raw_type`` is the type as written; ``enum`` and ``default`` are kept as they stand, also where they clash
    with the type. ``enum=None`` means that no enum is documented.
    """

    name: str
    type: ValueType
    raw_type: str
    required: bool | None
    description: str = ""
    enum: tuple[Any, ...] | None = None
    default: Any = MISSING
    rule: Rule = field(default="habit", compare=False)

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

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints; an absent enum or default is left out.

        ``explain`` adds the rule that decided whether the key is required.
        """
        row: dict[str, Any] = {
            "name": self.name,
            **self.type.to_json(explain),
            "raw_type": self.raw_type,
            "required": self.required,
        }
        if explain:
            row["rule"] = self.rule
        if self.enum is not None:
            row["enum"] = list(self.enum)
        if self.default is not MISSING:
            row["default"] = self.default
        row["description"] = self.description
        return row


@dataclass(frozen=True)
class Span:
    """A stretch of text: offsets ``start`` to ``end``, and lines and columns counted from 1.

    ``end_column`` is the column of the last character.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}-{self.end_line}:{self.end_column}"


@dataclass(frozen=True)
class Source:
    """Where a tool is documented: the form, the file or other origin, and the stretch of a text.

    ``path`` leads to the tool inside parsed data, as ``['tools'][3]``; it is empty for a text.
    """

    form: str
    origin: str
    span: Span | None = None
    path: str = ""

    def __str__(self) -> str:
        return f"{self.origin}:{self.span.line}:{self.span.column}" if self.span else f"{self.origin}{self.path}"

    def to_json(self) -> dict[str, Any]:
        """The form, the origin, and the span or the path."""
        row: dict[str, Any] = {"form": self.form, "origin": self.origin}
        return row | ({"span": asdict(self.span)} if self.span else {"path": self.path})


@dataclass(frozen=True)
class ToolSpec:
    """One tool; ``parameters`` stand in documentation order, names are unique.

    Attributes
    ----------
    collection : str
        What the tool belongs to, where the documentation says so (RapidAPI's ``tool_name``).
    documented_name : str
        The name in the documentation, if another tool of that name forced a new one on this; else empty.
    notes : tuple of str
        What the reader noticed and did not take over, such as a required key that is nowhere described.
    source : Source, optional
        Where it is documented.
    """

    name: str
    description: str = ""
    parameters: tuple[ParameterSpec, ...] = ()
    collection: str = field(default="", compare=False)
    documented_name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: Source | None = field(default=None, compare=False)

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

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints for a tool; ``explain`` adds where it stands."""
        row: dict[str, Any] = {"name": self.name}
        if self.documented_name:
            row["documented_name"] = self.documented_name
        row["description"] = self.description
        row["parameters"] = [p.to_json(explain) for p in self.parameters]
        if explain:
            row["source"] = None if self.source is None else self.source.to_json()
            row["notes"] = list(self.notes)
        return row


@dataclass(frozen=True)
class Unread:
    """Text that looks like a tool and was not taken as one, and why."""

    source: Source
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """Where it stands, and why it was not taken."""
        return self.source.to_json() | {"reason": self.reason}


@dataclass(frozen=True)
class LookupDictionary(Mapping[str, ToolSpec]):
    """Tool name -> ToolSpec, in documentation order; ``unread`` is what looked like a tool and was not taken."""

    tools: tuple[ToolSpec, ...]
    unread: tuple[Unread, ...] = field(default=(), compare=False)
    _by_name: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)
    _decided: dict[UnknownKeys, "LookupDictionary"] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", MappingProxyType({t.name: t for t in self.tools}))

    def __getitem__(self, name: str) -> ToolSpec:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def decided(self, unknown: UnknownKeys) -> "LookupDictionary":
        """The same tools, where each key of which the documentation does not tell is ``required`` or ``optional``.

        What holds no such key stays the same object; each answer is made once.
        """
        if unknown not in self._decided:
            required = unknown == "required"
            tools = tuple(_decided(tool, required) for tool in self.tools)
            same = all(new is old for new, old in zip(tools, self.tools, strict=True))
            self._decided[unknown] = self if same else replace(self, tools=tools)
        return self._decided[unknown]

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """``{"tools": [...]}`` as ``tooldecoding lookup --json`` prints it; ``explain`` adds ``unread`` and places."""
        row: dict[str, Any] = {"tools": [t.to_json(explain) for t in self.tools]}
        if explain:
            row["unread"] = [u.to_json() for u in self.unread]
        return row


def _decided(tool: ToolSpec, required: bool) -> ToolSpec:
    parameters = _decided_keys(tool.parameters, required)
    return tool if parameters is tool.parameters else replace(tool, parameters=parameters)


def _decided_keys(specs: tuple[ParameterSpec, ...], required: bool) -> tuple[ParameterSpec, ...]:
    decided = tuple(_decided_key(spec, required) for spec in specs)
    return specs if all(new is old for new, old in zip(decided, specs, strict=True)) else decided


def _decided_key(spec: ParameterSpec, required: bool) -> ParameterSpec:
    value_type = _decided_type(spec.type, required)
    if value_type is spec.type and spec.required is not None:
        return spec
    return replace(spec, type=value_type, required=required if spec.required is None else spec.required)


def _decided_type(value_type: ValueType, required: bool) -> ValueType:
    items = value_type.items and _decided_type(value_type.items, required)
    properties = value_type.properties and _decided_keys(value_type.properties, required)
    branches = tuple(_decided_type(branch, required) for branch in value_type.any_of)
    unchanged = items is value_type.items and properties is value_type.properties
    if unchanged and all(new is old for new, old in zip(branches, value_type.any_of, strict=True)):
        return value_type
    return replace(value_type, items=items, properties=properties, any_of=branches)
