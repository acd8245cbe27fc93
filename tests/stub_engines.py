"""Engines that need no library and no model: they judge by the tokens of JSON literals alone."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.schemas.engines import Engine


class Stub(Engine):
    """Allows every instance with up to ``maxTokens`` tokens of its schema; the check after decoding knows ``const``."""

    name = "stub"
    package = "numpy"

    def __init__(self, tokenizer: str) -> None:
        assert Path(tokenizer).is_dir()

    def compile(self, schema: Any) -> None:
        if schema.get("refuse"):
            raise ValueError("no grammar\nof this")
        self._schema = schema
        self._left = 0

    def notes(self) -> Sequence[str]:
        return ["const"] if "const" in self._schema else []

    def start(self) -> None:
        self._left = self._schema.get("maxTokens", 1000)

    def take(self, token: int) -> bool:
        self._left -= 1
        return self._left >= 0

    def complete(self) -> bool:
        return True

    def allows(self, value: Any) -> bool:
        return bool(value == self._schema.get("const", value))

    def search(self, tokens: Sequence[int]) -> list[int]:
        return [1000]


class Strict(Stub):
    """Refuses everything."""

    name = "strict"

    def complete(self) -> bool:
        return False


class Hanging(Stub):
    """Hangs, or dies, over some schemas."""

    name = "hanging"

    def compile(self, schema: Any) -> None:
        if schema.get("hang"):
            time.sleep(600)
        if schema.get("die"):
            os.abort()
        if schema.get("exit"):
            os._exit(101)
        super().compile(schema)


class Unloadable(Stub):
    """Does not work with any tokenizer."""

    name = "unloadable"

    def __init__(self, tokenizer: str) -> None:
        raise TypeError("unknown vocabulary")
