"""The lookup dictionary: the documented tools, their keys and their types, as frozen data."""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

from lookup.errors import quoted
from lookup.source import Source, Unread

Kind = Literal["str", "int", "float", "bool", "list", "dict", "tuple", "any"]

UnknownKeys = Literal["optional", "required"]
"""How to treat a key if the documentation does not say whether it is required."""

Rule = Literal["flag", "list", "prose", "default", "path variable", "habit"]
"""The rule that decided whether a key is required, strongest first; a path variable overrides every other rule.

``flag``: the property says so itself (``required: true``). ``list``: a list of required keys beside the properties,
or separate lists of required and optional keys. ``prose``: a word in the description (``[Optional]``). ``default``:
a default is documented. ``path variable``: the key is part of the tool's path (``/albums/{id}``). ``habit``: the
convention of the form for a key without any of these.
"""


class SchemaConstraint(Protocol):
    """What a schema says of values."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while a value is decoded, only checked after."""

    @property
    def unsatisfiable(self) -> bool:
        """Whether no value can obey it: an optional key is then never written, and a required one is refused."""

    def check(self, value: Any) -> Any:
        """The value if it obeys the schema; otherwise a ValueError that says what was expected."""


class Missing:
    """The type of ``MISSING``: no default is documented. ``None`` is a documented null."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"  # pickled by name: it is compared with ``is``


MISSING: Final = Missing()


@dataclass(frozen=True)
class ValueType:
    """A normalised type.

    Attributes
    ----------
    items : ValueType, optional
        The element type of a list or tuple, or the value type of a dict without documented keys; ``None`` if
        undocumented.
    enum : tuple, optional
        The allowed values of an element. The enum of a whole parameter is in ``ParameterSpec``.
    properties : tuple of ParameterSpec, optional
        The documented keys of an object, each required or optional; ``None`` if undocumented.
    any_of : tuple of ValueType
        The alternatives of a union. ``kind`` is then ``any``.
    nullable : bool
        Whether null is allowed as well.
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
        """``{"type": kind}`` with the other documented attributes of the type."""
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

    ``required`` is ``None`` if the documentation does not say; ``rule`` is the rule that decided it. ``raw_type`` is
    the type as written. ``enum`` and ``default`` are kept verbatim, even if they contradict the type; ``enum=None``
    means that no enum is documented. ``ask`` is false if the documentation says ``x-ask: never``: the model may work
    the value out where nobody said it. ``type`` and ``enum`` are for display: what a value is, ``schema`` says; without
    one, the schema is made of them (``lookup.schema.value_schema.schema_of``). ``derived`` holds what was made of the
    parameter, such as its grammars.
    """

    name: str
    type: ValueType
    raw_type: str
    required: bool | None
    description: str = ""
    enum: tuple[Any, ...] | None = None
    default: Any = MISSING
    rule: Rule = field(default="habit", compare=False)
    schema: SchemaConstraint | None = field(default=None, compare=False, repr=False)
    ask: bool = True
    derived: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "derived": {}}

    @property
    def always_allowed(self) -> tuple[Any, ...]:
        """The values that are right whatever type, enum and limits say: a documented default.

        One with brackets must obey the schema.
        """
        bound = isinstance(self.default, list | tuple | dict)
        return () if bound or self.default is MISSING else (self.default,)

    @property
    def value_type(self) -> ValueType:
        """The type including the parameter's enum.

        The enum takes precedence over the type. On a list or tuple, it limits the elements unless it contains lists.
        """
        if not self.enum:
            return self.type
        if self.type.kind in ("list", "tuple") and not any(isinstance(m, list | tuple) for m in self.enum):
            return replace(self.type, items=replace(self.type.items or ANY, enum=self.enum))
        return replace(self.type, enum=self.enum)

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints, without an absent enum or default.

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
        if not self.ask:
            row["ask"] = False
        row["description"] = self.description
        return row


@dataclass(frozen=True)
class ToolSpec:
    """One tool. ``parameters`` are in documentation order; their names are unique.

    Attributes
    ----------
    collection : str
        The collection that the tool belongs to (RapidAPI's ``tool_name``); empty if undocumented.
    documented_name : str
        The documented name if the tool was renamed because of a duplicate; otherwise empty.
    notes : tuple of str
        What the reader noticed but ignored, such as a required key without a description.
    source : Source, optional
        Where the tool is documented.
    conditions : SchemaConstraint, optional
        What a schema says of several arguments together; checked when a call is finished.
    returns : tuple of str
        The keys of the tool's result, if they are documented.
    reads : bool or None
        Whether it only reads: ``readOnlyHint`` of MCP's annotations; None if that is not said.
    destroys : bool
        Whether what it does cannot be undone: ``destructiveHint`` of MCP's annotations, or ``destructive``.
    """

    name: str
    description: str = ""
    parameters: tuple[ParameterSpec, ...] = ()
    collection: str = field(default="", compare=False)
    documented_name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: Source | None = field(default=None, compare=False)
    conditions: SchemaConstraint | None = field(default=None, compare=False, repr=False)
    returns: tuple[str, ...] = field(default=(), compare=False)
    reads: bool | None = field(default=None, compare=False)
    destroys: bool = field(default=False, compare=False)

    @property
    def unenforced(self) -> tuple[str, ...]:
        """What the documentation says of values that is not enforced while they are decoded, only checked after."""
        found = [f"parameter {quoted(p.name)}: {note}" for p in self.parameters if p.schema for note in p.schema.notes]
        return (*found, *(self.conditions.notes if self.conditions else ()))

    @property
    def required(self) -> tuple[ParameterSpec, ...]:
        """The parameters known to be required, in documentation order."""
        return tuple(p for p in self.parameters if p.required)

    @property
    def optional(self) -> tuple[ParameterSpec, ...]:
        """All other parameters (optional or unknown), in documentation order."""
        return tuple(p for p in self.parameters if not p.required)

    def needs_result_of(self, other: "ToolSpec") -> bool:
        """Whether a required key is one that another tool returns, and does not take itself.

        >>> login = ToolSpec("login", parameters=(), returns=("token",))
        >>> ToolSpec("send", parameters=(ParameterSpec("token", ANY, "any", True),)).needs_result_of(login)
        True
        """
        new = set(other.returns).difference(spec.name for spec in other.parameters)
        return any(spec.name in new for spec in self.required)

    def parameter(self, name: str) -> ParameterSpec:
        """The parameter called ``name``. Raises KeyError if there is none."""
        for spec in self.parameters:
            if spec.name == name:
                return spec
        raise KeyError(name)

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """The object that ``tooldecoding lookup --json`` prints; ``explain`` adds source and notes."""
        row: dict[str, Any] = {"name": self.name}
        if self.documented_name:
            row["documented_name"] = self.documented_name
        row["description"] = self.description
        row["parameters"] = [p.to_json(explain) for p in self.parameters]
        if explain:
            row["source"] = None if self.source is None else self.source.to_json()
            row["returns"] = list(self.returns)
            row["notes"] = list(self.notes)
            row["unenforced"] = list(self.unenforced)
        return row


@dataclass(frozen=True)
class LookupDictionary(Mapping[str, ToolSpec]):
    """Tool name -> ToolSpec, in documentation order. ``unread`` lists what looked like a tool but was not read."""

    tools: tuple[ToolSpec, ...]
    unread: tuple[Unread, ...] = field(default=(), compare=False)
    _by_name: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)
    _decided: dict[UnknownKeys, "LookupDictionary"] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", MappingProxyType({t.name: t for t in self.tools}))

    def __reduce__(self) -> tuple[Any, ...]:
        return LookupDictionary, (self.tools, self.unread)

    def __getitem__(self, name: str) -> ToolSpec:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def decided(self, unknown: UnknownKeys) -> "LookupDictionary":
        """The same tools, with every parameter of unknown requiredness made ``required`` or ``optional``.

        Optional parameters that no value can obey are left out. The result is cached. Tools without such parameters
        are the same objects.
        """
        if unknown not in self._decided:
            required = unknown == "required"
            tools = tuple(_decided(tool, required) for tool in self.tools)
            same = all(new is old for new, old in zip(tools, self.tools, strict=True))
            self._decided[unknown] = self if same else replace(self, tools=tools)
        return self._decided[unknown]

    def to_json(self, explain: bool = False) -> dict[str, Any]:
        """``{"tools": [...]}`` as ``tooldecoding lookup --json`` prints it. ``explain`` adds sources and ``unread``."""
        row: dict[str, Any] = {"tools": [t.to_json(explain) for t in self.tools]}
        if explain:
            row["unread"] = [u.to_json() for u in self.unread]
        return row


def _decided(tool: ToolSpec, required: bool) -> ToolSpec:
    known = [spec if spec.required is not None else replace(spec, required=required) for spec in tool.parameters]
    parameters = tuple(spec for spec in known if spec.required or spec.schema is None or not spec.schema.unsatisfiable)
    same = len(parameters) == len(known) and all(map(operator.is_, parameters, tool.parameters))
    return tool if same else replace(tool, parameters=parameters)
