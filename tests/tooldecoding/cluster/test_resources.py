"""What each worker gets of a cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldecoding.cluster.resources import Share, share_of
from tooldecoding.errors import ConfigError

NODES = st.lists(st.fixed_dictionaries({"CPU": st.integers(0, 9)}, optional={"GPU": st.integers(0, 4)}), max_size=4)


@given(NODES, st.integers(1, 12), st.sampled_from([None, 0, 0.25, 0.5, 1, 2]))
def test_every_worker_finds_room(nodes: list[dict[str, int]], actors: int, gpus: float | None) -> None:
    try:
        share = share_of(nodes, actors, gpus)
    except ConfigError as error:
        assert f"--actors {actors} with " in str(error)
        return
    assert gpus is None or share.gpus == gpus
    placed = 0
    for node in nodes:
        cpus, devices = node["CPU"], [1.0] * node.get("GPU", 0)
        while cpus >= share.cpus:
            if share.gpus >= 1:
                if len(devices) < share.gpus:
                    break
                del devices[: int(share.gpus)]
            elif share.gpus:
                room = [n for n, left in enumerate(devices) if left >= share.gpus]
                if not room:
                    break
                devices[room[0]] -= share.gpus
            cpus -= share.cpus
            placed += 1
    assert placed >= actors


@pytest.mark.parametrize(
    ("nodes", "actors", "gpus", "expected"),
    [
        ([{"CPU": 8}], 2, None, Share(4, 0)),
        ([{"CPU": 4}, {"CPU": 2}], 2, None, Share(2, 0)),
        ([{"CPU": 8, "GPU": 2}], 2, None, Share(1, 1)),
        ([{"CPU": 8, "GPU": 1}], 2, None, Share(4, 0)),
        ([{"CPU": 8, "GPU": 1}], 2, 0.5, Share(1, 0.5)),
    ],
)
def test_shares(nodes: list[dict[str, float]], actors: int, gpus: float | None, expected: Share) -> None:
    assert share_of(nodes, actors, gpus) == expected


def test_the_message_names_what_the_cluster_has() -> None:
    with pytest.raises(
        ConfigError, match="3 with 1 CPU and 1 GPU each: the cluster has 6 CPUs and 2 GPUs on 2 nodes, which is room"
    ):
        share_of([{"CPU": 4, "GPU": 1}, {"CPU": 2, "GPU": 1}], 3, 1)
