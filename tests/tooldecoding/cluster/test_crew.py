"""The driver's bookkeeping, with workers that die when and where an example says so; no Ray."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldecoding.cluster.crew import Crew, Died, Finished, Ready
from tooldecoding.cluster.work import MOST_DEATHS
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


def test_workers_that_cannot_load_are_one_error() -> None:
    pool = Workers(Random(0), loads_die=True)
    crew: Crew[str, str] = Crew(Task(), pool, 2)
    with pytest.raises(ModelError, match="4 workers in a row died while they loaded the model; the last: out of mem"):
        _ = crew.about
    assert pool.started <= 5  # each death but the last starts another one


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
