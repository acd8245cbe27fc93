"""Batches made ahead by other processes: a GPU learns faster than one process can write examples."""

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import torch

from training.encoding.packing import Batch
from training.run.material import Material

_material: list[Material] = []
"""The worker process's own copy."""


def _start_worker(material: Material) -> None:
    torch.set_num_threads(1)
    _material[:] = [material]


def _make(step: int) -> list[Batch]:
    return _material[0].batches(step)


def batches_from(material: Material, step: int, workers: int) -> Generator[list[Batch], None, None]:
    """Yield the batches of update ``step`` and of all updates after it, to the end of the budget.

    They are the same for any number of ``workers``; with 0, they are made when they are needed.
    """
    steps = range(step, material.steps)
    if not workers:
        yield from map(material.batches, steps)
        return
    waiting: deque[Future[list[Batch]]] = deque()
    with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (material,)) as pool:
        try:
            for number in steps:
                waiting.append(pool.submit(_make, number))
                if len(waiting) == 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
