"""Law: a description is an annotation. Whatever it says, a key has the values of its schema, no fewer and no more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seams import ONE_OF_EACH

from lookup.extract import extract
from lookup.values.grammar import value_grammar
from lookup.values.literal_values import render_value
from lookup.values.notations import Notation
from voting.type_check import check_value

PROSE = [
    "The city, in the format of 'City, State', such as 'Boston, MA'.",
    "In the format 'City, State' or a ZIP code.",
    "Formatted as 'City, State'. Use 'current' for where the user is.",
    "In the format 'Lastname, Firstname' or digits.",
    "In the format 'City, State' (if available), else 'Remote'.",
    "In the format 'Title, Author'.",
    "One of 'a', 'b'. Must be a date (YYYY-MM-DD) of at most 5 characters. Default: 'a'. Enum: [a, b].",
]
SAID = ["94103", "current", "4417", "Remote", "x" * 60 + ", A. Author", "", "a, b, c, d", "Kiel"]


@pytest.mark.parametrize("notation", ONE_OF_EACH)
@given(prose=st.sampled_from(PROSE), said=st.one_of(st.sampled_from(SAID), st.text("aZ 9,'", max_size=50)))
def test_no_description_makes_a_value_impossible_or_invalid(notation: Notation, prose: str, said: str) -> None:
    grammars = []
    for description in (prose, ""):
        key = {"type": "string", "description": description}
        document = {"name": "f", "description": description, "parameters": {"properties": {"place": key}}}
        spec = extract(json.dumps(document))["f"].parameter("place")
        grammars.append(value_grammar(spec, notation))
        assert check_value(said, spec) == said
    literal = render_value(said, notation)
    for end in range(len(literal) + 1):
        described, plain = [(g.possible(literal[:end]), g.complete(literal[:end])) for g in grammars]
        assert described == plain
