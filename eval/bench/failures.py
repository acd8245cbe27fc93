"""What other libraries raise, and how it is told."""

from typing import Final

FAILURES: Final = (
    ImportError, AssertionError, AttributeError, KeyError, IndexError, TypeError, ValueError, RuntimeError, OSError,
)  # fmt: skip
"""What a library raises if it does not work with its input, or with this transformers, model or tokenizer."""


def failure(error: BaseException) -> str:
    """Return an error as one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
