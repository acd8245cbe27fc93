"""Writes the answers of several prompts together, token by token, each on a branch of its own."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decode_loop import DecodeLoop
from tooldecoding.decoding.free_text import TextMode, TextRules
from tooldecoding.engines.engine import BranchId, Engine
from tooldecoding.request import Request
from tooldecoding.tokens.branch import Branch, Tally


class AnswerWriter(ABC):
    """Writes the answer to one request on a branch, behind its prompt's tokens; the decoder's options are not used."""

    def __init__(
        self, decoder: ToolDecoder, request: Request, prompt: list[int], engine: Engine, root: BranchId
    ) -> None:
        self.request, self.table = request, decoder.table
        self.format = request.options.call_format.bound(self.table.special.bound)
        self.tally = Tally()
        self.usage = engine.usage(root)
        self.branch = Branch.behind(prompt, engine, root, self.table, self.tally, decoder.context)
        self.held = self.branch.pending.text
        tools, options = decoder.compiled_tools(request), request.options
        self.limit = tools.fitting(options.max_text_tokens, options.choice, self.branch.room)

    @abstractmethod
    async def write(self) -> None:
        """Write the answer."""

    @property
    def written(self) -> str:
        """What stands behind the prompt, without the text of its last token, which the branch repeats."""
        text = self.table.join(self.branch.ids)[len(self.held) :]
        return self.table.special.shown(text.decode(errors="replace"))

    async def free_text(self, opener: str) -> bool:
        """Let the model write anything; returns whether it ended with what opens a call."""
        mode = TextMode(self.branch, TextRules(opener, line_end=self.request.stop))
        text = await mode.write(lambda: self.limit)
        return text.branch is not None


Writer = TypeVar("Writer", bound=AnswerWriter)


def write_together(
    decoder: ToolDecoder, requests: Sequence[Request], writer: Callable[..., Writer]
) -> tuple[list[Writer], float]:
    """Return the writers of some answers after they have written, and the seconds that it took.

    ToolDecodingError as ``ToolDecoder.run``.

    ``writer``: takes what ``AnswerWriter`` takes.
    """
    requests = [replace(r, tools=r.tools.decided(r.options.unknown_keys)) for r in requests]
    prompts = [decoder.prompt_ids(r) for r in requests]
    begun = time.perf_counter()
    loop = DecodeLoop(engine := decoder.new_engine())
    roots = engine.open(len(requests))
    writers = [writer(decoder, r, p, engine, root) for r, p, root in zip(requests, prompts, roots, strict=True)]
    loop.finish([loop.spawn(root, one.write()) for root, one in zip(roots, writers, strict=True)])
    return writers, time.perf_counter() - begun
