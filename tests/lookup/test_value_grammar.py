"""Value grammars: complete and possible agree, literals can be read, and unfinished ones can be closed."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from drawn_schemas import SCHEMAS
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from seams import NOTATIONS, Schema, documented, keyed, spec

from lookup.dictionary import MISSING, ParameterSpec, ValueType
from lookup.errors import DocumentationError, LiteralError
from lookup.grammar.literal_values import is_literal, read_value, render_value
from lookup.grammar.notations import BareKeys, Notation, RawText
from lookup.grammar.value_grammar import ValueGrammar, value_grammar
from lookup.type_names import united
from voting import check_value

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(-(10**39), 10**39),
    "float": st.floats(-1e15, 1e15).map(lambda x: round(x, 6)),
    "bool": st.booleans(),
}
ANY = st.recursive(
    st.one_of(*SCALARS.values(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=6,
)
VALUES = SCALARS | {
    "list": st.lists(TEXT, max_size=3),
    "dict": st.dictionaries(TEXT, ANY, max_size=3),
    "tuple": st.lists(st.integers(-99, 99), max_size=3).map(tuple),
    "any": ANY,
}
TYPES_OF: dict[str, ValueType] = {
    "list": ValueType("list", ValueType("str")),
    "tuple": ValueType("tuple", ValueType("int")),
}
IN_TEXT = [notation for notation in NOTATIONS if isinstance(notation, str)]
"""The notations with quotes and escapes, which carry every value."""


def parts_of(value: Any) -> Iterator[tuple[str, bool]]:
    """The texts in a value, and whether each is a key."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, dict):
        yield from ((key, True) for key in value)
        value = list(value.values())
    for item in value if isinstance(value, list | tuple) else ():
        yield from parts_of(item)


def carried(value: Any, notation: Notation) -> bool:
    """Whether a notation can write a value, by its documentation."""
    parts = list(parts_of(value))
    if any(0xF0000 <= ord(c) < 0xF0100 for text, _ in parts for c in text):
        return False
    match notation:
        case RawText(mark):
            padded = isinstance(value, str) and value != value.strip()
            return not padded and not any(mark.lstrip("\n") in text for text, _ in parts)
        case BareKeys(mark):
            return not any(
                re.search(r"[\s:,{}\[\]<>\"|]", text) or not text if key else mark in text for text, key in parts
            )
    return True


def looks_typed(value: Any, notation: Notation) -> bool:
    """Whether a text without a documented type is read as JSON of another type."""
    if not isinstance(value, str) or not isinstance(notation, RawText) or notation.text_lead != notation.other_lead:
        return False
    try:
        return not isinstance(json.loads(value), str)
    except ValueError:
        return False


def grammar_of(wanted: ParameterSpec, notation: Notation) -> ValueGrammar:
    """The grammar; the example is dropped if the notation cannot write a documented key, which is an error."""
    try:
        return value_grammar(wanted, notation)
    except DocumentationError as error:
        assert re.search("key 'x': the key '.+' of an object cannot be written in this", str(error))
        assert isinstance(notation, BareKeys)
        reject()


def with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_lists(item) for key, item in value.items()}
    return [with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def typed(kind: Any, enum: tuple[Any, ...] | None = None) -> ParameterSpec:
    return spec(TYPES_OF.get(kind, ValueType(kind)), enum)


@pytest.mark.parametrize("notation", NOTATIONS)
@given(data=st.data(), kind=st.sampled_from(list(VALUES)))
@settings(max_examples=80)
def test_what_is_rendered_reads_back(kind: str, notation: Notation, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    if notation == "quoted" and kind == "any":
        value = str(value)
    if notation not in ("python", "quoted") and kind in ("any", "dict"):
        value = with_lists(value)  # JSON has no tuples, and none are documented here
    assume(carried(value, notation) and not (kind == "any" and looks_typed(value, notation)))
    assert check_value(read_value(render_value(value, notation), typed(kind), notation), typed(kind)) == value


def parts(notation: Notation) -> list[str]:
    """The mark of a notation, and pieces that it may have in common with a text."""
    if isinstance(notation, str):
        return []
    core = notation.mark.lstrip("\n")
    return [notation.mark, core, core[:2], core[-2:], core[:6], "k:"]


def keys(inner: st.SearchStrategy[ValueType]) -> st.SearchStrategy[tuple[ParameterSpec, ...]]:
    names = st.sampled_from(["a", "ab", "b", "it's", 'say "a"', "a\\b", "年"])
    enums = st.none() | st.just(("a", 1, "ab"))
    defaults = st.sampled_from([MISSING, None, 0, "a", "ab"])
    specs = st.builds(ParameterSpec, names, inner, st.just(""), st.booleans(), st.just(""), enums, defaults)
    return st.lists(specs, min_size=1, max_size=3, unique_by=lambda p: p.name).map(tuple)


TYPES = st.recursive(
    st.sampled_from([ValueType(k) for k in ("str", "int", "float", "bool", "dict", "any", "list", "tuple")]),
    lambda inner: st.one_of(
        st.builds(ValueType, st.sampled_from(["list", "tuple", "dict"]), inner),
        st.builds(ValueType, st.just("dict"), properties=keys(inner)),
        st.lists(inner, min_size=1, max_size=3).map(united),
        inner.map(lambda t: replace(t, nullable=True)),
    ),
    max_leaves=4,
)
PIECES = [*"abdx28é'\"\\10-.e,: []{}()", "\\u", "True", "None", "'a': ", '"a": ', "年"]


WANTED = st.builds(
    spec, TYPES, st.none() | st.just(("a", None, 2, "é")), default=ANY.map(with_lists) | st.just(MISSING)
) | SCHEMAS.map(documented).filter(lambda allowed: not allowed.unsatisfiable).map(
    lambda allowed: spec("any", schema=allowed)
)


@pytest.mark.parametrize("notation", NOTATIONS)
@given(wanted=WANTED, data=st.data())
@settings(max_examples=100)
def test_every_beginning_can_be_closed_and_its_closing_is_kept_to(
    notation: Notation, wanted: ParameterSpec, data: st.DataObject
) -> None:
    grammar = grammar_of(wanted, notation)
    # Where no type is displayed, texts and other values are not told apart without quotes.
    judged = wanted.schema is None or (notation in ("python", "json", "python-json") and not wanted.schema.notes)
    assert len(grammar.close("").encode()) == grammar.shortest
    text = grammar.opener
    for piece in ["", *data.draw(st.lists(st.sampled_from([*PIECES, *parts(notation)]), max_size=30))]:
        if grammar.possible(text + piece):
            text += piece
            closed = grammar.close(text)
            assert grammar.complete(text + closed)
            for end in range(len(closed)):
                assert len(grammar.close(text + closed[:end]).encode()) <= len(closed[end:].encode())
            value = read_value(text + closed, wanted, notation)
            checked = check_value(value, wanted) if judged else None
    if judged and carried(checked, notation):
        again = read_value(render_value(checked, notation), wanted, notation)
        assert check_value(again, wanted) == checked
    assert_first_bytes(grammar, text, notation)


def assert_first_bytes(grammar: ValueGrammar, text: str, notation: Notation) -> None:
    """The bytes that may follow are those of the characters that may follow, also where a character has begun."""
    some = map(chr, (*range(0x180), 0x4E00, 0x5E74, 0x1F600, 0xF0003, 0xF0004))
    characters = [c for c in some if grammar.possible(text + c)]
    firsts = {c.encode()[0] for c in characters}
    assert firsts <= grammar.bytes_after(text)
    if isinstance(notation, str):  # texts without escapes are not asked for each character
        assert {b for b in grammar.bytes_after(text) if b < 0x80 or 0xC2 <= b < 0xC6} <= firsts
    assert grammar.extendable(text) == bool(characters)
    for part in (b"\xc3", b"\xe5", b"\xe5\xb9", b"\xf3\xb0\x80", b"\xe0\x80"):
        assert any(grammar.characters_behind(text, part)) == any(c.encode().startswith(part) for c in characters)


@pytest.mark.parametrize("notation", NOTATIONS)
@given(members=st.lists(st.one_of(TEXT, st.integers(-9, 99), st.booleans(), st.none()), min_size=1, max_size=4))
def test_every_member_of_an_enum_can_be_written(notation: Notation, members: list[Any]) -> None:
    scalar = typed("str", tuple(members))
    elements = typed("list", tuple(members))
    if not all(carried(member, notation) for member in members):
        with pytest.raises(DocumentationError, match=r"member .* cannot be written in this call format"):
            value_grammar(scalar, notation)
        return
    for member in members:
        text = render_value(member, notation)
        assert value_grammar(scalar, notation).complete(text)
        listed = render_value([member], notation)
        assert value_grammar(elements, notation).complete(listed)
        assert check_value(read_value(listed, elements, notation), elements) == [member]


def object_of(keys: str, required: str = "") -> ParameterSpec:
    properties = tuple(ParameterSpec(key, ValueType("int"), "", key in required.split()) for key in keys.split())
    return spec(ValueType("dict", properties=properties))


def obeying(schema: Schema) -> ParameterSpec:
    return spec("any", schema=documented(schema))


def draft(name: str) -> ParameterSpec:
    conditions = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    return obeying({"$schema": f"http://json-schema.org/{name}/schema#", **conditions})


NARROW = keyed("a", a={}, b={}) | {"additionalProperties": False, "minProperties": 2, "dependentRequired": {"b": ["c"]}}
COUNT = spec(ValueType("int", nullable=True), default="many")
EITHER = spec(united([ValueType("str"), ValueType("list", ValueType("int"))]))


@pytest.mark.parametrize(
    ("wanted", "notation", "whole", "begun", "refused"),
    [
        (typed("int"), "python", ["-1"], ["-|-0"], ["1.5", "01", "'1'", "True", "1" * 41, "٣"]),
        (typed("float"), "python", ["1", "1.5"], ["1.|1.0"], ["1e999", "nan", ".5"]),
        (typed("str"), "python", ["'a'"], ["'a"], ["'a\nb'", "'\\x41'", "'a'b", '"a"']),
        (typed("list"), "python", ["[]", "['a']"], ["['a',"], ["[1]", "['a',]", "['a'  , 'b']"]),
        (typed("tuple"), "python", ["(1,)"], ["(1|(1,)"], ["(1)"]),
        (spec("tuple", schema=documented({"type": "tuple", "maxItems": 1})), "python", ["(1,)"], ["(1,"], ["(1, "]),
        (typed("dict"), "python", ["{}"], ["{'a': 1, 'a|{'a': 1, 'a0': 0}"], ["{1: 2}"]),
        (typed("any"), "python", ["None"], ["N"], ["[" * 26 + "]" * 26, "nul"]),
        (typed("bool"), "python", ["True"], ["Tru"], ["true"]),
        (spec(ValueType("list", ValueType("int", enum=(1, 13)))), "python", ["[13]"], ["[1, 1|[1, 1]"], ["[2"]),
        (typed("int", (1, 13)), "python", ["1", "13"], [], ["2", "3"]),
        (typed("list", ("a", "b")), "python", ["['a', 'b']"], ["['a"], ["['c"]),
        (object_of("a"), "python", ["{}", "{'a': 1}"], ["{'a"], ["{'a': 1,", "{'c", "{'a': 'x'"]),
        (object_of("a", "a"), "python", ["{'a': 1}"], ["{"], ["{}"]),
        (object_of("a b", "b"), "python", ['{"b": 1}'], ["{'a': 1,"], ["{'a': 1}", "{'a': 1, 'a"]),
        (object_of("a bc"), "python", ["{}"], ["{'a': 1,|{'a': 1, 'bc': 0}"], []),
        (object_of("a b"), "quoted", ["'{\"a\": 1}'", "'{\\'b\\': 1}'"], ["'{\"a\": 1,"], ["'{\"c", "'{\"a\": 1, \"a"]),
        (object_of("a ab"), "python", ["{'ab': 1}"], ["{'a': 1, 'a"], ["{'a': 1, 'a'"]),
        (object_of("a b", "a b"), "python", ["{'b': 1, 'a': 2}"], [], ["{'b': 1}"]),
        (COUNT, "python", ["'many'", "None", "3"], ["'m"], ["'few"]),
        (COUNT, "quoted", ["'many'", "'None'", "'3'"], ["'m"], ["'few"]),
        (EITHER, RawText("</v>"), ["[1, 2]</v>", "one</v>"], ["[1"], ["[a", "[1</v>"]),
        (EITHER, RawText("</v>", "T", "F"), ["T[a</v>"], ["F[1"], ["F[a", "Fone"]),
        (typed("any"), RawText("</v>", "T", "F"), ["Ta</v>", "Fnull</v>", 'F["a"]</v>'], ["F1"], ['F"', "Fa"]),
        (typed("str"), RawText("</text>"), ["</text>", "a\n<b</text>", "a</</text>"], ["a </tex"], [" a", "a\n</text"]),
        (typed("str"), RawText("\n</text>"), ["\n</text>", "a\n\nb\n</text>"], ["a <"], ["\u3000a", "a\n\n</text"]),
        (obeying({"items": {"enum": [2.0, 0.5]}}), "json", ["[2]", "[2.0]", "[0.5]"], [], ["[0]"]),
        (obeying({"anyOf": [{"type": "string"}, NARROW]}), "json", ['"s"'], [], []),
        (draft("draft-04"), "json", ['{"a": 1}'], [], []),
        *((draft(name), "json", [], [], ['{"a": 1}']) for name in ("draft-07", "2020-12")),
        (typed("str"), "json", [r'"\udb80\udd00"'], [r'"\udb80'], [r'"\udb80\udc']),  # no reserved character
    ],
)  # fmt: skip
def test_what_a_grammar_allows(
    wanted: ParameterSpec, notation: Notation, whole: list[str], begun: list[str], refused: list[str]
) -> None:
    """Literals, beginnings (some with what closing makes of them), and what begins none."""
    grammar = value_grammar(wanted, notation)
    closed = [(text, end or text + grammar.close(text)) for text, _, end in (pair.partition("|") for pair in begun)]
    assert [text + grammar.close(text) for text, _ in closed] == [end for _, end in closed]
    assert [text for text in (*whole, *(text for text, _ in closed), *refused) if grammar.complete(text)] == whole
    for text in (*whole, *(end for _, end in closed)):
        assert all(map(grammar.possible, accumulate(text)))
        assert carried(check_value(read_value(text, wanted, notation), wanted), notation)
    for text in refused:
        assert not grammar.possible(text)
        with pytest.raises(LiteralError):
            grammar.close(text)


@pytest.mark.parametrize(
    ("wanted", "notation", "choices"),
    [
        (typed("bool", ("True", "dontcare")), "python", ("'True'", "'dontcare'")),
        (typed("int", (1, 13)), "python", None),  # one is a prefix of the other
        (typed("int", (1, 13)), "quoted", ("'1'", "'13'")),
        (replace(COUNT, enum=(1, 2)), "python", ("1", "2", "None", "'many'")),
        (spec(ValueType("str", nullable=True), ("m",)), "quoted", ("'m'", "'None'")),
    ],
)
def test_choices(wanted: ParameterSpec, notation: Notation, choices: tuple[str, ...] | None) -> None:
    assert value_grammar(wanted, notation).choices == choices
    for text in choices or ():
        check_value(read_value(text, wanted, notation), wanted)


def test_free_values_may_have_any_type() -> None:
    wanted = typed("int", (1, 2))
    bound, free = (value_grammar(wanted, "python", constraint) for constraint in ("typed", "free"))
    assert free.complete("'many'") and free.complete("7") and free.complete("{'a': None}") and not bound.complete("7")


@pytest.mark.parametrize("notation", [n for n in NOTATIONS if n not in IN_TEXT])
@given(value=ANY)
def test_what_a_notation_without_escapes_cannot_carry_is_no_literal(notation: Notation, value: Any) -> None:
    assert is_literal(render_value(value, notation), notation) == carried(value, notation)


UNWRITABLE = [
    *(" a", "a\n", "a</p>b", "a\u3000", "</p>", {"a": ["</p>"]}, "a<|q|>", {"a b": 1}, [{"a:": 1}], {"": 1}),
    *("\U000f0003", ["\U000f0000"], "\U000f00ff"),
]


@pytest.mark.parametrize("notation", ["quoted", RawText("\n</p>"), RawText("</p>", "T", "F"), BareKeys("<|q|>")])
@pytest.mark.parametrize("value", UNWRITABLE)
def test_a_default_that_cannot_be_written_is_left_out_and_an_enum_is_an_error(notation: Notation, value: Any) -> None:
    if carried(value, notation):
        return
    number = ParameterSpec("x", ValueType("int"), "int", False, default=value)
    with_default, without = value_grammar(number, notation), value_grammar(replace(number, default=0), notation)
    assert with_default.shortest == without.shortest
    assert not with_default.complete(render_value(value, notation))
    for kind in ("any", "list") if not carried([value], notation) else ("any",):
        with pytest.raises(DocumentationError, match=r"key 'x': the member .* cannot be written"):
            value_grammar(typed(kind, ("a", value)), notation)


@pytest.mark.parametrize("notation", [n for n in NOTATIONS if isinstance(n, RawText)])
@pytest.mark.parametrize(
    ("kind", "others", "text", "value"),
    [
        ("str", (), "3", "3"), ("int", ("str",), "3", 3), ("int", ("str",), "3.5", "3.5"),
        ("int", ("str",), "03", "03"),
        ("float", ("str",), "3", 3), ("bool", ("str",), "true", True), ("bool", ("str",), "True", "True"),
        ("list", ("str",), "[1]", [1]), ("list", ("str",), "a[1]", "a[1]"), ("str", (), "[1", "[1"),
        ("any", (), "3", 3), ("any", (), '"a"', '"a"'), ("any", (), "1e999", "1e999"), ("any", (), "NaN", "NaN"),
        ("dict", ("str",), '{"a": {}}', {"a": {}}),
    ],
)  # fmt: skip
def test_a_raw_value_has_the_first_documented_type_that_it_is_json_of(
    notation: RawText, kind: Any, others: tuple[Any, ...], text: str, value: Any
) -> None:
    types = united([ValueType(k) for k in (kind, *others)]) if others else ValueType(kind)
    wanted = ParameterSpec("x", types, "", True)
    lead = notation.text_lead if isinstance(value, str) else notation.other_lead
    written = lead + text + notation.mark
    read = read_value(written, wanted, notation)
    assert read == value and type(read) is type(value)
    assert value_grammar(wanted, notation).complete(written)
