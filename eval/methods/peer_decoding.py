"""Greedy decoding under another library's token masks: free text as the model writes it, then calls by a grammar."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eval.methods.call_grammar import call_grammar
from eval.methods.peers import Matcher, Peer, end_tokens
from eval.methods.prediction import Prediction
from tooldecoding.calls.free_text import TextMode, TextRules
from tooldecoding.decoder import Request, ToolDecoder, callable_tools
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.steps import Steps, drive, gather
from tooldecoding.result import Counters
from tooldecoding.tokens.branch import Branch, Pick, Tally
from tooldecoding.tokens.token_table import is_characters


def run_peer(
    decoder: ToolDecoder, peer: Peer, requests: Sequence[Request], jump_forward: bool = False
) -> list[Prediction]:
    """Decode several prompts together, each with its own tools and options.

    With tool choice ``auto`` the text is that of unconstrained greedy decoding until the model opens a call, and an
    answer that opens none has no constraint. From there on, or from the beginning if there must be a call, the grammar
    decides which tokens are allowed. A text and its calls have ``max_text_tokens`` together.

    Parameters
    ----------
    decoder : ToolDecoder
        Gives the model, its tokenizer and the strategy; ``decoder.options`` is not used.
    jump_forward : bool
        Whether tokens that the grammar forces are fed without a forward pass of their own.

    Raises
    ------
    ToolDecodingError
        As ``ToolDecoder.run``, and if the library refuses a grammar.
    """
    requests = [replace(r, tools=r.tools.decided(r.options.unknown_keys)) for r in requests]
    prompts = [decoder.prompt_ids(r) for r in requests]
    start = time.perf_counter()
    engine = decoder.new_engine()
    writers = [
        _Writer(decoder, peer, jump_forward, request, ids, engine, root)
        for request, ids, root in zip(requests, prompts, engine.open(len(requests)), strict=True)
    ]
    drive(gather([writer.write() for writer in writers]), engine)
    seconds = time.perf_counter() - start
    return [writer.prediction(seconds, len(requests)) for writer in writers]


class _Writer:
    """Writes the answer to one request on a branch."""

    def __init__(
        self,
        decoder: ToolDecoder,
        peer: Peer,
        jump_forward: bool,
        request: Request,
        prompt: Sequence[int],
        engine: Engine,
        root: int,
    ) -> None:
        self._decoder = decoder
        self._table = decoder.table
        self._peer = peer
        self._jumps = jump_forward
        self._request = request
        self._tally = Tally()
        self._usage = engine.usage(root)
        self._branch = Branch.behind(prompt, engine, root, decoder.table, self._tally, decoder.context)
        self._held = len(self._branch.pending.text)
        self._format = request.options.call_format.bound(decoder.table.special.bound)
        self._limit = decoder.text_limit(request, self._branch)

    def write(self) -> Steps[None]:
        """Write free text, calls, or both."""
        choice, opener = self._request.options.choice, self._format.start(0)
        if choice in ("auto", "none"):
            trigger = self._format.trigger if choice == "auto" else ""
            mode = TextMode(self._branch, TextRules(trigger, line_end=self._request.stop))
            text = yield from mode.write(lambda: self._limit)
            if text.branch is not None:
                yield from self._calls(opener.removeprefix(trigger))
        else:
            yield from self._calls(self._format.lead + opener)
        self._branch.end()

    def _calls(self, opener: str) -> Steps[None]:
        """Write calls behind the pending text and what is left of the opener."""
        if not is_characters(self._branch.pending.text):
            self._branch.settle()
        begun = self._branch.pending.text.decode() + opener
        tools, most = callable_tools(self._request).tools, self._request.options.max_calls
        matcher = self._peer.matcher(call_grammar(begun, tools, self._format, most, self._table.special))
        ends = end_tokens(self._table)
        while len(self._branch.ids) < self._limit:
            if self._jumps:
                self._jump(matcher)
            allowed = matcher.allowed()
            if not np.delete(allowed, ends).any():
                break  # nothing but the end is left, which needs no pass
            logits = yield from self._branch.fed.compute()
            token = int(np.where(allowed, logits.values, -np.inf).argmax())
            if token in ends:
                break
            matcher.take(token)
            self._branch.take(Pick(token, self._table.texts[token] or b"", logits), "constrained")

    def _jump(self, matcher: Matcher) -> None:
        """Write the tokens that are forced."""
        for token in matcher.forced(self._branch.pending.context):
            matcher.take(token)
            self._branch.force(token)

    def prediction(self, seconds: float, together: int) -> Prediction:
        """Return the prediction after ``write``; prompts that are decoded together share the seconds."""
        written = self._table.join(self._branch.ids)[self._held :].decode(errors="replace")
        counters = Counters.of(self._usage, self._tally, seconds)
        return Prediction(
            self._table.special.shown(written).strip(), counters=counters.to_json(), seconds=seconds / together
        )
