"""Types and given values: ``type``, ``nullable``, ``enum`` and ``const``, and the schemas of documented types."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from lookup.dictionary import ANY, ParameterSpec, ValueType
from lookup.schema.schema import Made, MadeSchema, Schema
from lookup.schema.words import KINDS, NUMBERS, Kind, identity, is_plain, kind_of
from lookup.type_names import NULL_NAMES, value_type

_NAMES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "tuple",
    "dict": "object",
}  # fmt: skip
_STANDARD: Final[dict[str, frozenset[Kind]]] = {**{kind: frozenset({kind}) for kind in KINDS}, "number": NUMBERS}


class GivenValues:
    """Reads these words.

    Parameters
    ----------
    written : Mapping
        The schema.
    documentation : bool
        See ``Document``.
    """

    def __init__(self, written: Mapping[str, Any], documentation: bool) -> None:
        self._written = written
        self._documentation = documentation

    def words(self, found: Mapping[Any, Any], notes: list[str], schema: Callable[[object], Schema]) -> dict[Any, Any]:
        """The words that say them; what is not enforced is noted."""
        said: dict[Any, Any] = {}
        named = self._written.get("type", self._written.get("param_type") if self._documentation else None)
        if isinstance(named, str) and (inner := schema_named(named)):
            said["allOf"] = (*found.get("allOf", ()), schema(inner))
        elif named is not None:
            said |= self._kinds(named if isinstance(named, list | tuple) else [named])
        given = self._given()
        if given is None:
            return said | self._nullable(found, said)
        kinds: frozenset[Kind] = said.get("type", KINDS)
        fitting = given if kinds == KINDS else tuple(value for value in given if kind_of(value) in kinds)
        if fitting or not self._documentation or not given or kinds <= {"object", "null"}:
            return {**said, "enum": fitting}
        notes.append("the enum has no member of the type, so only the enum is enforced")
        if "array" in kinds and not any(isinstance(value, list | tuple) for value in given):
            return {**said, "type": frozenset({"array"}), "items": MadeSchema({"enum": given})}
        return {"enum": given}

    def _kinds(self, named: list[Any] | tuple[Any, ...]) -> dict[Any, Any]:
        kinds = frozenset[Kind]()
        for name in named:
            kinds |= kinds_named(name) if isinstance(name, str) else KINDS  # draft 3 allows schemas here
        if self._written.get("nullable") is True:
            kinds |= {"null"}
        said: dict[Any, Any] = {} if kinds == KINDS else {"type": kinds}
        return said | ({Made.TUPLE: True} if "tuple" in named else {})

    def _nullable(self, found: Mapping[Any, Any], said: Mapping[Any, Any]) -> dict[Any, Any]:
        """In documentation, ``nullable`` allows null beside a reference or a union, too."""
        whole = {**found, **said}
        if not self._documentation or self._written.get("nullable") is not True or "type" in whole or not whole:
            return {}
        inner = MadeSchema(whole)
        return {**dict.fromkeys(whole), "anyOf": (inner, MadeSchema({"enum": (None,)}))}

    def _given(self) -> tuple[Any, ...] | None:
        """The values of ``enum`` and ``const``; ``None`` without one."""
        values = self._written.get("enum")
        listed = tuple(filter(is_plain, values)) if isinstance(values, list | tuple) else None
        if "const" not in self._written:
            return listed
        constant = self._written["const"]
        if listed is not None:
            return tuple(value for value in listed if identity(value) == identity(constant))[:1]
        return (constant,) if is_plain(constant) else ()


@lru_cache(maxsize=1024)
def kinds_named(name: str) -> frozenset[Kind]:
    """The types that a name stands for, also one that is not JSON Schema's (``dict``, ``float``)."""
    if name in _STANDARD:
        return _STANDARD[name]
    if name.lower() in NULL_NAMES:
        return _STANDARD["null"]
    found = value_type(name)
    kinds = frozenset[Kind]()
    for branch in found.any_of or (found,):
        named = _NAMES.get(branch.kind)
        kinds |= KINDS if named is None else _STANDARD.get(named, _STANDARD["array"])
    return kinds | {"null"} if found.nullable else kinds


def schema_named(name: str) -> dict[str, Any] | None:
    """The schema of a name that says more than a type, such as ``List[str]``; ``None`` for all others."""
    if name in _STANDARD:
        return None
    found = value_type(name)
    return type_schema(found) if found != ValueType(found.kind, nullable=found.nullable) else None


def type_schema(of: ValueType) -> dict[str, Any]:
    """The schema of a type. Objects have their documented keys only; an enum takes precedence over its type."""
    if of.enum:
        return {"enum": [*of.enum, *([None] if of.nullable else [])]}
    row: dict[str, Any] = {} if of.kind == "any" else {"type": _NAMES[of.kind]}
    if of.any_of:
        row = {"anyOf": [type_schema(branch) for branch in of.any_of]}
    elif of.kind == "dict" and of.properties:
        row["properties"] = {spec.name: parameter_schema(spec) for spec in of.properties}
        row["required"] = [spec.name for spec in of.properties if spec.required]
        row["additionalProperties"] = False
    elif of.kind in ("list", "tuple", "dict") and of.items not in (None, ANY):
        row["additionalProperties" if of.kind == "dict" else "items"] = type_schema(of.items or ANY)
    return {"anyOf": [row, {"type": "null"}]} if of.nullable and row else row


def parameter_schema(spec: ParameterSpec) -> dict[str, Any]:
    """The schema of a parameter that is documented by its type alone."""
    return type_schema(spec.value_type)
