"""Engines that need no library and no model: they judge by the tokens of JSON literals alone."""

import os
import time
from pathlib import Path
from typing import Any

from eval.schemas.engines import Compile, Engine, Grammar, Instance


def load_stub(tokenizer: str) -> Compile:
    """Allows every instance with up to ``maxTokens`` tokens of its schema; the check after decoding knows ``const``."""
    assert Path(tokenizer).is_dir()
    return _compiled


def _compiled(schema: Any) -> Grammar:
    if schema.get("refuse"):
        raise ValueError("no grammar\nof this")
    if schema.get("hang"):
        time.sleep(600)
    if schema.get("die"):
        os.abort()

    def start() -> Instance:
        left = iter(range(schema.get("maxTokens", 1000)))
        return Instance(lambda token: next(left, None) is not None, lambda: True)

    notes = ["const"] if "const" in schema else []
    return Grammar(start, lambda value: bool(value == schema.get("const", value)), lambda: notes)


def load_strict(tokenizer: str) -> Compile:
    """Refuses everything."""
    return lambda schema: Grammar(lambda: Instance(lambda token: True, lambda: False))


def load_nothing(tokenizer: str) -> Compile:
    """Does not work with any tokenizer."""
    raise TypeError("unknown vocabulary")


STUB = Engine("numpy", load_stub)
STRICT = Engine("scipy", load_strict)
UNLOADABLE = Engine("pydantic", load_nothing)
