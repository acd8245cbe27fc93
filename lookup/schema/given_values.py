"""The types and given values of one schema: ``type``, ``nullable``, ``enum`` and ``const``."""

from collections.abc import Callable, Mapping
from typing import Any

from lookup.schema.schema import Made, MadeSchema, Schema
from lookup.schema.type_schemas import kinds_named, schema_named
from lookup.schema.words import KINDS, Kind, identity, is_plain, kind_of


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
