"""The law of linear time: twice the text takes about twice as long."""

import gc
import time
from collections.abc import Callable
from typing import Any

ATTEMPTS = 5


def assert_linear(read: Callable[[str], Any], text: Callable[[int], str], size: int) -> None:
    """Reading ``text(2 * size)`` takes less than three times as long as reading ``text(size)``.

    A busy machine can spoil one measurement, never make quadratic work linear: the law holds if one attempt shows it.
    """
    short, long = text(size), text(2 * size)
    ratios = []
    for _ in range(ATTEMPTS):
        once, twice = (min(_seconds(read, t) for _ in range(2)) for t in (short, long))
        # Below some milliseconds the clock decides, above the text does.
        if twice < 3 * once + 0.01:
            return
        ratios.append(round(twice / once, 1))
    raise AssertionError(f"twice the text took {ratios} times as long")


def _seconds(read: Callable[[str], Any], text: str) -> float:
    gc.disable()  # how often the garbage is collected depends on what else there is
    try:
        start = time.process_time()
        read(text)
        return time.process_time() - start
    finally:
        gc.enable()
