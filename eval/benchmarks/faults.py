"""What the checker finds wrong, in the official scorer's words."""

import reprlib
from dataclasses import dataclass
from typing import Any, Final

from lookup.errors import ToolDecodingError

CRASH: Final = "official_scorer:crash"
"""Our own error type: the official scorer ends with an exception there, and gives no verdict on anything."""


@dataclass(frozen=True)
class Fault:
    """Why a prediction is wrong: the official error type, and a message for a reader."""

    error_type: str
    message: str


class ScorerCrash(ToolDecodingError):
    """Prediction, documentation or answer of a form that ends the official scorer with an exception."""


def shown(value: Any) -> str:
    """A value for a message, in bounded length."""
    return _SHORT.repr(value)


_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 120
