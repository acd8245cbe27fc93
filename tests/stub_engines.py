"""Engines that need no library and no model: they judge by the tokens of JSON literals alone."""

import os
import signal
from pathlib import Path
from typing import Any

from eval.schemas.engines import Compile, Grammar, Take


def load_stub(tokenizer: str) -> Compile:
    """Allows every instance with up to ``maxTokens`` tokens of its schema; the check after decoding knows ``const``."""
    assert Path(tokenizer).is_dir()
    return _compiled


def _compiled(schema: Any) -> Grammar:
    if schema.get("refuse"):
        raise ValueError("no grammar\nof this")
    while schema.get("hang"):
        pass
    if schema.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)

    def start() -> Take:
        left = iter(range(schema.get("maxTokens", 1000)))
        return lambda token: token is None or next(left, None) is not None

    notes = ["const"] if "const" in schema else []
    return Grammar(start, lambda value: bool(value == schema.get("const", value)), lambda: notes)


def load_strict(tokenizer: str) -> Compile:
    """Refuses everything."""
    return lambda schema: Grammar(lambda: lambda token: token is not None)


def load_nothing(tokenizer: str) -> Compile:
    """Does not work with any tokenizer."""
    raise TypeError("unknown vocabulary")
