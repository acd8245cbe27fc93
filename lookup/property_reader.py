"""JSON Schema properties -> parameters: types, references, unions, nested objects, enums and defaults.

What several forms share: BFCL, OpenAI and MCP tools, OpenAPI operations, pydantic models. JSON Schema 2020-12 and
the older drafts are read as far as they say which values a key takes. Conditions (``if``, ``dependentRequired``,
``not``, ``patternProperties``) are noted and not taken over.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from lookup.errors import DocumentationError, LiteralError
from lookup.forms import read_description, shown
from lookup.literal_text import render_literal
from lookup.literals import parse_literal
from lookup.references import References
from lookup.requiredness import decide, own_flag
from lookup.schema import ANY, MISSING, ParameterSpec, ValueType
from lookup.type_names import NULL_NAMES, value_type
from lookup.unions import type_of, united

MAX_NESTING: Final = 16
MAX_KEYS: Final = 10_000
"""Most keys of one tool, nested ones counted: references can multiply a small text without end."""

_UNIONS: Final = ("anyOf", "oneOf")
_CONDITIONS: Final = ("if", "dependentRequired", "dependentSchemas", "dependencies", "not", "patternProperties")

Schema = Mapping[str, Any]


class PropertyReader:
    """Reads the properties of one tool.

    Parameters
    ----------
    owner : str
        Names the tool in error messages.
    root : Mapping
        The document that local references point into.
    habit : bool, optional
        What a key is that nothing is said of: ``False`` (JSON Schema's own rule), ``True``, or ``None`` for unknown.
    skip_read_only : bool
        Whether ``readOnly`` properties are left out, with a note: in OpenAPI only responses hold them.

    Attributes
    ----------
    notes : list of str
        What was noticed and not taken over.
    """

    def __init__(self, owner: str, root: Schema, habit: bool | None = False, skip_read_only: bool = False) -> None:
        self.owner = owner
        self.notes: list[str] = []
        self._references = References(root)
        self._habit = habit
        self._skip_read_only = skip_read_only
        self._keys_left = MAX_KEYS

    def parameters(
        self, schema: Schema, beside: Schema | None = None, strict: bool = True
    ) -> tuple[ParameterSpec, ...]:
        """The keys of the object that ``schema`` describes.

        Parameters
        ----------
        beside : Mapping, optional
            Holds the lists ``required`` and ``optional`` where ``schema`` has none, as Seal-Tools writes them.
        strict : bool
            Whether a required key that is nowhere described is an error, rather than a note.

        Raises
        ------
        DocumentationError
            If ``properties`` or a property is no object, ``required`` is no list, or an ``enum`` no list with members.
        """
        merged, active = self._object(schema, frozenset())
        return self._keys(merged, beside or {}, self.owner, 0, active, strict)

    def parameter(
        self, key: object, spec: object, listed: bool | None = None, habit: bool | None = None
    ) -> ParameterSpec:
        """One property; ``listed`` is what a list of required keys says of it (``None`` without one).

        Raises
        ------
        DocumentationError
            As ``parameters``.
        """
        return self._key(self.owner, key, spec, listed, habit, 0, frozenset())

    def _key(
        self,
        owner: str,
        key: object,
        spec: object,
        listed: bool | None,
        habit: bool | None,
        nesting: int,
        active: frozenset[str],
    ) -> ParameterSpec:
        if not isinstance(key, str) or not key:
            raise DocumentationError(f"{owner}: expected a parameter's key to be a text, found {shown(key)}")
        where = f"{owner}, parameter {key!r}"
        self._keys_left -= 1
        if self._keys_left < 0:
            raise DocumentationError(f"{where}: expected at most {MAX_KEYS} keys in one tool, nested ones counted")
        if spec is True:  # JSON Schema's schema that allows anything
            spec = {}
        if not isinstance(spec, Mapping):
            raise DocumentationError(f"{where}: expected an object with 'type', found {shown(spec)}")
        kind, raw_type, spec = self._type(spec, where, nesting, active)
        description = read_description(spec, where)
        required, rule = decide(
            flag=own_flag(spec, where),
            listed=listed,
            description=description,
            has_default="default" in spec,
            habit=habit,
        )
        kind = _with_enum(kind, spec, where)
        return ParameterSpec(
            name=key,
            type=replace(kind, enum=None),
            raw_type=raw_type,
            required=required,
            description=description,
            enum=kind.enum,
            default=plain_value(spec["default"], "default", where) if "default" in spec else MISSING,
            rule=rule,
        )

    def _keys(
        self, schema: Schema, beside: Schema, owner: str, nesting: int, active: frozenset[str], strict: bool
    ) -> tuple[ParameterSpec, ...]:
        """The keys of an object whose references and branches are merged already."""
        properties = schema.get("properties")
        if properties is None:
            properties = {}
        if not isinstance(properties, Mapping):
            raise DocumentationError(
                f"{owner}: expected 'properties' to be an object of parameters, found {shown(properties)}"
            )
        if conditions := [word for word in _CONDITIONS if word in schema]:
            self.notes.append(f"{owner}: conditions are not taken over: {', '.join(conditions)}")
        lists = {word: schema.get(word, beside.get(word)) for word in ("required", "optional")}
        required = self._key_list("required", lists["required"], properties, owner, strict)
        optional = self._key_list("optional", lists["optional"], properties, owner, strict=False)
        return tuple(
            self._key(owner, key, spec, listed(key, required, optional), self._habit, nesting, active)
            for key, spec in properties.items()
            if not (self._skip_read_only and self._is_read_only(owner, key, spec, active))
        )

    def _is_read_only(self, owner: str, key: object, spec: object, active: frozenset[str]) -> bool:
        if not isinstance(spec, Mapping) or self._references.resolve(spec, active, [])[0].get("readOnly") is not True:
            return False
        self.notes.append(f"{owner}, parameter {key!r}: only responses hold it: ignored")
        return True

    def _key_list(self, word: str, keys: object, properties: Schema, owner: str, strict: bool) -> frozenset[str] | None:
        """The keys of a list ``required`` or ``optional``, ``None`` without a list."""
        if keys is None or (isinstance(keys, bool | str) and not strict):
            return None  # a nested object's own flag
        if not isinstance(keys, list | tuple):
            raise DocumentationError(f"{owner}: expected {word!r} to be a list of keys, found {shown(keys)}")
        for key in keys:
            if not isinstance(key, str):
                raise DocumentationError(f"{owner}: expected {word!r} to hold keys, found {shown(key)}")
            if key in properties:
                continue
            message = f"{owner}: {word!r} names {key!r}, which is not in 'properties'"
            if strict and key:
                expected = ", ".join(map(repr, properties)) or "nothing"
                raise DocumentationError(f"{message}; expected one of {expected}")
            self.notes.append(f"{message}: ignored")
        return frozenset(keys)

    def _object(self, schema: Schema, active: frozenset[str]) -> tuple[Schema, frozenset[str]]:
        """The schema of an object with its reference, ``allOf`` and branches merged into one.

        Keys of any branch of ``anyOf`` or ``oneOf`` are keys; required are those that every branch requires.
        """
        schema, active = self._references.resolve(schema, active, self.notes)
        branches = _branches(schema, "allOf")
        merged = dict(schema)
        for branch in branches:
            part, active = self._object(branch, active)
            _merge(merged, part, required=_listed_keys(merged) + _listed_keys(part))
        for union in _UNIONS:
            parts = [self._object(branch, active)[0] for branch in _branches(schema, union) if not _is_null(branch)]
            shared = (
                [key for key in _listed_keys(parts[0]) if all(key in _listed_keys(p) for p in parts)] if parts else []
            )
            for part in parts:
                _merge(merged, part, required=_listed_keys(merged))
            if shared:
                merged["required"] = list(dict.fromkeys(_listed_keys(merged) + shared))
        return merged, active

    def _type(self, spec: Schema, where: str, nesting: int, active: frozenset[str]) -> tuple[ValueType, str, Schema]:
        """The type, the type as written, and the property with references and its one branch merged in."""
        spec, active = self._references.resolve(spec, active, self.notes)
        if nesting > MAX_NESTING:
            self.notes.append(f"{where}: nested deeper than {MAX_NESTING}: any value is taken")
            return ANY, "", spec
        if _branches(spec, "allOf"):
            spec, active = self._object({key: value for key, value in spec.items() if key not in _UNIONS}, active)
        written = spec.get("type")
        if written is None:
            for union in _UNIONS:
                if branches := _branches(spec, union):
                    return self._union(spec, branches, where, nesting, active)
            raw_type, kind = "", ValueType("dict") if "properties" in spec else ANY
        elif isinstance(written, str):
            raw_type, kind = written, value_type(written)
        elif isinstance(written, list | tuple) and all(isinstance(name, str) for name in written):
            raw_type, kind = json.dumps(written, ensure_ascii=False), united(map(value_type, _without_null(written)))
            kind = replace(kind, nullable=len(_without_null(written)) < len(written))
        else:
            raise DocumentationError(f"{where}: expected 'type' to be a text, found {shown(written)}")
        if spec.get("nullable") is True:
            kind = replace(kind, nullable=True)
        return self._inside(kind, spec, where, nesting, active), raw_type, spec

    def _inside(self, kind: ValueType, spec: Schema, where: str, nesting: int, active: frozenset[str]) -> ValueType:
        """The type with what is documented of its elements or keys."""
        if kind.any_of:
            return replace(
                kind, any_of=tuple(self._inside(branch, spec, where, nesting, active) for branch in kind.any_of)
            )
        if kind.kind in ("list", "tuple"):
            elements = spec.get("prefixItems") or spec.get("items")
            if isinstance(elements, Mapping):
                elements = [elements]
            if isinstance(elements, list | tuple):
                found = [self._element(e, where, nesting, active) for e in elements if isinstance(e, Mapping)]
                element = united(found)
                return kind if element == ANY else replace(kind, items=element)
        if kind.kind == "dict":
            if isinstance(spec.get("properties"), Mapping) and spec["properties"]:
                merged, active = self._object(spec, active)
                keys = self._keys(merged, {}, where, nesting + 1, active, strict=False)
                return replace(kind, properties=keys)
            extra = spec.get("additionalProperties")
            if isinstance(extra, Mapping):
                element = self._element(extra, where, nesting, active)
                return kind if element == ANY else replace(kind, items=element)
        return kind

    def _element(self, spec: Schema, where: str, nesting: int, active: frozenset[str]) -> ValueType:
        kind, _, branch = self._type(spec, where, nesting + 1, active)
        return _with_enum(kind, branch, where)

    def _union(
        self, spec: Schema, branches: Sequence[Schema], where: str, nesting: int, active: frozenset[str]
    ) -> tuple[ValueType, str, Schema]:
        """One branch beside null gives its type and enum; enums of all branches together are one enum."""
        raw_type = json.dumps(branches, ensure_ascii=False, skipkeys=True, default=repr)
        nullable = any(map(_is_null, branches))
        named = [branch for branch in branches if not _is_null(branch)]
        if len(named) == 1:
            kind, _, branch = self._type(named[0], where, nesting + 1, active)
            return replace(kind, nullable=kind.nullable or nullable), raw_type, {**branch, **spec}
        found = [self._element(branch, where, nesting, active) for branch in named]
        kind = united(found)
        return replace(kind, nullable=kind.nullable or nullable), raw_type, spec


def listed(key: str, required: frozenset[str] | None, optional: frozenset[str] | None) -> bool | None:
    """What the lists say of a key: the required list decides, the optional list speaks where there is none."""
    if required is not None:
        return key in required
    return False if optional is not None and key in optional else None


def plain_value(value: Any, what: str, owner: str) -> Any:
    """The value itself, if a literal can write it: no set, NaN, infinity, endless number or nesting, half character.

    Raises
    ------
    DocumentationError
        Naming ``owner`` and what the value was to be, such as ``default``.
    """
    try:
        if isinstance(value, str):
            value.encode()
        elif value is not None and not isinstance(value, bool):
            json.dumps(value, ensure_ascii=False).encode()
            parse_literal(render_literal(value))
    except (LiteralError, TypeError, ValueError, RecursionError):
        raise DocumentationError(
            f"{owner}: expected {what!r} to hold values that a call can carry, found {shown(value)}"
        ) from None
    return value


def _read_enum(spec: Schema, owner: str) -> tuple[Any, ...] | None:
    enum = spec.get("enum")
    if enum is None:
        return (plain_value(spec["const"], "const", owner),) if "const" in spec else None
    if not isinstance(enum, list | tuple) or not enum:
        raise DocumentationError(f"{owner}: expected 'enum' to be a list with members, found {shown(enum)}")
    return tuple(plain_value(member, "enum", owner) for member in enum)


def _with_enum(kind: ValueType, spec: Schema, where: str) -> ValueType:
    """The type with its enum; where no type is documented it is that of the members."""
    enum = _read_enum(spec, where)
    if enum is None:
        return kind
    if kind == ANY and "type" not in spec:
        kind = type_of(member for member in enum if member is not None)
    return replace(kind, enum=enum)


def _branches(spec: Schema, word: str) -> list[Schema]:
    branches = spec.get(word)
    return [b for b in branches if isinstance(b, Mapping)] if isinstance(branches, list | tuple) else []


def _listed_keys(schema: Schema) -> list[str]:
    required = schema.get("required")
    return list(required) if isinstance(required, list | tuple) else []


def _merge(merged: dict[str, Any], part: Schema, required: list[str]) -> None:
    """Put what a branch says into the schema that it belongs to, whose own words win."""
    for key, value in part.items():
        if key == "properties" and isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = {**merged[key], **{k: v for k, v in value.items() if k not in merged[key]}}
        elif key not in ("required", *_UNIONS, "allOf"):
            merged.setdefault(key, value)
    if required or "required" in part:
        merged["required"] = list(dict.fromkeys(required))


def _without_null(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.lower() not in NULL_NAMES]


def _is_null(branch: Schema) -> bool:
    written = branch.get("type")
    return isinstance(written, str) and written.lower() in NULL_NAMES
