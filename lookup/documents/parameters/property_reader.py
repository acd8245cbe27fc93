"""JSON Schema properties -> parameters: types, references, unions, nested objects, enums and defaults.

Shared by several forms: tools of BFCL, OpenAI and MCP, OpenAPI operations, pydantic models. What a
value is, the schema of the property says (``lookup.schema.value_schema``); its type here is for display.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, cast

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.documents.parameters.plain_values import demand_object, plain_value, read_description, read_enum
from lookup.documents.parameters.requiredness import decide, is_required, own_flag
from lookup.documents.parameters.tool_schemas import Held, Schema, Schemas, branches_of, is_null
from lookup.errors import DocumentationError, quoted, shown
from lookup.schema.document import Document, Written
from lookup.schema.schema import named_type, names, with_enum
from lookup.schema.value_schema import Conditions, ValueSchema, conditions, value_schema
from lookup.type_names import NULL_NAMES, WITH_MARKER, united, value_type

_COMBINING: Final = frozenset({"allOf", "if", "patternProperties", "propertyNames", "anyOf", "oneOf"})
"""With these, a key's own schema does not say all of it."""


class _Scope(NamedTuple):
    """Where a schema is read: tool and parameter for messages, the number of objects, lists and branches around it, and
    the references that are being followed."""

    where: str
    nesting: int = 0
    active: frozenset[Written] = frozenset()

    def inside(self) -> "_Scope":
        return self._replace(nesting=self.nesting + 1)


class _Typed(NamedTuple):
    """A type, the type as written, and the property with its references and only branch merged."""

    kind: ValueType
    raw_type: str
    spec: Schema


class PropertyReader(Schemas):
    """Reads the properties of one tool.

    Parameters
    ----------
    owner : str
        The tool for messages.
    root : Mapping or Document
        What local references point into.
    convention : bool, optional
        Whether a key is required if nothing says so: ``False`` (JSON Schema's rule), ``True``, or ``None`` for unknown.
    skip_read_only : bool
        Whether to leave out ``readOnly`` properties with a note. In OpenAPI, only responses contain them.

    Attributes
    ----------
    conditions : Conditions or None
        What the schema of the last ``parameters`` says of several keys together.
    """

    def __init__(
        self, owner: str, root: Schema | Document, convention: bool | None = False, skip_read_only: bool = False
    ) -> None:
        if not isinstance(root, Document):
            root = Document(root, documentation=True, requires=partial(is_required, convention))
        super().__init__(owner, root)
        self.conditions: Conditions | None = None
        self._convention = convention
        self._skip_read_only = skip_read_only
        self._whole: ValueSchema | None = None  # what several branches say of all keys together
        self._read: dict[Written, Any] = {}

    def parameters(
        self, schema: Schema, beside: Schema | None = None, strict: bool = True
    ) -> tuple[ParameterSpec, ...]:
        """The keys of the object that ``schema`` describes.

        DocumentationError if ``properties`` or a property is not an object, or ``required`` or ``enum`` is not a list.

        Parameters
        ----------
        beside : Mapping, optional
            Contains the lists ``required`` and ``optional`` if ``schema`` does not, as in Seal-Tools.
        strict : bool
            Whether a required key without a property may have any value, or is an error if ``beside`` requires it;
            otherwise it becomes a note.
        """
        place = strict, None if beside is None else Written(beside)
        keys, self.conditions = self.once(schema, place, lambda: self._object(schema, beside or {}, strict))
        return cast(tuple[ParameterSpec, ...], keys)

    def _object(
        self, schema: Schema, beside: Schema, strict: bool
    ) -> tuple[tuple[ParameterSpec, ...], Conditions | None]:
        """See ``parameters``: the keys, and the conditions."""
        held = self.held(schema)
        merged = self.with_branches(held)
        # Any number of tools may refer to an object of a shared document.
        if not self.may_read_keys(merged):
            return (), None
        document = self.document
        is_said_elsewhere = not _COMBINING.isdisjoint(merged) or _unnamed(merged)
        self._whole = value_schema(schema, document) if is_said_elsewhere else None
        keys = self._keys(merged, beside, _Scope(self._owner, active=held.active), strict)
        self._whole = None
        required = [spec.name for spec in keys if spec.required]
        return keys, conditions(schema, document, [spec.name for spec in keys], required)

    def parameter(self, key: object, spec: object, listed: bool | None = None) -> ParameterSpec:
        """Read one property.

        DocumentationError as for ``parameters``.

        ``listed``: whether a list of required keys contains the key; ``None`` without a list.
        """
        found = self.once(spec, (str(key), listed), lambda: self._key(key, spec, listed, _Scope(self._owner)))
        return cast(ParameterSpec, found)

    def _keys(self, schema: Schema, beside: Schema, scope: _Scope, strict: bool) -> tuple[ParameterSpec, ...]:
        """The keys of an object whose references and branches are already merged."""
        properties = schema.get("properties")
        if properties is None:
            properties = {}
        properties = demand_object(properties, scope.where, "'properties' to be an object of parameters")
        unnamed = _unnamed(schema) if strict else []
        known = dict.fromkeys([*properties, *unnamed])
        required, optional = (
            self._key_list(keyword, schema.get(keyword, beside.get(keyword)), known, scope, strict)
            for keyword in ("required", "optional")
        )
        keys = []
        for key, spec in properties.items():
            listed = key in required if required is not None else False if optional and key in optional else None
            # no object may have this key, or it cannot be shown
            if (spec is False and not listed) or (scope.nesting and key == ""):
                continue
            if self._skip_read_only and self.document.is_read_only(spec):
                self.note(f"{scope.where}, parameter {quoted(str(key))}: only responses hold it: ignored")
            else:
                keys.append(self._key(key, spec, listed, scope))
        other = schema.get("additionalProperties")
        spec = other if isinstance(other, Mapping) else {}
        keys += [self._key(key, spec, True, scope) for key in unnamed]
        return tuple(keys)

    def _key_list(
        self, keyword: str, keys: object, known: Collection[str], scope: _Scope, strict: bool
    ) -> frozenset[str] | None:
        """The keys of the list ``required`` or ``optional``; ``None`` without a list."""
        strict = strict and keyword == "required"
        if keys is None or (isinstance(keys, bool | str) and not strict):
            return None  # a nested object's own flag
        if not isinstance(keys, list | tuple):
            raise DocumentationError(f"{scope.where}: expected {keyword!r} to be a list of keys, found {shown(keys)}")
        for key in keys:
            if not isinstance(key, str):
                raise DocumentationError(f"{scope.where}: expected {keyword!r} to hold keys, found {shown(key)}")
            if key in known or (keyword == "required" and scope.nesting):
                continue  # inside a parameter its schema knows them
            message = f"{scope.where}: {keyword!r} names {quoted(key)}, which is not in 'properties'"
            if strict and key:
                expected = ", ".join(map(repr, known)) or "nothing"
                raise DocumentationError(f"{message}; expected one of {expected}")
            self.note(f"{message}: ignored")
        return frozenset(keys)

    def _key(self, key: object, spec: object, listed: bool | None, scope: _Scope) -> ParameterSpec:
        if not isinstance(key, str) or not key:
            raise DocumentationError(f"{scope.where}: expected a parameter to have a name, found {shown(key)}")
        where = f"{scope.where}, parameter {quoted(key)}"
        schema, spec = None, named_type(spec) or spec
        if not scope.nesting and isinstance(spec, dict | bool):  # keys of objects are part of it
            schema = value_schema(spec, self.document) if self._whole is None else self._whole.key(key)
        # ``true`` is JSON Schema's schema that allows anything.
        spec = demand_object({} if spec is True else spec, where, "an object with 'type'")
        kind, raw_type, spec = self._type(spec, scope._replace(where=where))
        description = read_description(spec, where)
        flag = own_flag(spec, where)
        if flag is None and (marker := WITH_MARKER.search(raw_type)):
            flag = marker[1].lower() == "required"
        default = MISSING
        if "default" in spec:
            default = self._once(spec["default"], lambda default: plain_value(default, "default", where))
        required, rule = decide(
            flag=flag,
            listed=listed,
            description=description,
            has_default="default" in spec,
            convention=self._convention,
        )
        plain = kind if kind.enum is None else replace(kind, enum=None)
        ask = spec.get("x-ask") != "never"
        if ask and spec.get("x-ask", "always") != "always":
            self.note(f"{where}: 'x-ask' is {shown(spec['x-ask'])}, not 'always' or 'never': ignored")
        return ParameterSpec(key, plain, raw_type, required, description, kind.enum, default, rule, schema, ask)

    # Types for display

    def _type(self, spec: Schema, scope: _Scope) -> _Typed:
        """The type of a property or element, with its enum."""
        held = self.held(spec, scope.active)
        spec = with_enum(held.keywords)
        written = spec.get("type", spec.get("param_type"))
        text = spec.get("pattern")
        if isinstance(text, str) and text[:1] == "/" and self.document.meant_pattern(text) not in (None, text):
            self.note(f"{scope.where}: of the pattern {quoted(text)}, only what is between the slashes is read")
        if scope.nesting and not self.may_read(1, scope.where, scope.nesting):
            kind = value_type(written) if isinstance(written, str) else ANY
            return _Typed(self._with_enum(kind, spec, scope.where), written if isinstance(written, str) else "", spec)
        scope = scope._replace(active=held.active)
        union = held.unions[0] if held.unions else None
        given = [spec["const"]] if "const" in spec else spec.get("enum")
        if written is None and union is not None:
            kind, raw_type, spec = self._union(spec, union, scope)
        else:
            kind, raw_type = self._written_type(written, spec, scope)
            if union is not None and kind.kind != "dict":
                kind = replace(kind, enum=self._union(spec, union, scope).kind.enum)
            kind = replace(kind, nullable=kind.nullable or spec.get("nullable") is True)
            kind = self._inside(kind, Held(spec, held.unions, held.active), scope)
        if isinstance(given, list | tuple) and all(value is not None for value in given):
            kind = replace(kind, nullable=False)  # an enum without null refuses it
        return _Typed(self._with_enum(kind, spec, scope.where), raw_type, spec)

    def _union(self, spec: Schema, union: list[Any], scope: _Scope) -> _Typed:
        """The type of ``anyOf`` or ``oneOf``. A single branch next to null also gives its keywords."""
        raw_type = self._once(union, lambda value: json.dumps(value, ensure_ascii=False, default=repr))
        branches = branches_of(union)
        named = [self._type(branch, scope.inside()) for branch in branches if not is_null(branch)]
        kind = united(one.kind for one in named)
        if len(named) == 1:
            spec = {**named[0].spec, **spec}
        return _Typed(replace(kind, nullable=kind.nullable or len(named) < len(branches)), raw_type, spec)

    def _written_type(self, written: object, spec: Schema, scope: _Scope) -> tuple[ValueType, str]:
        """The type that ``type`` names, and its text; without one, the type that the other keywords imply."""
        if written is None:
            is_list = "items" in spec or "prefixItems" in spec
            return ValueType("dict" if "properties" in spec else "list" if is_list else "any"), ""
        if isinstance(written, str):
            return value_type(written), written
        if isinstance(written, list | tuple) and all(isinstance(name, str) for name in written):
            named = [name for name in written if name.lower() not in NULL_NAMES]
            kind = united(map(value_type, named))
            return replace(kind, nullable=len(named) < len(written)), json.dumps(written, ensure_ascii=False)
        raise DocumentationError(f"{scope.where}: expected 'type' to be a text, found {shown(written)}")

    def _inside(self, kind: ValueType, held: Held, scope: _Scope) -> ValueType:
        """The type with its documented elements or keys."""
        if kind.any_of:
            return replace(kind, any_of=tuple(self._inside(branch, held, scope) for branch in kind.any_of))
        spec, elements = held.keywords, None
        if kind.kind in ("list", "tuple"):
            elements = spec.get("prefixItems") or spec.get("items")
        elif kind.kind == "dict" and (spec.get("properties") or held.unions):
            merged = self.with_branches(held)
            if not merged.get("properties") or not self.may_read_keys(merged):
                return kind
            return replace(kind, properties=self._keys(merged, {}, scope.inside(), strict=False))
        elif kind.kind == "dict":
            elements = spec.get("additionalProperties")
        if isinstance(elements := named_type(elements) or elements, Mapping):
            elements = [elements]
        elif kind.kind == "dict" or not isinstance(elements, list | tuple):
            return kind
        element = united([self._type(e, scope.inside()).kind for e in elements if isinstance(e, Mapping)])
        return kind if element == ANY else replace(kind, items=element)

    def _with_enum(self, kind: ValueType, spec: Schema, where: str) -> ValueType:
        """The type with its enum. If no type is documented, it is the type of the members."""
        if spec.get("enum") is not None:
            members, inferred = self._once(spec["enum"], lambda enum: read_enum(enum, where))
        elif "const" in spec:
            members, inferred = read_enum([spec["const"]], where)
        else:
            return kind
        return replace(inferred if kind == ANY and "type" not in spec else kind, enum=members)

    def _once(self, value: Any, read: Callable[[Any], Any]) -> Any:
        """``read(value)``, made once, because many references may lead to it."""
        key = Written(value)
        if key not in self._read:
            self._read[key] = read(value)
        return self._read[key]


def _unnamed(schema: Schema) -> list[str]:
    """The required keys of an object that its ``properties`` do not name, which JSON Schema allows."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else ()
    return [key for key in dict.fromkeys(names(schema.get("required"))) if key and key not in known]
