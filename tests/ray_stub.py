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

    def loaded(self, model: Any, tokenizer: Any) -> "Capitals":
        return self

    @property
    def about(self) -> Mapping[str, Any]:
        return {"device": "none", "pid": os.getpid()}

    def beginning(self, item: str) -> str:
        return item[:1]

    def given_up(self, item: str, reason: str) -> str:
        return f"{item}: {reason}"

    def run(self, items: Sequence[str]) -> list[str]:
        if any(item.startswith("die") for item in items):
            os._exit(1)
        time.sleep(0.1 * sum(item.startswith("wait") for item in items))
        return [item.upper() for item in items]


@dataclass(frozen=True)
class NoModel:
    """In place of a model's source; it may be one that cannot be loaded."""

    fails: str = ""
    dies: bool = False

    def load(self, threads: int) -> tuple[None, None]:
        if self.dies:
            os._exit(1)
        if self.fails:
            raise ModelError(self.fails)
        return None, None

    def identity(self, model: Any, tokenizer: Any) -> Mapping[str, str]:
        return {"weights": "none"}
