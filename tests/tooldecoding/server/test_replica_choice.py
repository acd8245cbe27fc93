"""Where a request goes: the same tools to the same replica, new ones to the one that does least."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from running_server import HELLO, ROME, TABLE, WEATHER, body
from tooldecoding.server.replicas.beginning import beginning
from tooldecoding.server.replicas.places import Places

REPLICAS = ["a", "b", "c"]


def test_requests_with_the_same_tools_begin_alike() -> None:
    other = [{"role": "system", "content": "Be short."}, *HELLO]
    assert beginning(body()) == beginning(body(messages=other, stream=True, tool_choice="required"))
    assert beginning(body()) != beginning(body(tools=[TABLE, WEATHER]))
    assert beginning(body()) != beginning(body(tools=[WEATHER]))


def test_without_tools_a_dialogue_goes_on_where_it_began() -> None:
    answered = [*HELLO, {"role": "assistant", "content": "Hi."}, *ROME]
    assert beginning(body(tools=None)) == beginning(body(tools=[], messages=[*ROME, *answered]))
    assert beginning(body(tools=None, messages=HELLO)) == beginning(body(tools=None, messages=answered))
    assert beginning(body(tools=None, messages=HELLO)) != beginning(body(tools=None))


@given(st.lists(st.sampled_from("stuv"), max_size=30))
def test_a_replica_that_is_not_full_keeps_its_tools(asked: list[str]) -> None:
    places, went = Places(), dict[str, str]()
    for name in asked:
        replica = places.choose(name, REPLICAS, 2)
        assert replica is not None
        places.enter(replica, name)
        assert went.setdefault(name, replica) == replica
        places.leave(replica)
    counted = Counter(went.values())
    assert not counted or max(counted.values()) - min(counted[each] for each in REPLICAS) <= 1


@given(st.integers(1, 4), st.lists(st.sampled_from("stuv") | st.none(), max_size=40))
def test_nobody_waits_while_a_replica_has_a_free_place(most: int, asked: list[str | None]) -> None:
    places, running = Places(), Counter[str]()
    for name in asked:
        replica = places.choose(name, REPLICAS, most)
        assert replica is not None
        assert running[replica] < most or min(running[each] for each in REPLICAS) >= most
        assert running[replica] < most or running[replica] == min(running[each] for each in REPLICAS)
        places.enter(replica, name)
        running[replica] += 1


def test_when_its_replica_is_gone_another_one_takes_over() -> None:
    places = Places()
    places.enter("a", "tools")
    places.leave("a")
    assert places.choose("tools", ["b", "c"], 1) == "b"
    assert places.choose("tools", [], 1) is None
    assert places.choose("tools", ["c", "b", "a"], 1) == "a"
