"""Schemas that hypothesis draws, and values to try them with."""

from hypothesis import strategies as st
from seams import Schema

NAMES = ["a", "b", "ab", "x-1", "é"]

SMALL = st.integers(0, 3)
TEXTS: st.SearchStrategy[Schema] = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": SMALL, "maxLength": st.integers(2, 6)}),
    st.sampled_from(["^a+b?$", "[0-9]{2}", "^(?:é|x)\\s", "^[^a]*$", "b$|^a"]).map(
        lambda p: {"type": "string", "pattern": p}
    ),
    st.sampled_from(["date", "ipv4", "uuid"]).map(lambda f: {"type": "string", "format": f}),
)
NUMBERS: st.SearchStrategy[Schema] = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        "minimum": st.integers(-20, 20),
        "exclusiveMaximum": st.integers(0, 300),
        "multipleOf": st.sampled_from([1, 2, 5, 0.5]),
    },
)
_MEMBERS = st.sampled_from(["a", "ab", 1, 2.5, True, None])
ENUMS: st.SearchStrategy[Schema] = st.lists(_MEMBERS, min_size=1, max_size=3).map(lambda members: {"enum": members})


def lists(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={
            "minItems": SMALL,
            "maxItems": st.integers(1, 4),
            "uniqueItems": st.booleans(),
            "prefixItems": st.lists(inner, max_size=2),
        },
    )


def objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    names = st.lists(st.sampled_from(NAMES), max_size=2)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)},
        optional={
            "required": names,
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": st.dictionaries(st.sampled_from(["^x-", "b$"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
            "propertyNames": st.just({"maxLength": 3}),
            "dependentRequired": st.dictionaries(st.sampled_from(NAMES), names, max_size=1),
        },
    )


def combined(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        several.map(lambda members: {"anyOf": members}),
        several.map(lambda members: {"oneOf": members}),
        several.map(lambda members: {"allOf": members}),
        inner.map(lambda member: {"not": member}),
        st.tuples(inner, inner, inner).map(lambda three: dict(zip(("if", "then", "else"), three, strict=True))),
    )


SCHEMAS = st.recursive(
    st.one_of(TEXTS, NUMBERS, ENUMS, st.just({"type": "boolean"}), st.just({})),
    lambda inner: st.one_of(lists(inner), objects(inner), combined(inner)),
    max_leaves=5,
)
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["", "a", "ab", "b", "aab", "12", "é x", "2024-02-29", "1.2.3.4"]),
        st.integers(-30, 310),
        st.sampled_from([0.5, 2.5, -1.5]),
        st.booleans(),
        st.none(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)
