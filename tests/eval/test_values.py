"""Which values are right, by order and by vote: made-up candidates whose counts are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.report.value_table import value_table, vote_table
from eval.tuning.decoded_prompt import DecodedCall
from eval.votes.first_orders import LIKELIEST, likeliest, votes
from eval.votes.judge_values import value_slots
from eval.votes.value_file import VALUES, read_values, write_values
from eval.votes.value_groups import value_groups
from eval.votes.value_slot import ValueSlot
from eval.votes.vote_rows import vote_rows
from eval_data import write_sgd
from voting import CandidateCall, CandidateValue

SGD = find_benchmark("sgd")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """``a/1``: SetLamp(room='kitchen', state='on'); ``b/1``: SetLamp(room='hall', state='off', colour='red')."""
    data = str(write_sgd(tmp_path_factory.mktemp("data") / "sgd"))
    return {sample.id: sample for sample in SGD.load(data, SGD.categories)}


def decoded(sample: Sample, name: str, *given: Mapping[str, str]) -> DecodedCall:
    """A call whose candidates are in the sequence of their keys, required ones first."""
    tool = sample.documentation.lookup[name]
    required = {p.name for p in tool.required}
    candidates = [
        CandidateCall(
            name,
            tuple(key for key in values if key in required),
            tuple(CandidateValue(k, v, repr(v), -0.1 * n) for k, v in values.items()),
        )
        for n, values in enumerate(given, 1)
    ]
    return DecodedCall(tool, tuple(candidates), "")


def slots(sample: Sample, *calls: DecodedCall) -> dict[tuple[str, str], ValueSlot]:
    return {(slot.key, slot.kind): slot for slot in value_slots(sample, calls, 0.5, SGD, SGD.judge)}


def test_every_question_of_a_call(samples: Mapping[str, Sample]) -> None:
    first = {"room": "hall", "state": "on", "colour": "red"}
    second = {"state": "off", "room": "Hall"}
    third = {"room": "attic", "state": "off", "colour": "blue"}
    found = slots(samples["b/1"], decoded(samples["b/1"], "SetLamp", first, second, third))
    assert list(found) == [("room", "required"), ("state", "required"), ("colour", "optional"), ("colour", "presence")]
    room, state = found["room", "required"], found["state", "required"]
    assert room.orders == [True, True, False]  # the benchmark ignores case
    assert (room.places, state.places) == ([0, 1, 0], [1, 0, 1])
    assert state.orders == [False, True, True]
    assert (state.votes["1"], state.votes["2"], state.votes["all"]) == (
        False,
        False,
        True,
    )  # 2: a tie, by log-probability
    assert found["colour", "optional"].orders == [True, False, False]
    assert found["colour", "presence"].orders == [True, False, True]
    assert found["colour", "presence"].votes["all"]  # two of three have it
    assert not found["colour", "presence"].votes["2"]  # one of two is not more than half
    assert (room.keys, state.type, room.type, room.dialogue) == (2, "enum", "str", "b")


def test_an_optional_key_that_should_not_be_there(samples: Mapping[str, Sample]) -> None:
    """White is the default of the colour: to write it is as good as to leave it out."""
    plain = {"room": "kitchen", "state": "on"}
    calls = [{**plain, "colour": colour} for colour in ("red", "white")]
    found = slots(samples["a/1"], decoded(samples["a/1"], "SetLamp", plain, *calls))
    assert ("colour", "optional") not in found
    assert found["colour", "presence"].orders == [True, False, True]


def test_a_tool_without_required_keys(samples: Mapping[str, Sample]) -> None:
    call = decoded(samples["a/1"], "SetLamp", {"room": "kitchen", "state": "on"})
    optional = replace(call.tool, parameters=tuple(replace(p, required=False) for p in call.tool.parameters))
    candidates = tuple(replace(candidate, order=()) for candidate in call.candidates)
    found = slots(samples["a/1"], DecodedCall(optional, candidates, ""))
    assert {kind for _, kind in found} == {"optional", "presence"}
    assert all(slot.votes["all"] for slot in found.values())


def test_calls_that_cannot_be_judged(samples: Mapping[str, Sample]) -> None:
    good = decoded(samples["a/1"], "SetLamp", {"room": "kitchen", "state": "on"})
    assert slots(samples["a/1"], good)
    assert not slots(samples["a/1"])
    assert not slots(samples["a/1"], good, good)
    assert not slots(samples["c/1"], good)  # another tool than the reference's


def test_votes_are_over_the_first_orders() -> None:
    assert {name: len(places) for name, places in votes(3).items()} == {
        "1": 1, "2": 2, "3": 3, "4": 3, "6": 3, "12": 3, "all": 3,
    }  # fmt: skip
    assert votes(24)["12"] == list(range(12)) and votes(24)["all"] == list(range(24))


def slot(identifier: str, orders: Sequence[bool], vote: bool, **changed: object) -> ValueSlot:
    """A required value of a tool of two keys, first in every second order."""
    about = {
        "dialogue": identifier[0],
        "tool": f"T{identifier[0]}",
        "key": "k",
        "kind": "required",
        "keys": 2,
        "type": "str",
    }
    places = [n % 2 for n in range(len(orders))]
    votes_of = {"1": orders[0], "all": vote}
    return ValueSlot.model_validate(
        {"id": identifier, **about, "places": places, "orders": list(orders), "votes": votes_of, **changed}
    )


MADE_UP = [
    slot("a1", [False, True], True),
    slot("a2", [False, True], True, type="enum"),
    slot("b1", [True, False], True),
    slot("c1", [True, False], False, keys=3, places=[0, 2]),
    slot("c2", [False, False], False),
    slot("d1", [True, True], True, kind="presence", places=[]),
]


def test_groups_by_hand() -> None:
    found = {group.name.strip(): group for group in value_groups(MADE_UP)}
    assert list(found) == ["required values", "2 keys", "3 keys", "str", "enum", "presence"]
    every = found["required values"]
    assert (every.values, every.calls, every.documented, every.voted, every.any) == (5, 5, 2, 3, 4)
    assert (every.mended, every.broken, every.mean) == (2, 1, 0.4)
    assert every.gain.value == pytest.approx(1 / 5)
    assert every.p == 2 / 4 + 2 / 4  # dialogues gain 2 and -1: any signs of them are as far from 0 as 1
    assert every.first is not None
    assert every.first.value == pytest.approx((-1 - 1 + 1 + 1 + 0) / 5)
    two = found["2 keys"].first
    assert two is not None and two.value == pytest.approx((-1 - 1 + 1 + 0) / 4)
    assert found["presence"].first is None
    assert (found["enum"].mended, found["3 keys"].broken) == (1, 1)


def test_rows_by_hand() -> None:
    other = [slot("a1", [True], True), slot("b1", [False], False), slot("e1", [True], True)]
    found = vote_rows({"orders": MADE_UP, "samples": other})
    assert (found.values["required"], found.calls, found.left_out) == (2, 2, 5)  # a1 and b1
    rows = {(row.method, row.vote): row for row in found.rows}
    assert {name: row.right["required"] for name, row in rows.items()} == {
        ("orders", "1"): 1,
        ("orders", "all"): 2,
        ("samples", "1"): 1,
        ("samples", "all"): 1,
    }
    assert rows["orders", "all"].gain.value == 0.5
    assert rows["samples", "1"].gain.value == 0  # it mends a1 and breaks b1
    assert (rows["samples", "1"].better, rows["samples", "1"].worse) == (1, 1)
    assert (rows["orders", "all"].better, rows["orders", "all"].worse) == (1, 0)
    assert (rows["orders", "all"].calls, rows["samples", "1"].calls) == (2, 1)


def test_tables() -> None:
    groups, rows = value_table(MADE_UP), vote_table({"orders": MADE_UP})
    assert groups.rows[0][:9] == ("required values", "5", "5", "40.0", "40.0", "60.0", "80.0", "2", "1")
    assert [row[:3] for row in rows.rows] == [("orders", "1", "40.0")]  # all are no more than the largest count
    many = slot("f1", [False] * 24, True, votes={"1": False, "12": False, "all": True})
    assert [row[1:3] for row in vote_table({"orders": [many]}).rows] == [("1", "0.0"), ("12", "0.0"), ("all", "100.0")]
    assert not value_table([]).rows and not vote_table({}).rows and not vote_table({"orders": []}).rows


def test_the_likeliest_call_is_of_its_required_values(samples: Mapping[str, Sample]) -> None:
    first = {"room": "hall", "state": "on", "colour": "red"}
    second = {"state": "off", "room": "attic"}
    call = decoded(samples["b/1"], "SetLamp", first, second)
    likely = {"room": (-0.5, -0.1), "state": (-0.1, -0.4), "colour": (-9.0, 0.0)}  # means of -0.3 and -0.25
    made = [
        replace(c, values=tuple(replace(v, logprob=likely[v.key][n]) for v in c.values))
        for n, c in enumerate(call.candidates)
    ]
    assert (likeliest(made), likeliest(made[:1]), likeliest(made[::-1])) == (1, 0, 0)
    found = slots(samples["b/1"], replace(call, candidates=tuple(made)))
    assert [found[key, "required"].votes[LIKELIEST[2]] for key in ("room", "state")] == [False, True]
    assert not found["colour", "presence"].votes[LIKELIEST[12]]


def test_a_file_of_slots(tmp_path: Path) -> None:
    assert read_values(tmp_path) == []
    write_values(MADE_UP, tmp_path)
    assert read_values(tmp_path) == MADE_UP
    (tmp_path / VALUES).write_text('{"id": "a"}\n')
    with pytest.raises(EvalError, match=r"values.jsonl:1: expected 'dialogue', found none"):
        read_values(tmp_path)
