"""Tools that hypothesis draws, and lookup dictionaries with all keys and types replaced."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from lookup import MISSING, LookupDictionary, ParameterSpec, ToolSpec, ValueType
from lookup.type_names import united

WORDS = ["name", "type", "parameters", "properties", "required", "description", "items", "enum", "$ref", "default"]
KEYS = st.text(min_size=1, max_size=8) | st.sampled_from(WORDS)
NAMES = st.text(min_size=1, max_size=8).filter(str.strip) | st.sampled_from(["uber.ride", "uber.ride2", "GET /a/{b}"])
# Words that decide whether a key is required are tested elsewhere.
TEXTS = st.text(max_size=20).filter(lambda text: "optional" not in text.lower() and "required" not in text.lower())
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
NONE, ABSENT = st.none(), st.just(MISSING)
ENUMS = NONE | st.lists(VALUES, min_size=1, max_size=3).map(tuple)
DEFAULTS = ABSENT | VALUES
KINDS = {kind: ValueType(kind) for kind in ("str", "int", "float", "bool", "list", "dict")}
PLAIN = st.sampled_from(list(KINDS.values()))

Keys = st.SearchStrategy[ParameterSpec]


def a_key(
    types: st.SearchStrategy[ValueType],
    enums: st.SearchStrategy[Any] = ENUMS,
    defaults: st.SearchStrategy[Any] = DEFAULTS,
    texts: st.SearchStrategy[str] = TEXTS,
    keys: st.SearchStrategy[str] = KEYS,
) -> Keys:
    return st.builds(ParameterSpec, keys, types, st.just(""), st.booleans(), texts, enums, defaults)


def several(key: Keys, least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[ParameterSpec, ...]]:
    return st.lists(key, min_size=least, max_size=most, unique_by=lambda p: p.name).map(tuple)


def an_object(key: Keys) -> st.SearchStrategy[ValueType]:
    return st.builds(ValueType, st.just("dict"), properties=several(key, 1))


def nullable(types: st.SearchStrategy[ValueType]) -> st.SearchStrategy[ValueType]:
    return types.map(lambda t: t if t.kind == "any" else replace(t, nullable=True))


def _typed(t: ValueType) -> bool:
    """Whether each enum has a type; without one it is that of its members."""
    inside = [*t.any_of, *(p.value_type for p in t.properties or ()), *([t.items] if t.items else [])]
    return not (t.kind == "any" and t.enum and not t.any_of) and all(map(_typed, inside))


TYPES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.builds(ValueType, st.sampled_from(["list", "dict"]), inner),
        an_object(a_key(inner)),
        st.lists(inner, min_size=2, max_size=3).map(united),
        nullable(inner),
    ),
    max_leaves=4,
).filter(_typed)


def dictionaries(
    key: Keys, names: st.SearchStrategy[str] = NAMES, texts: st.SearchStrategy[str] = TEXTS
) -> st.SearchStrategy[LookupDictionary]:
    tools = st.builds(ToolSpec, names, texts, several(key, most=5))
    distinct = st.lists(tools, min_size=1, max_size=3, unique_by=lambda tool: tool.name)
    return distinct.map(lambda tools: LookupDictionary(tuple(tools)))


def changed(
    tools: LookupDictionary,
    key: Callable[[ParameterSpec], ParameterSpec] = lambda p: p,
    kind: Callable[[ValueType], ValueType] = lambda t: t,
) -> LookupDictionary:
    """The tools with every key and every type replaced, from the inside out."""

    def of_type(t: ValueType) -> ValueType:
        properties = t.properties and tuple(map(of_key, t.properties))
        branches = tuple(map(of_type, t.any_of))
        return kind(replace(t, items=t.items and of_type(t.items), properties=properties, any_of=branches))

    def of_key(p: ParameterSpec) -> ParameterSpec:
        return key(replace(p, type=of_type(p.type)))

    return LookupDictionary(tuple(replace(t, parameters=tuple(map(of_key, t.parameters))) for t in tools.tools))


def without_raw_types(tools: LookupDictionary) -> LookupDictionary:
    return changed(tools, lambda p: replace(p, raw_type=""))
