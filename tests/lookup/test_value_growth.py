"""Small documentation is cheap: closing and reading values is linear, and unreasonable types are errors."""

import json
from itertools import accumulate
from typing import Any

import pytest
from seams import NOTATIONS, ONE_OF_EACH, documented, grammar_of, record, spec, steps

from lookup import DocumentationError
from lookup.dictionary import ParameterSpec, ValueType
from lookup.grammar.literal_values import read_value, render_value
from lookup.grammar.notations import Notation
from lookup.grammar.value_grammar import value_grammar
from voting import check_value


def integers(count: int) -> ParameterSpec:
    return spec(record(*((f"key{n:04}", ValueType("int")) for n in range(count))))


def close(wanted: ParameterSpec, beginning: str, notation: Notation = "python") -> str:
    return beginning + value_grammar(wanted, notation).close(beginning)


@pytest.mark.parametrize("beginning", ["{", "{'key0003': 7, 'k", '{"key0001"'])
def test_twice_the_keys_are_closed_in_twice_the_steps(beginning: str) -> None:
    close(integers(3), "{")  # computed once
    small, large = (steps(lambda n=n: close(integers(n), beginning)) for n in (160, 320))  # type: ignore[misc]
    assert large < 2.2 * small and small < 160 * 175
    wanted = integers(160)
    close(wanted, "{")
    assert steps(lambda: close(wanted, "{")) < 480  # what is made once is not made again
    assert len(check_value(read_value(close(integers(160), beginning), integers(160), "python"), integers(160))) == 160


def test_twice_the_items_that_differ_are_closed_in_twice_the_steps() -> None:
    def closed(count: int) -> str:
        items = {"type": "integer", "minimum": 1, "maximum": count}
        grammar = grammar_of(documented({"type": "array", "items": items, "minItems": count, "uniqueItems": True}))
        begun = f"[{', '.join(map(str, range(count, count // 2, -1)))}, "
        return begun + grammar.close(begun) if grammar else ""

    assert sorted(json.loads(closed(100))) == [*range(1, 101)]
    small, large = (steps(lambda n=n: closed(n)) for n in (400, 800))  # type: ignore[misc]
    assert large < 2.5 * small and small < 10**6


@pytest.mark.parametrize("notation", ONE_OF_EACH)
@pytest.mark.parametrize("place", ["value", "element", "key"])
@pytest.mark.parametrize("name", ["{} member", "a beginning that all of them have {}"])
def test_an_enum_of_3000_members_costs_little_a_step(notation: Notation, place: str, name: str) -> None:
    members = tuple(name.format(n) for n in range(3000))
    one_of = ValueType("str", enum=members)
    places: dict[str, tuple[ParameterSpec, Any]] = {
        "value": (spec(ValueType("str"), enum=members), members[-1]),
        "element": (spec(ValueType("list", one_of)), list(members[-3:])),
        "key": (spec(record(("k", one_of))), {"k": members[-1]}),
    }
    wanted, value = places[place]
    text = render_value(value, notation)
    # Rendering takes some steps for each member; comparing all pairs would take millions.
    assert steps(lambda: value_grammar(wanted, notation).choices) < 150_000
    grammar = value_grammar(wanted, notation)
    assert (grammar.choices is not None) == (place == "value")
    for beginning in accumulate(text):
        assert grammar.possible(beginning) and not grammar.possible(beginning + "\x01")
        assert steps(lambda b=beginning: grammar.bytes_after(b)) < 20_000  # type: ignore[misc]
    assert grammar.complete(text) and read_value(text, wanted, notation) == value
    assert steps(lambda: read_value(text, wanted, notation)) < 20_000


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize(("kind", "piece"), [("list", "{},"), ("str", "a<b {}"), ("str", "</{}")])
def test_a_value_that_grows_is_read_once(kind: Any, piece: str, notation: Notation) -> None:
    value_type = ValueType("list", ValueType("int")) if kind == "list" else ValueType(kind)
    grammar = value_grammar(spec(value_type), notation)
    opener = render_value([], notation).partition("[")[0] + "[" if kind == "list" else grammar.opener

    def write(count: int) -> None:
        text = opener
        for number in range(count):
            text += piece.format(number % 7)
            assert grammar.possible(text)

    write(9)
    small, large = (steps(lambda n=n: write(n)) for n in (400, 800))  # type: ignore[misc]
    assert large < 2.3 * small


def chain(depth: int) -> ValueType:
    return ValueType("list", chain(depth - 1)) if depth else ValueType("int")


def tree(depth: int, keys: int) -> ValueType:
    return record(*((f"k{n}", tree(depth - 1, keys)) for n in range(keys))) if depth else ValueType("int")


def wide(depth: int) -> ValueType:
    """Brackets that may each belong to five types of lists."""
    kinds = [wide(depth - 1)] * 5 if depth else [ValueType("int", enum=(n, n + 1)) for n in range(1, 6)]
    return ValueType("any", any_of=tuple(ValueType("list", kind) for kind in kinds))


@pytest.mark.parametrize("notation", ONE_OF_EACH)
def test_unreasonable_documentation_is_an_error_that_names_the_key(notation: Notation) -> None:
    with pytest.raises(DocumentationError, match=r"key 'x': .*no value can obey .* in at most \d+ bytes"):
        value_grammar(spec(tree(3, 24)), notation)


@pytest.mark.parametrize(
    ("value_type", "beginning"),
    [(chain(60), "[" * 39), (tree(3, 12), "{'k3': {"), (wide(3), "[[[[1, 2")],
    ids=["deep", "large", "ambiguous"],
)
def test_much_documentation_is_taken(value_type: ValueType, beginning: str) -> None:
    assert value_grammar(spec(value_type), "python").complete(close(spec(value_type), beginning))
