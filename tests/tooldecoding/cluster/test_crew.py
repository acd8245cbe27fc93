"""The driver's bookkeeping, with workers that die when and where an example says so; no Ray."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldecoding.cluster.crew import Crew, Died, Finished, Ready
from tooldecoding.cluster.grouping import by_beginning, in_groups
from tooldecoding.cluster.work import MOST_DEATHS, Work
from tooldecoding.errors import ModelError

SAME = {"identity": {"weights": "a"}, "version": "1"}


class Task:
    """Items are texts; their first letter is how their prompts begin."""

    def loaded(self, model: Any, tokenizer: Any) -> Any:
        raise NotImplementedError

    def beginning(self, item: str) -> str:
        return item[:1]

    def given_up(self, item: str, reason: str) -> str:
        return f"{item}: {reason}"


@dataclass
class Workers:
    """Workers that finish in any sequence; ``poison`` always kills, ``chance`` is that of any other death."""

    random: Random
    poison: frozenset[str] = frozenset()
    deaths: int = 0
    loads_die: bool = False
    lost: int = 0
    abouts: list[dict[str, Any]] = field(default_factory=list)
    begun: Counter[str] = field(default_factory=Counter)
    served: list[tuple[int, Sequence[str]]] = field(default_factory=list)
    loading: list[int] = field(default_factory=list)
    busy: dict[int, Sequence[str]] = field(default_factory=dict)
    started: int = 0

    def start(self) -> int:
        self.started += 1
        self.loading.append(self.started)
        return self.started

    def run(self, worker: int, items: Sequence[str]) -> None:
        assert worker not in self.busy and worker not in self.loading
        self.begun.update(items)
        self.served.append((worker, items))
        self.busy[worker] = items

    def wait(self) -> list[Ready | Finished[str] | Died]:
        worker = self.random.choice([*self.loading, *self.busy])
        if worker in self.loading:
            self.loading.remove(worker)
            if self.lost:
                self.lost -= 1
                return [Died(worker, "lost")]
            if self.loads_die:
                return [Died(worker, "out of memory")]
            return [Ready(worker, {"node": "n", **(self.abouts.pop() if self.abouts else SAME)})]
        items = self.busy.pop(worker)
        dies = bool(self.poison & set(items))
        if not dies and self.deaths and self.random.random() < 0.3:
            self.deaths -= 1
            dies = True
        return [Died(worker, "killed") if dies else Finished(worker, [item.upper() for item in items])]

    def stop(self) -> None: ...


ITEMS = st.lists(st.text("abc", min_size=1, max_size=3), max_size=40).map(
    lambda texts: [f"{text}{number}" for number, text in enumerate(texts)]
)


@given(ITEMS, st.integers(1, 4), st.integers(1, 4), st.integers(0, 1), st.integers(), st.data())
def test_every_item_gets_one_result(
    items: list[str], size: int, workers: int, deaths: int, seed: int, data: st.DataObject
) -> None:
    poison = frozenset(data.draw(st.lists(st.sampled_from(items), max_size=3)) if items else ())
    pool = Workers(Random(seed), poison, deaths)
    crew: Crew[str, str] = Crew(Task(), pool, workers)
    results: dict[str, str] = {}
    for group, answers in crew.spread(crew.arranged([items], size)):
        for item, answer in zip(group, answers, strict=True):
            assert item not in results
            results[item] = answer
    assert set(results) == set(items)
    for item, answer in results.items():
        expected = f"{item}: the worker died 3 times while it decoded this row" if item in poison else item.upper()
        assert answer == expected
        assert pool.begun[item] <= MOST_DEATHS + deaths
    assert all(pool.begun[item] == MOST_DEATHS for item in poison) or deaths


def test_a_stream_is_read_as_it_is_needed() -> None:
    read = 0

    def stream() -> Any:
        nonlocal read
        for number in range(1000):
            read += 1
            yield [f"a{number}"]

    crew: Crew[str, str] = Crew(Task(), Workers(Random(0)), 2)
    for done, _ in enumerate(crew.spread(stream()), start=1):
        assert read <= done + 12
    assert read == 1000


def test_a_second_stream_finds_the_workers_of_the_first() -> None:
    pool = Workers(Random(1))
    crew: Crew[str, str] = Crew(Task(), pool, 2)
    for _ in range(2):
        assert len(list(crew.spread([["a"], ["b"], ["c"]]))) == 3
    assert pool.started == 2


def test_one_worker_at_most_is_always_the_same() -> None:
    pool = Workers(Random(2))
    crew: Crew[str, str] = Crew(Task(), pool, 3)
    list(crew.spread([["a"]] * 9))
    first = min(worker for worker, _ in pool.served)
    pool.served.clear()
    list(crew.spread([["a"]] * 9, most=1))
    assert {worker for worker, _ in pool.served} == {first}


def test_prompts_that_begin_alike_stay_with_one_worker() -> None:
    items = [f"{'abc'[number % 3]}{number}" for number in range(90)]
    pool = Workers(Random(3))
    crew: Crew[str, str] = Crew(Task(), pool, 3)
    list(crew.spread(crew.arranged([items], 2)))
    changes = 0
    last: dict[int, str] = {}
    for worker, group in pool.served:
        changes += last.get(worker) != group[0][0]
        last[worker] = group[-1][0]
    assert changes <= 9  # of 45; workers that have nothing else to do take over


def test_workers_that_cannot_load_are_one_error() -> None:
    pool = Workers(Random(0), loads_die=True)
    crew: Crew[str, str] = Crew(Task(), pool, 2)
    with pytest.raises(ModelError, match="4 workers in a row died while they loaded the model; the last: out of mem"):
        _ = crew.about
    assert pool.started <= 5  # each death but the last starts another one


def test_a_lost_node_is_no_fault_of_the_model() -> None:
    crew: Crew[str, str] = Crew(Task(), Workers(Random(0), lost=4), 4)  # all workers, while they load
    assert list(crew.spread([["a"]])) == [(["a"], ["A"])]


def test_nobody_waits_for_a_worker_that_has_nothing_to_do() -> None:
    pool = Workers(Random(0))
    crew: Crew[str, str] = Crew(Task(), pool, 1)
    assert crew.about
    pool.loads_die, pool.poison = True, frozenset({"b"})
    with pytest.raises(ModelError):
        list(crew.spread([["b"]]))
    pool = Workers(Random(0), loads_die=True)
    assert list(Crew(Task(), pool, 1).spread([])) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"identity": {"weights": "b"}, "version": "1"}, r"different models \(other weights\)"),
        ({"identity": {"weights": "a"}, "version": "2"}, "install one version"),
    ],
)
def test_workers_with_different_models_are_refused(other: dict[str, Any], said: str) -> None:
    crew: Crew[str, str] = Crew(Task(), Workers(Random(0), abouts=[other, SAME]), 2)
    with pytest.raises(ModelError, match=said):
        list(crew.spread([["a"]] * 50))


@given(ITEMS, st.integers(1, 50))
def test_within_a_window_prompts_that_begin_alike_follow_one_another(items: list[str], window: int) -> None:
    arranged = list(by_beginning(items, lambda item: item[:1], window))
    assert sorted(arranged) == sorted(items)
    for start in range(0, len(items), window):
        part = arranged[start : start + window]
        assert sorted(part) == sorted(items[start : start + window])
        letters = [item[:1] for item in part]
        assert sum(one != two for one, two in pairwise(letters)) == max(0, len(set(letters)) - 1)
    assert [item for group in in_groups(arranged, 3) for item in group] == arranged


def test_a_worker_leaves_others_what_they_serve_best() -> None:
    work = Work([["b1"], ["c1"], ["a1"]], lambda item: item[:1], ahead=9)
    taken = [work.take("a", {"b"}), work.take("a", {"b"}), work.take("a", {"b"}), work.take("a", {"b"})]
    assert [group and group.items[0] for group in taken] == ["a1", "c1", "b1", None]
