"""Measures the time to read documentation, and how it grows with the length of the text."""

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from eval.bench.documentation.hostile import HOSTILE
from eval.bench.documentation.samples import FORMS, sample_tools
from lookup import DocumentationError, extract

TOOLS: Final = 128
STEPS: Final = 4
"""Number of lengths of each text; each is twice the one before."""

LONG: Final = 1.0
"""A text is read only once if that takes at least this many seconds."""

_PROMPT: Final = "You compose calls. Use only these [tools], {{please}}:\n{}\n\nUser: what now?\nCalls: "


@dataclass(frozen=True)
class Reading:
    """A text that was read several times: its characters, the best processor seconds, and the outcome."""

    name: str
    characters: int
    seconds: float
    outcome: str

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``tooldecoding bench lookup --json`` prints."""
        return asdict(self)


def machine() -> str:
    """Describe the machine."""
    return f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one core"


def read_forms(repeats: int) -> Iterator[Reading]:
    """Read 128 tools inside a prompt, in each form."""
    tools = sample_tools(TOOLS)
    for name, printed in FORMS.items():
        yield _read(name, _PROMPT.format(printed(tools)), repeats)


def growing() -> dict[str, Callable[[int], str]]:
    """Return functions that make texts of about so many characters: documentation, prose, hostile texts."""

    def many(printed: Callable[[list[dict[str, Any]]], str]) -> Callable[[int], str]:
        each = len(printed(sample_tools(TOOLS))) / TOOLS
        return lambda characters: _PROMPT.format(printed(sample_tools(max(1, int(characters / each)))))

    documentation = {f"documentation: {name}": many(printed) for name, printed in FORMS.items()}
    prose = {"prose": lambda n: "See f(x) and {y}: it's [not] a tool.\n" * (n // 37)}
    return documentation | prose | {f"hostile: {name}": text for name, text in HOSTILE.items()}


def read_growing(name: str, text: Callable[[int], str], megabytes: float, repeats: int) -> list[Reading]:
    """Read one kind of text in four lengths, each twice the one before."""
    sizes = [int(megabytes * 1e6) >> step for step in reversed(range(STEPS))]
    return [_read(name, text(size), repeats) for size in sizes]


def _read(name: str, text: str, repeats: int) -> Reading:
    best, outcome = float("inf"), ""
    for _ in range(repeats):
        start = time.process_time()
        try:
            outcome = f"{len(extract(text))} tools"
        except DocumentationError as error:
            outcome = str(error)
        best = min(best, time.process_time() - start)
        if best > LONG:
            break
    return Reading(name, len(text), best, outcome)
