"""Writes the answers of several prompts together, token by token, each on a branch of its own."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decode_loop import DecodeLoop
from tooldecoding.decoding.free_text import TextMode, TextRules
from tooldecoding.engines.engine import Engine
from tooldecoding.request import Request
from tooldecoding.tokens.branch import Branch, Tally


class Start(NamedTuple):
    """Where an answer begins: the decoder, whose options are not used, the prompt's tokens, and the engine's branch."""

    decoder: ToolDecoder
    request: Request
    prompt: list[int]
    engine: Engine
    root: int


class AnswerWriter(ABC):
    """Writes the answer to one request on a branch."""

    def __init__(self, start: Start) -> None:
        self.decoder, self.request, self.prompt, engine, root = start
        self.table = self.decoder.table
        self.format = self.request.options.call_format.bound(self.table.special.bound)
        self.tally = Tally()
        self.usage = engine.usage(root)
        self.branch = Branch.behind(self.prompt, engine, root, self.table, self.tally, self.decoder.context)
        self.held = self.branch.pending.text
        tools, options = self.decoder.compiled_tools(self.request), self.request.options
        self.limit = tools.fitting(options.max_text_tokens, options.choice, self.branch.room)

    @abstractmethod
    async def write(self) -> None:
        """Write the answer."""

    async def free_text(self, opener: str) -> bool:
        """Let the model write anything; returns whether it ended with what opens a call."""
        mode = TextMode(self.branch, TextRules(opener, line_end=self.request.stop))
        text = await mode.write(lambda: self.limit)
        return text.branch is not None


Writer = TypeVar("Writer", bound=AnswerWriter)


def write_together(
    decoder: ToolDecoder, requests: Sequence[Request], writer: Callable[[Start], Writer]
) -> tuple[list[Writer], float]:
    """Return the writers of some answers after they have written, and the seconds that it took.

    ToolDecodingError as ``ToolDecoder.run``.
    """
    requests = [replace(r, tools=r.tools.decided(r.options.unknown_keys)) for r in requests]
    prompts = [decoder.prompt_ids(r) for r in requests]
    begun = time.perf_counter()
    loop = DecodeLoop(engine := decoder.new_engine())
    roots = engine.open(len(requests))
    starts = (Start(decoder, r, p, engine, root) for r, p, root in zip(requests, prompts, roots, strict=True))
    writers = [writer(start) for start in starts]
    loop.finish([loop.spawn(root, one.write()) for root, one in zip(roots, writers, strict=True)])
    return writers, time.perf_counter() - begun
