"""Errors of evaluation that a user can mend, and how those of other libraries are told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lookup.errors import ToolDecodingError

FAILURES: Final = (
    ImportError, AssertionError, AttributeError, KeyError, IndexError, TypeError, ValueError, RuntimeError, OSError,
)  # fmt: skip
"""What a library raises if it does not work with its input, or with this transformers, model or tokenizer."""


class EvalError(ToolDecodingError):
    """Benchmark data, predictions or runs that cannot be used: which file and line, expected, got, what to do."""


def failure(error: BaseException) -> str:
    """Return an error as one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside the block, a file or folder that cannot be written is an EvalError."""
    try:
        yield
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
