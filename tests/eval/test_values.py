"""Which values are right, by order and by vote: made-up candidates whose counts are known."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Sample
from eval.report.table import Table
from eval.report.value_tables import value_table, vote_table
from eval.votes.judge_values import value_slots
from eval.votes.value_slot import ValueSlot
from eval_data import LAMP, decoded_call
from tooldecoding.chat.documentation import Documentation
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request

SGD = find_benchmark("sgd")


def slots(sample: Sample, *calls: DecodedCall) -> dict[tuple[str, str], ValueSlot]:
    request = Request("", sample.documentation.lookup, DecodeOptions())
    return {(slot.key, slot.kind): slot for slot in value_slots(sample, calls, request, SGD)}


def test_every_question_of_a_call(samples: Sequence[Sample]) -> None:
    first = {"room": "hall", "state": "on", "colour": "red"}
    second = {"state": "off", "room": "Hall"}
    third = {"room": "attic", "state": "off", "colour": "blue"}
    found = slots(samples[1], decoded_call(samples[1], first, second, third))
    assert list(found) == [("room", "required"), ("state", "required"), ("colour", "optional"), ("colour", "presence")]
    room, state = found["room", "required"], found["state", "required"]
    assert room.orders == [True, True, False]  # the benchmark ignores case
    assert (room.places, state.places) == ([0, 1, 0], [1, 0, 1])
    assert state.orders == [False, True, True]
    votes = [state.votes[n] for n in ("1", "2", "all", "12")]
    assert votes == [False, False, True, True]  # 2: a tie, by log-probability
    assert found["colour", "optional"].orders == [True, False, False]
    assert found["colour", "presence"].orders == [True, False, True]
    assert found["colour", "presence"].votes["all"]  # two of three have it
    assert not found["colour", "presence"].votes["2"]  # one of two is not more than half
    assert (room.keys, state.type, room.type, room.dialogue) == (2, "enum", "str", "b")


def test_an_optional_key_that_should_not_be_there(samples: Sequence[Sample]) -> None:
    """White is the default of the colour: to write it is as good as to leave it out."""
    plain = {"room": "kitchen", "state": "on"}
    calls = [{**plain, "colour": colour} for colour in ("red", "white")]
    found = slots(samples[0], decoded_call(samples[0], plain, *calls))
    assert ("colour", "optional") not in found
    assert found["colour", "presence"].orders == [True, False, True]


def test_calls_that_cannot_be_judged_and_a_tool_without_required_keys(samples: Sequence[Sample]) -> None:
    good = decoded_call(samples[0], {"room": "kitchen", "state": "on"})
    assert slots(samples[0], good)
    assert not slots(samples[0]) and not slots(samples[0], good, good)
    assert not slots(samples[2], good)  # another tool than the reference's
    optional = Documentation.read([LAMP | {"parameters": LAMP["parameters"] | {"required": []}}], "tools")
    candidates = tuple(replace(candidate, order=()) for candidate in good.candidates)
    found = slots(replace(samples[0], documentation=optional), replace(good, candidates=candidates))
    assert {kind for _, kind in found} == {"optional", "presence"}
    assert all(slot.votes["all"] for slot in found.values())


@pytest.mark.parametrize("turned", [False, True])
def test_the_likeliest_call_is_of_its_required_values(samples: Sequence[Sample], turned: bool) -> None:
    """Means of -0.3 and -0.25: the second call, wherever it stands."""
    first = {"room": "hall", "state": "on", "colour": "red"}
    call = decoded_call(samples[1], first, {"state": "off", "room": "attic"})
    likely = {"room": (-0.5, -0.1), "state": (-0.1, -0.4), "colour": (-9.0, 0.0)}
    made = [
        replace(c, values=tuple(replace(v, logprob=likely[v.key][n]) for v in c.values))
        for n, c in enumerate(call.candidates)
    ]
    found = slots(samples[1], replace(call, candidates=tuple(made[::-1] if turned else made)))
    assert [found[key, "required"].votes["likeliest of 2"] for key in ("room", "state")] == [False, True]
    assert not found["colour", "presence"].votes["likeliest of 12"]


def slot(identifier: str, orders: list[bool], vote: bool, **changed: object) -> ValueSlot:
    """A required value of a tool of two keys, first in every second order."""
    about = {"dialogue": identifier[0], "tool": f"T{identifier[0]}", "key": "k", "kind": "required", "keys": 2}
    places = [n % 2 for n in range(len(orders))]
    votes = {"1": orders[0], "12": vote, "all": vote}
    return ValueSlot.model_validate(
        {"id": identifier, **about, "type": "str", "places": places, "orders": orders, "votes": votes, **changed}
    )


MADE_UP = [
    slot("a1", [False, True], True),
    slot("a2", [False, True], True, type="enum"),
    slot("b1", [True, False], True),
    slot("c1", [True, False], False, keys=3, places=[0, 2]),
    slot("c2", [False, False], False),
    slot("d1", [True, True], True, kind="presence", places=[]),
]


def rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_groups_by_hand() -> None:
    found = {row["values"].strip(): row for row in rows(value_table(MADE_UP))}
    assert list(found) == ["required values", "2 keys", "3 keys", "str", "enum", "presence"]
    every = found["required values"]
    assert list(every.values())[1:9] == ["5", "5", "40.0", "40.0", "60.0", "80.0", "2", "1"]
    assert every["p"] == "1.0000"  # dialogues gain 2 and -1: any signs of them are as far from 0 as 1
    assert every["vote - documented"].startswith("+20.0 ")
    assert every["first - last"].startswith("+0.0 ")  # (-1 - 1 + 1 + 1 + 0) / 5
    assert found["2 keys"]["first - last"].startswith("-25.0 ")  # (-1 - 1 + 1 + 0) / 4
    assert found["presence"]["first - last"] == "-"
    assert (found["enum"]["mended"], found["3 keys"]["broken"]) == ("1", "1")
    assert not value_table([]).rows


def test_votes_by_hand() -> None:
    """On a1 and b1, which both methods have: the samples mend a1 and break b1."""
    other = [slot("a1", [True], True), slot("b1", [False], False), slot("e1", [True], True)]
    table = vote_table({"orders": MADE_UP, "samples": other})
    assert "2 required, 0 optional, 0 presence, of 2 calls; left out: 5 values" in table.notes[1]
    assert [
        (*list(row.values())[:3], row["gain"].split()[0], row["tools"], row["presence"], row["calls"])
        for row in rows(table)
    ] == [
        ("orders", "1", "50.0", "-", "-", "-", "50.0"),
        ("orders", "12", "100.0", "+50.0", "1 / 0", "-", "100.0"),  # all are no more than the largest count
        ("samples", "1", "50.0", "+0.0", "1 / 1", "-", "50.0"),
        ("samples", "12", "50.0", "+0.0", "1 / 1", "-", "50.0"),
    ]
    many = slot("f1", [False] * 24, True, votes={"1": False, "12": False, "all": True})
    found = vote_table({"orders": [many, MADE_UP[-1].model_copy(update={"votes": many.votes, "id": "f1"})]})
    assert [(row["vote over"], row["required values"], row["calls"]) for row in rows(found)] == [
        ("1", "0.0", "0.0"), ("12", "0.0", "0.0"), ("all", "100.0", "100.0"),
    ]  # fmt: skip
    assert not vote_table({}).rows and not vote_table({"orders": []}).rows
