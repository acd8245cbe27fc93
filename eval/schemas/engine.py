"""What is measured: something that holds a model to a JSON Schema, token by token."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from eval.bench.failures import FAILURES
from lookup.errors import ToolDecodingError

REFUSALS: Final = (*FAILURES, ArithmeticError, MemoryError, ToolDecodingError)
"""What an engine raises for a schema that it has no grammar of."""


class Engine(ABC):
    """One engine. It lives in a process of its own.

    Parameters
    ----------
    tokenizer : str
        Folder or hub id.

    Attributes
    ----------
    name : str
        In ``--peers`` and in tables.
    package : str
        The package that pip installs.
    timed : str
        What its time of a token covers.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    timed: ClassVar[str] = "mask of the vocabulary, then the token"

    @abstractmethod
    def __init__(self, tokenizer: str) -> None: ...

    @abstractmethod
    def compile(self, schema: Any) -> None:
        """Make the grammar, until it has answered for the first token.

        Raises
        ------
        REFUSALS
            If there is no grammar of this schema. ``take`` may still find that out.
        """

    def notes(self) -> Sequence[str]:
        """What the grammar does not enforce. Asked for last, because it may make all that was not needed before."""
        return ()

    @abstractmethod
    def start(self) -> None:
        """Begin an instance."""

    @abstractmethod
    def take(self, token: int) -> bool:
        """Take the next token, if it is allowed; this is timed."""

    @abstractmethod
    def complete(self) -> bool:
        """Whether the instance may end here."""

    def allows(self, value: Any) -> bool:
        """Whether the finished value passes the check after decoding; always true if there is none."""
        return True

    def search(self, tokens: Sequence[int]) -> list[int]:
        """Nanoseconds to find the likeliest token that is allowed, at some places of an instance that was taken."""
        return []
