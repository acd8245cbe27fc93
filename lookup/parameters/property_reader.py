"""JSON Schema properties -> parameters: types, references, unions, nested objects, enums and defaults.

What several forms share: BFCL, OpenAI and MCP tools, OpenAPI operations, pydantic models. JSON Schema 2020-12 and
the older drafts are read as far as they say which values a key takes. Conditions (``if``, ``dependentRequired``,
``not``, ``patternProperties``) are noted and not taken over.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.errors import DocumentationError
from lookup.messages import quoted, shown
from lookup.parameters.descriptions import read_description
from lookup.parameters.expansion import Expansion
from lookup.parameters.plain_values import plain_value, read_enum
from lookup.parameters.references import References
from lookup.parameters.requiredness import decide, own_flag
from lookup.parameters.schema_branches import UNIONS, Schema, branches_of, is_null, listed_keys, merge
from lookup.parameters.type_names import NULL_NAMES, WITH_MARKER, value_type
from lookup.parameters.unions import united

MAX_NESTING: Final = 16
MAX_NOTES: Final = 20
_CONDITIONS: Final = ("if", "dependentRequired", "dependentSchemas", "dependencies", "not", "patternProperties")

_TOO_MUCH: Final = "nested too deep or in too many ways: some keys and elements are not taken over"


class PropertyReader:
    """Reads the properties of one tool.

    Parameters
    ----------
    owner : str
        Names the tool in error messages.
    root : Mapping or References
        The document that local references point into; or its references, where several tools share them.
    habit : bool, optional
        What a key is that nothing is said of: ``False`` (JSON Schema's own rule), ``True``, or ``None`` for unknown.
    skip_read_only : bool
        Whether ``readOnly`` properties are left out, with a note: in OpenAPI only responses hold them.

    Attributes
    ----------
    notes : list of str
        What was noticed and not taken over.
    """

    def __init__(
        self,
        owner: str,
        root: Schema | References,
        habit: bool | None = False,
        skip_read_only: bool = False,
    ) -> None:
        self.owner = owner
        self.notes: list[str] = []
        self._references = root if isinstance(root, References) else References(root)
        self._habit = habit
        self._skip_read_only = skip_read_only
        self._shared = isinstance(root, References)
        self._expansion = Expansion(self._references.allowance)
        self._parts: dict[int, tuple[Any, Any]] = {}

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
        # An object of a shared document may be that of any number of tools.
        if (active or self._shared) and not self._may_hold(merged):
            return ()
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

    def resolve(self, spec: Schema) -> Schema:
        """The object that a reference names; ``spec`` itself if it is none."""
        return self._references.resolve(spec, frozenset(), self.notes, self._expansion.take)[0]

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
        where = f"{owner}, parameter {quoted(key)}"
        if spec is True:  # JSON Schema's schema that allows anything
            spec = {}
        if not isinstance(spec, Mapping):
            raise DocumentationError(f"{where}: expected an object with 'type', found {shown(spec)}")
        kind, raw_type, spec = self._type(spec, where, nesting, active)
        description = read_description(spec, where)
        flag = own_flag(spec, where)
        if flag is None and (marker := WITH_MARKER.search(raw_type)):
            flag = marker[1].lower() == "required"
        required, rule = decide(
            flag=flag,
            listed=listed,
            description=description,
            has_default="default" in spec,
            habit=habit,
        )
        kind = self._with_enum(kind, spec, where)
        return ParameterSpec(
            name=key,
            type=replace(kind, enum=None),
            raw_type=raw_type,
            required=required,
            description=description,
            enum=kind.enum,
            default=self._once(spec["default"], lambda d: plain_value(d, "default", where))
            if "default" in spec
            else MISSING,
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
            self._note(f"{owner}: conditions are not taken over: {', '.join(conditions)}")
        lists = {word: schema.get(word, beside.get(word)) for word in ("required", "optional")}
        required = self._key_list("required", lists["required"], properties, owner, strict)
        optional = self._key_list("optional", lists["optional"], properties, owner, strict=False)
        return tuple(
            self._key(owner, key, spec, listed(key, required, optional), self._habit, nesting, active)
            for key, spec in properties.items()
            if not (self._skip_read_only and self._is_read_only(owner, key, spec, active))
        )

    def _is_read_only(self, owner: str, key: object, spec: object, active: frozenset[str]) -> bool:
        if not isinstance(spec, Mapping):
            return False
        resolved, _ = self._references.resolve(spec, active, [], self._expansion.take)
        if resolved.get("readOnly") is not True:
            return False
        self._note(f"{owner}, parameter {quoted(str(key))}: only responses hold it: ignored")
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
            message = f"{owner}: {word!r} names {quoted(key)}, which is not in 'properties'"
            if strict and key:
                expected = ", ".join(map(repr, properties)) or "nothing"
                raise DocumentationError(f"{message}; expected one of {expected}")
            self._note(f"{message}: ignored")
        return frozenset(keys)

    def _object(self, schema: Schema, active: frozenset[str], depth: int = 0) -> tuple[Schema, frozenset[str]]:
        """The schema of an object with its reference, ``allOf`` and branches merged into one.

        Keys of any branch of ``anyOf`` or ``oneOf`` are keys; required are those that every branch requires.
        """
        schema, active = self._references.resolve(schema, active, self.notes, self._expansion.take)
        merged = dict(schema)
        if depth > MAX_NESTING:
            self._note(f"{self.owner}: {_TOO_MUCH}")
            return merged, active
        for branch in branches_of(schema, "allOf"):
            part, active = self._object(branch, active, depth + 1)
            if self._may_hold(part):
                merge(merged, part, required=listed_keys(merged) + listed_keys(part))
        for union in UNIONS:
            named = [branch for branch in branches_of(schema, union) if not is_null(branch)]
            parts = [self._object(branch, active, depth + 1)[0] for branch in named]
            parts = [part for part in parts if self._may_hold(part)]
            lists = [frozenset(listed_keys(part)) for part in parts]
            for part in parts:
                merge(merged, part, required=listed_keys(merged))
            if shared := frozenset.intersection(*lists) if lists else None:
                merged["required"] = [*listed_keys(merged), *shared]
        return merged, active

    def _may_hold(self, schema: Schema) -> bool:
        """Whether the keys of an object may be read (again)."""
        properties = schema.get("properties")
        return self.may_read(1 + len(listed_keys(schema)) + (len(properties) if isinstance(properties, Mapping) else 0))

    def may_read(self, members: int) -> bool:
        """Whether so many members of a document that several tools share may be read (again); notes if not."""
        if self._expansion.take(members):
            return True
        self._note(f"{self.owner}: {_TOO_MUCH}")
        return False

    def _type(self, spec: Schema, where: str, nesting: int, active: frozenset[str]) -> tuple[ValueType, str, Schema]:
        """The type, the type as written, and the property with references and its one branch merged in."""
        spec, active = self._references.resolve(spec, active, self.notes, self._expansion.take)
        if nesting > MAX_NESTING or (nesting and not self._expansion.take()):
            self._note(f"{where}: {_TOO_MUCH}")
            written = spec.get("type")
            return value_type(written) if isinstance(written, str) else ANY, "", spec
        if branches_of(spec, "allOf"):
            spec, active = self._object({key: value for key, value in spec.items() if key not in UNIONS}, active)
        written = spec.get("type", spec.get("param_type"))
        if written is None:
            for union in UNIONS:
                if branches := branches_of(spec, union):
                    written = self._once(spec[union], lambda union: json.dumps(union, ensure_ascii=False, default=repr))
                    return self._union(spec, written, branches, where, nesting, active)
            listed_type = ValueType("list") if "items" in spec or "prefixItems" in spec else ANY
            raw_type, kind = "", ValueType("dict") if "properties" in spec else listed_type
        elif isinstance(written, str):
            raw_type, kind = written, self._with_branches(value_type(written), spec, where, nesting, active)
        elif isinstance(written, list | tuple) and all(isinstance(name, str) for name in written):
            raw_type, kind = json.dumps(written, ensure_ascii=False), united(map(value_type, _without_null(written)))
            kind = replace(kind, nullable=len(_without_null(written)) < len(written))
        else:
            raise DocumentationError(f"{where}: expected 'type' to be a text, found {shown(written)}")
        if spec.get("nullable") is True:
            kind = replace(kind, nullable=True)
        return self._inside(kind, spec, where, nesting, active), raw_type, spec

    def _with_branches(
        self, kind: ValueType, spec: Schema, where: str, nesting: int, active: frozenset[str]
    ) -> ValueType:
        """A plain type with what unions beside it say: an enum if all branches have one, and null."""
        for union in UNIONS:
            branches = branches_of(spec, union)
            if kind.kind == "dict" or not branches:
                continue
            found = united(self._element(branch, where, nesting, active) for branch in branches if not is_null(branch))
            nullable = kind.nullable or any(map(is_null, branches))
            kind = replace(kind, enum=found.enum or kind.enum, nullable=nullable)
        return kind

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
            if spec.get("properties") or any(branches_of(spec, union) for union in UNIONS):
                merged, active = self._object(spec, active)
                if not merged.get("properties") or not self._may_hold(merged):
                    return kind
                return replace(kind, properties=self._keys(merged, {}, where, nesting + 1, active, strict=False))
            extra = spec.get("additionalProperties")
            if isinstance(extra, Mapping):
                element = self._element(extra, where, nesting, active)
                return kind if element == ANY else replace(kind, items=element)
        return kind

    def _element(self, spec: Schema, where: str, nesting: int, active: frozenset[str]) -> ValueType:
        kind, _, branch = self._type(spec, where, nesting + 1, active)
        return self._with_enum(kind, branch, where)

    def _with_enum(self, kind: ValueType, spec: Schema, where: str) -> ValueType:
        """The type with its enum; where no type is documented it is that of the members."""
        if spec.get("enum") is not None:
            members, inferred = self._once(spec["enum"], lambda enum: read_enum(enum, where))
        elif "const" in spec:
            members, inferred = read_enum([spec["const"]], where)
        else:
            return kind
        return replace(inferred if kind == ANY and "type" not in spec else kind, enum=members)

    def _once(self, value: Any, read: Callable[[Any], Any]) -> Any:
        """What is read of a part of the document, to which many references may lead."""
        if id(value) not in self._parts:
            self._parts[id(value)] = value, read(value)
        return self._parts[id(value)][1]

    def _note(self, note: str) -> None:
        if note not in self.notes and len(self.notes) < MAX_NOTES:
            self.notes.append(note)

    def _union(
        self, spec: Schema, raw_type: str, branches: Sequence[Schema], where: str, nesting: int, active: frozenset[str]
    ) -> tuple[ValueType, str, Schema]:
        """One branch beside null gives its type and enum; enums of all branches together are one enum."""
        nullable = any(map(is_null, branches))
        named = [branch for branch in branches if not is_null(branch)]
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


def _without_null(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.lower() not in NULL_NAMES]
