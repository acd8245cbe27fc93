"""A task of workers without a model: it writes in capitals; some items kill their worker."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from tooldecoding.errors import ModelError


def beginning(item: str) -> str:
    return item[:1]


def capitals(model: Any, tokenizer: Any) -> Callable[[Sequence[str]], Iterable[tuple[int, tuple[str, int]]]]:
    """Items are texts. ``die`` kills the worker, ``wait`` takes a tenth of a second."""

    def run(items: Sequence[str]) -> Iterable[tuple[int, tuple[str, int]]]:
        if any(item.startswith("die") for item in items):
            os._exit(1)
        time.sleep(0.1 * sum(item.startswith("wait") for item in items))
        return enumerate((item.upper(), os.getpid()) for item in items)

    return run


def no_model(device: str, fails: str = "") -> tuple[Any, Any]:
    """In place of a model; it may be one that cannot be loaded."""
    if fails:
        raise ModelError(fails)
    model = SimpleNamespace(config=SimpleNamespace(to_diff_dict=dict), dtype="")
    return model, SimpleNamespace(get_vocab=dict, special_tokens_map={}, chat_template=None)
