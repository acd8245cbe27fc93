"""A task of workers without a model: it writes in capitals; some items kill their worker."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tooldecoding.errors import ModelError


@dataclass(frozen=True)
class Capitals:
    """Items are texts. ``die`` kills the worker, ``wait`` takes a tenth of a second."""

    weights: str = "all the same"

    def loaded(self, model: Any, tokenizer: Any) -> "Capitals":
        return self

    @property
    def about(self) -> Mapping[str, Any]:
        return {"device": "none", "pid": os.getpid(), "identity": {"weights": self.weights or str(os.getpid())}}

    def beginning(self, item: str) -> str:
        return item[:1]

    def run(self, items: Sequence[str]) -> list[str]:
        if any(item.startswith("die") for item in items):
            os._exit(1)
        time.sleep(0.1 * sum(item.startswith("wait") for item in items))
        return [item.upper() for item in items]


def no_model(device: str, fails: str = "") -> tuple[None, None]:
    """In place of loading a model; it may be one that cannot be loaded."""
    if fails:
        raise ModelError(fails)
    return None, None
