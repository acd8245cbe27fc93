"""Batches made ahead by other processes, for a GPU learns faster than one process can write examples."""

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import torch

from training.encoding.packing import Batch
from training.run.material import Material

_material: list[Material] = []
"""The worker's own material."""


def _begin(material: Material) -> None:
    torch.set_num_threads(1)
    _material[:] = [material]


def _make(step: int, progress: float) -> list[Batch]:
    return _material[0].batches(step, progress)


def batches_from(material: Material, step: int, workers: int) -> Generator[list[Batch], None, None]:
    """The batches of update ``step`` and of all behind it, to the end of the budget; the same for any ``workers``.

    With no worker they are made when they are asked for.
    """
    settings = material.settings

    def progress(number: int) -> float:
        return number * settings.step_tokens / settings.budget

    if not workers:
        while progress(step) < 1:
            yield material.batches(step, progress(step))
            step += 1
        return
    waiting: deque[Future[list[Batch]]] = deque()
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (material,)) as pool:
        try:
            while waiting or progress(step) < 1:
                while len(waiting) < 2 * workers and progress(step) < 1:
                    waiting.append(pool.submit(_make, step, progress(step)))
                    step += 1
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
