"""How fast documentation is read, and how the time grows with the text: ``tooldecoding bench lookup``."""

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
"""Each text is read at an eighth, a quarter, a half and the whole of the largest size."""

LONG: Final = 1.0
"""Seconds from which one run of a text is enough."""

_PROMPT: Final = "You compose calls. Use only these [tools], {{please}}:\n{}\n\nUser: what now?\nCalls: "


@dataclass(frozen=True)
class Reading:
    """One text read several times: its characters, the best processor seconds, and what came of it."""

    name: str
    characters: int
    seconds: float
    outcome: str

    def to_json(self) -> dict[str, Any]:
        """The object that ``tooldecoding bench lookup --json`` prints."""
        return asdict(self)


def machine() -> str:
    """The machine as the figures should name it."""
    return f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one core"


def read_forms(repeats: int) -> Iterator[Reading]:
    """128 tools inside a prompt, in each form."""
    tools = sample_tools(TOOLS)
    for name, printed in FORMS.items():
        yield _read(name, _PROMPT.format(printed(tools)), repeats)


def growing() -> dict[str, Callable[[int], str]]:
    """Texts of about so many characters, whose time is to grow with that: documentation, prose, hostile texts."""

    def many(printed: Callable[[list[dict[str, Any]]], str]) -> Callable[[int], str]:
        each = len(printed(sample_tools(TOOLS))) / TOOLS
        return lambda characters: _PROMPT.format(printed(sample_tools(max(1, int(characters / each)))))

    documentation = {f"documentation: {name}": many(printed) for name, printed in FORMS.items()}
    prose = {"prose": lambda n: "See f(x) and {y}: it's [not] a tool.\n" * (n // 37)}
    return documentation | prose | {f"hostile: {name}": text for name, text in HOSTILE.items()}


def read_growing(name: str, text: Callable[[int], str], megabytes: float, repeats: int) -> list[Reading]:
    """One kind of text in four lengths, each twice the one before."""
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
