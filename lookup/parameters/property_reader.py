"""JSON Schema properties -> parameters: types, references, unions, nested objects, enums and defaults.

Shared by several forms: tools of BFCL, OpenAI and MCP, OpenAPI operations, pydantic models. What a
value is, the schema of the property says (``lookup.schema.value_schema``); its type here is for display.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.errors import DocumentationError
from lookup.messages import quoted, shown
from lookup.parameters.conditions import Conditions, conditions
from lookup.parameters.descriptions import read_description
from lookup.parameters.plain_values import plain_value, read_enum
from lookup.parameters.references import References
from lookup.parameters.requiredness import decide, own_flag
from lookup.parameters.schema_branches import UNIONS, Schema, branches_of, is_null
from lookup.parameters.schemas import Schemas, Scope
from lookup.schema.value_schema import ValueSchema, value_schema
from lookup.types.type_names import NULL_NAMES, WITH_MARKER, value_type
from lookup.types.unions import united

_COMBINING: Final = frozenset({"allOf", "if", "patternProperties", *UNIONS})
"""With these, the schemas of single keys stand in several branches."""


class _Typed(NamedTuple):
    """A type, the type as written, and the property with its references and only branch merged."""

    kind: ValueType
    raw_type: str
    spec: Schema


class PropertyReader:
    """Reads the properties of one tool.

    Parameters
    ----------
    owner : str
        The tool for messages.
    root : Mapping or References
        The document that local references point into; or its references, if several tools share them.
    habit : bool, optional
        Whether a key is required if nothing says so: ``False`` (JSON Schema's rule), ``True``, or ``None`` for unknown.
    skip_read_only : bool
        Whether to leave out ``readOnly`` properties with a note. In OpenAPI, only responses contain them.

    Attributes
    ----------
    notes : list of str
        What was ignored.
    conditions : Conditions or None
        What the schema of the last ``parameters`` says of several keys together.
    """

    def __init__(
        self,
        owner: str,
        root: Schema | References,
        habit: bool | None = False,
        skip_read_only: bool = False,
    ) -> None:
        self._schemas = Schemas(owner, root, habit)
        self._scope = Scope(owner)
        self._habit = habit
        self._skip_read_only = skip_read_only
        self.conditions: Conditions | None = None
        self.notes = self._schemas.notes

    def parameters(
        self, schema: Schema, beside: Schema | None = None, strict: bool = True
    ) -> tuple[ParameterSpec, ...]:
        """The keys of the object that ``schema`` describes.

        Parameters
        ----------
        beside : Mapping, optional
            Contains the lists ``required`` and ``optional`` if ``schema`` does not, as in Seal-Tools.
        strict : bool
            Whether a required key without a property is an error; otherwise it becomes a note.

        Raises
        ------
        DocumentationError
            If ``properties`` or a property is not an object, ``required`` is not a list, or ``enum`` is not a
            non-empty list.
        """
        merged, active = self._schemas.merged(schema, frozenset())
        resolved = self.resolve(schema)
        combined = not _COMBINING.isdisjoint(resolved)
        whole = value_schema(resolved, self._schemas.document) if combined else None
        self.conditions = None
        # Any number of tools may refer to an object of a shared document.
        if (active or self._schemas.shared) and not self._schemas.may_read_keys(merged):
            return ()
        keys = self._keys(merged, beside or {}, self._scope._replace(active=active, whole=whole), strict)
        required = [spec.name for spec in keys if spec.required]
        self.conditions = conditions(resolved, self._schemas.document, [spec.name for spec in keys], required)
        return keys

    def parameter(self, key: object, spec: object, listed: bool | None = None) -> ParameterSpec:
        """Read one property.

        Parameters
        ----------
        listed : bool, optional
            Whether a list of required keys contains the key; ``None`` without a list.

        Raises
        ------
        DocumentationError
            As for ``parameters``.
        """
        return self._key(key, spec, listed, self._scope)

    def resolve(self, spec: Schema) -> Schema:
        """The object that a reference names, or ``spec`` itself."""
        return self._schemas.resolve(spec)[0]

    def may_read(self, members: int) -> bool:
        """Whether this number of members of a shared document may be read (again). Adds a note if not."""
        return self._schemas.may_read(members)

    def _keys(self, schema: Schema, beside: Schema, scope: Scope, strict: bool) -> tuple[ParameterSpec, ...]:
        """The keys of an object whose references and branches are already merged."""
        properties = schema.get("properties")
        if properties is None:
            properties = {}
        if not isinstance(properties, Mapping):
            raise DocumentationError(
                f"{scope.where}: expected 'properties' to be an object of parameters, found {shown(properties)}"
            )
        lists = {word: schema.get(word, beside.get(word)) for word in ("required", "optional")}
        required = self._key_list("required", lists["required"], properties, scope, strict)
        optional = self._key_list("optional", lists["optional"], properties, scope, strict=False)
        return tuple(
            self._key(key, spec, _listed(key, required, optional), scope)
            for key, spec in properties.items()
            if not (spec is False and not (required and key in required))  # no object may have this key
            and not (self._skip_read_only and self._is_read_only(key, spec, scope))
        )

    def _key_list(
        self, word: str, keys: object, properties: Schema, scope: Scope, strict: bool
    ) -> frozenset[str] | None:
        """The keys of the list ``required`` or ``optional``; ``None`` without a list."""
        if keys is None or (isinstance(keys, bool | str) and not strict):
            return None  # a nested object's own flag
        if not isinstance(keys, list | tuple):
            raise DocumentationError(f"{scope.where}: expected {word!r} to be a list of keys, found {shown(keys)}")
        for key in keys:
            if not isinstance(key, str):
                raise DocumentationError(f"{scope.where}: expected {word!r} to hold keys, found {shown(key)}")
            if key in properties or (word == "required" and scope.nesting):
                continue  # inside a parameter its schema knows them
            message = f"{scope.where}: {word!r} names {quoted(key)}, which is not in 'properties'"
            if strict and key:
                expected = ", ".join(map(repr, properties)) or "nothing"
                raise DocumentationError(f"{message}; expected one of {expected}")
            self._schemas.note(f"{message}: ignored")
        return frozenset(keys)

    def _is_read_only(self, key: object, spec: object, scope: Scope) -> bool:
        if not isinstance(spec, Mapping):
            return False
        resolved, _ = self._schemas.resolve(spec, scope.active, notes=[])
        if resolved.get("readOnly") is not True:
            return False
        self._schemas.note(f"{scope.of_key(str(key)).where}: only responses hold it: ignored")
        return True

    def _key(self, key: object, spec: object, listed: bool | None, scope: Scope) -> ParameterSpec:
        if not isinstance(key, str) or not key:
            raise DocumentationError(f"{scope.where}: expected a parameter's key to be a text, found {shown(key)}")
        scope = scope.of_key(key)
        where = scope.where
        schema = self._schema(key, spec, scope)
        if spec is True:  # JSON Schema's schema that allows anything
            spec = {}
        if not isinstance(spec, Mapping):
            raise DocumentationError(f"{where}: expected an object with 'type', found {shown(spec)}")
        kind, raw_type, spec = self._type(spec, scope)
        description = read_description(spec, where)
        flag = own_flag(spec, where)
        if flag is None and (marker := WITH_MARKER.search(raw_type)):
            flag = marker[1].lower() == "required"
        has_default = "default" in spec
        required, rule = decide(
            flag=flag, listed=listed, description=description, has_default=has_default, habit=self._habit
        )
        kind = self._with_enum(kind, spec, where)
        default = MISSING
        if has_default:
            default = self._schemas.once(spec["default"], lambda default: plain_value(default, "default", where))
        plain = replace(kind, enum=None)
        return ParameterSpec(key, plain, raw_type, required, description, kind.enum, default, rule, schema)

    def _schema(self, key: str, spec: object, scope: Scope) -> ValueSchema | None:
        """The schema of a key of the tool; keys of objects are part of it."""
        if scope.nesting or not isinstance(spec, dict | bool):
            return None
        found = None if scope.whole is None else scope.whole.key(key)
        return found or value_schema(spec, self._schemas.document)

    def _type(self, spec: Schema, scope: Scope) -> _Typed:
        """The type of a property or element, without its own enum."""
        spec, active = self._schemas.resolve(spec, scope.active)
        if not self._schemas.enters(scope):
            written = spec.get("type")
            return _Typed(value_type(written) if isinstance(written, str) else ANY, "", spec)
        if branches_of(spec, "allOf"):
            spec, active = self._schemas.merged({k: v for k, v in spec.items() if k not in UNIONS}, active)
        scope = scope._replace(active=active)
        written = spec.get("type", spec.get("param_type"))
        given = [spec["const"]] if "const" in spec else spec.get("enum")
        # an enum without null refuses it
        nullable = not isinstance(given, list | tuple) or any(value is None for value in given)
        if written is None and (union := next((word for word in UNIONS if branches_of(spec, word)), None)):
            kind, raw_type, spec = self._union(spec, union, scope)
            return _Typed(replace(kind, nullable=kind.nullable and nullable), raw_type, spec)
        kind, raw_type = self._written_type(written, spec, scope)
        kind = replace(kind, nullable=nullable and (kind.nullable or spec.get("nullable") is True))
        return _Typed(self._inside(kind, spec, scope), raw_type, spec)

    def _union(self, spec: Schema, union: str, scope: Scope) -> _Typed:
        """The type of ``anyOf`` or ``oneOf``. A single branch next to null also gives its enum."""
        raw_type = self._schemas.once(spec[union], lambda value: json.dumps(value, ensure_ascii=False, default=repr))
        branches = branches_of(spec, union)
        named = [branch for branch in branches if not is_null(branch)]
        if len(named) == 1:
            kind, _, branch = self._type(named[0], scope.inside())
            spec = {**branch, **spec}
        else:
            kind = united([self._element(branch, scope) for branch in named])
        return _Typed(replace(kind, nullable=kind.nullable or len(named) < len(branches)), raw_type, spec)

    def _written_type(self, written: object, spec: Schema, scope: Scope) -> tuple[ValueType, str]:
        """The type that ``type`` names, and its text; without one, the type that the other words imply."""
        if written is None:
            is_list = "items" in spec or "prefixItems" in spec
            return ValueType("dict" if "properties" in spec else "list" if is_list else "any"), ""
        if isinstance(written, str):
            return self._with_branches(value_type(written), spec, scope), written
        if isinstance(written, list | tuple) and all(isinstance(name, str) for name in written):
            named = [name for name in written if name.lower() not in NULL_NAMES]
            kind = united(map(value_type, named))
            return replace(kind, nullable=len(named) < len(written)), json.dumps(written, ensure_ascii=False)
        raise DocumentationError(f"{scope.where}: expected 'type' to be a text, found {shown(written)}")

    def _with_branches(self, kind: ValueType, spec: Schema, scope: Scope) -> ValueType:
        """A plain type with what unions next to it add: an enum if all branches have one, and null."""
        for union in UNIONS:
            branches = branches_of(spec, union)
            if kind.kind == "dict" or not branches:
                continue
            found = united(self._element(branch, scope) for branch in branches if not is_null(branch))
            nullable = any(map(is_null, branches)) or (found if found.enum else kind).nullable
            kind = replace(kind, enum=found.enum or kind.enum, nullable=nullable)
        return kind

    def _inside(self, kind: ValueType, spec: Schema, scope: Scope) -> ValueType:
        """The type with its documented elements or keys."""
        if kind.any_of:
            return replace(kind, any_of=tuple(self._inside(branch, spec, scope) for branch in kind.any_of))
        if kind.kind in ("list", "tuple"):
            return self._with_elements(kind, spec.get("prefixItems") or spec.get("items"), scope)
        if kind.kind != "dict":
            return kind
        if spec.get("properties") or any(branches_of(spec, union) for union in UNIONS):
            merged, active = self._schemas.merged(spec, scope.active)
            if not merged.get("properties") or not self._schemas.may_read_keys(merged):
                return kind
            scope = scope.inside()._replace(active=active)
            return replace(kind, properties=self._keys(merged, {}, scope, strict=False))
        extra = spec.get("additionalProperties")
        return _of(kind, self._element(extra, scope)) if isinstance(extra, Mapping) else kind

    def _with_elements(self, kind: ValueType, elements: object, scope: Scope) -> ValueType:
        if isinstance(elements, Mapping):
            elements = [elements]
        if not isinstance(elements, list | tuple):
            return kind
        return _of(kind, united([self._element(e, scope) for e in elements if isinstance(e, Mapping)]))

    def _element(self, spec: Schema, scope: Scope) -> ValueType:
        kind, _, spec = self._type(spec, scope.inside())
        return self._with_enum(kind, spec, scope.where)

    def _with_enum(self, kind: ValueType, spec: Schema, where: str) -> ValueType:
        """The type with its enum. If no type is documented, it is the type of the members."""
        if spec.get("enum") is not None:
            members, inferred = self._schemas.once(spec["enum"], lambda enum: read_enum(enum, where))
        elif "const" in spec:
            members, inferred = read_enum([spec["const"]], where)
        else:
            return kind
        return replace(inferred if kind == ANY and "type" not in spec else kind, enum=members)


def _of(kind: ValueType, element: ValueType) -> ValueType:
    """The container type with its element type."""
    return kind if element == ANY else replace(kind, items=element)


def _listed(key: str, required: frozenset[str] | None, optional: frozenset[str] | None) -> bool | None:
    """What the lists say of a key: the required list if there is one; otherwise the optional list."""
    if required is not None:
        return key in required
    return False if optional is not None and key in optional else None
