"""What each worker gets of a cluster."""

from hypothesis import given
from hypothesis import strategies as st

from tooldecoding.cluster.resources import share_of
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
