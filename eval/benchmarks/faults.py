"""What a checker finds wrong, in the official scorer's words."""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from lookup.errors import ToolDecodingError

ErrorClass = Literal["awareness", "selection", "format", "key", "value", "unsatisfiable"]
ERROR_CLASSES: Final[tuple[ErrorClass, ...]] = get_args(ErrorClass)
"""The paper's five classes (section 2, table 1), and what no prediction can get right."""

CRASH: Final = "official_scorer:crash"
"""Our own error type: the official scorer ends with an exception there, and gives no verdict on anything."""

_IGNORED: Final = re.compile(r"[ ,./\-_*^]")


@dataclass(frozen=True)
class Fault:
    """Why a prediction is wrong: the official error type, and a message for a reader."""

    error_type: str
    message: str


class ScorerCrash(ToolDecodingError):
    """Prediction, documentation or answer of a form that ends the official scorer with an exception."""


def standardise(value: Any) -> Any:
    """A text as BFCL and ACEBench compare it: without some marks and case; any other value as it stands."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value
