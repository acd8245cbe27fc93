"""Other libraries that hold a model to a grammar, token by token: greedy decoding under their token masks."""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from eval.errors import FAILURES, EvalError, failure
from eval.methods.answer_writer import AnswerWriter, write_together
from eval.methods.call_grammar import Grammar, call_grammar
from eval.methods.prediction import Prediction
from tooldecoding.decoder import ToolDecoder
from tooldecoding.request import Request, callable_tools
from tooldecoding.result import Counters
from tooldecoding.tokens.branch import Pick
from tooldecoding.tokens.token_table import TokenTable, is_characters
from tooldecoding.tokens.token_texts import END

Bits = np.ndarray[Any, np.dtype[np.int32]]
"""Which tokens are allowed; a bit each, 32 in each number."""


@dataclass(frozen=True)
class Matcher:
    """The state of one answer.

    Attributes
    ----------
    allowed : callable
        Which tokens may come next; those that end a turn only where the grammar may end.
    take : callable
        Goes on behind a token that is allowed.
    """

    allowed: Callable[[], Bits]
    take: Callable[[int], None]


Peer = Callable[[Grammar], Matcher]
"""A library with a model's tokenizer: a grammar -> the state at the beginning of an answer."""


def end_tokens(table: TokenTable) -> list[int]:
    """Return the tokens that end a turn."""
    return [token for token, text in table.special.texts.items() if text == END]


def xgrammar(table: TokenTable) -> Peer:
    """xgrammar."""
    library = importlib.import_module("xgrammar")
    size = len(table.texts)
    about = library.TokenizerInfo.from_huggingface(table.tokenizer, vocab_size=size, stop_token_ids=end_tokens(table))
    compiler = library.GrammarCompiler(about)

    def matcher(grammar: Grammar) -> Matcher:
        named = {
            name: library.Grammar.from_json_schema(json.dumps(schema), any_whitespace=False, strict_mode=False)
            for name, schema in grammar.schemas.items()
        }
        lark = grammar.lark + "".join(f"{name}: @{name}\n" for name in named)
        read = library.Grammar.from_lark(lark, tokenizer_info=about, named_grammars=named)
        own, mask = library.GrammarMatcher(compiler.compile_grammar(read)), library.allocate_token_bitmask(1, size)

        def allowed() -> Bits:
            own.fill_next_token_bitmask(mask)
            return np.asarray(mask[0].numpy())

        def take(token: int) -> None:
            if not own.accept_token(token):
                raise EvalError(f"xgrammar does not go on behind token {token}, which it allowed")

        return Matcher(allowed, take)

    return matcher


def llguidance(table: TokenTable) -> Peer:
    """llguidance."""
    library, masks = importlib.import_module("llguidance"), importlib.import_module("llguidance.numpy")
    size = len(table.texts)
    reader = importlib.import_module("llguidance.hf")
    tokenizer = reader.from_tokenizer(table.tokenizer, n_vocab=size, eos_token=end_tokens(table))
    spaces = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}  # as call formats write

    def matcher(grammar: Grammar) -> Matcher:
        inline = {name: json.dumps({**schema, "x-guidance": spaces}) for name, schema in grammar.schemas.items()}
        lark = grammar.lark + "".join(f"{name}: %json {schema}\n" for name, schema in inline.items())
        own = library.LLMatcher(tokenizer, library.LLMatcher.grammar_from_lark(lark), log_level=0)
        if own.is_error():
            raise ValueError(own.get_error())
        mask = masks.allocate_token_bitmask(1, size)

        def demand_no_error() -> None:
            if own.is_error():
                raise EvalError(f"llguidance gives up: {own.get_error().splitlines()[0]}")

        def allowed() -> Bits:
            masks.fill_next_token_bitmask(own, mask, 0)
            demand_no_error()
            return np.asarray(mask[0])

        def take(token: int) -> None:
            own.consume_token(token)
            demand_no_error()

        return Matcher(allowed, take)

    return matcher


def unpacked(bits: Bits, vocabulary: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return bits as booleans; shape (vocabulary,)."""
    return np.unpackbits(bits.view(np.uint8), bitorder="little")[:vocabulary].astype(np.bool_)


PEERS: Final[Mapping[str, Callable[[TokenTable], Peer]]] = {"xgrammar": xgrammar, "llguidance": llguidance}
"""Method, which is also the package -> library."""


def load_peer(name: str, table: TokenTable) -> Peer:
    """Return a library for a tokenizer and vocabulary; EvalError if it does not work with it, or refuses a grammar."""
    try:
        peer = PEERS[name](table)
    except FAILURES as error:
        raise EvalError(f"{name} does not work with this model's tokenizer: {failure(error)}") from None

    def matcher(grammar: Grammar) -> Matcher:
        try:
            return peer(grammar)
        except FAILURES as error:
            raise EvalError(f"{name} refuses the grammar of these tools: {failure(error)}") from None

    return matcher


def run_peer(decoder: ToolDecoder, peer: Peer, requests: Sequence[Request]) -> list[Prediction]:
    """Decode several prompts together, each with its own tools and options.

    With tool choice ``auto`` the text is that of unconstrained greedy decoding until the model opens a call, and an
    answer that opens none has no constraint. From there on, or from the beginning if there must be a call, the grammar
    decides which tokens are allowed. A text and its calls have ``max_text_tokens`` together.

    ToolDecodingError as ``ToolDecoder.run``, and if the library refuses a grammar.
    """
    writers, seconds = write_together(decoder, requests, partial(_Writer, peer))
    return [writer.prediction(seconds, len(requests)) for writer in writers]


class _Writer(AnswerWriter):
    """Writes free text, calls, or both."""

    def __init__(self, peer: Peer, *start: Any) -> None:
        super().__init__(*start)
        self._peer = peer

    async def write(self) -> None:
        """Write the answer."""
        choice, opener = self.request.options.choice, self.format.start(0)
        if choice in ("auto", "none"):
            trigger = self.format.trigger if choice == "auto" else ""
            opened = await self.free_text(trigger)
            if opened:
                await self._calls(opener.removeprefix(trigger))
        else:
            await self._calls(self.format.lead + opener)
        self.branch.end()

    async def _calls(self, opener: str) -> None:
        """Write calls behind the pending text and what is left of the opener."""
        branch = self.branch
        if not is_characters(branch.pending.text):
            branch.settle()
        begun = branch.pending.text.decode() + opener
        tools, most = callable_tools(self.request).tools, self.request.options.max_calls
        matcher = self._peer(call_grammar(begun, tools, self.format, most, self.table.special))
        ends = end_tokens(self.table)
        while len(branch.ids) < self.limit:
            allowed = unpacked(matcher.allowed(), len(self.table.texts))
            if not np.delete(allowed, ends).any():
                break  # nothing but the end is left, which needs no pass
            logits = await branch.fed.compute()
            token = int(np.where(allowed, logits.values, -np.inf).argmax())
            if token in ends:
                break
            matcher.take(token)
            branch.take(Pick(token, self.table.texts[token] or b"", logits), "constrained")

    def prediction(self, seconds: float, together: int) -> Prediction:
        """Return the prediction after ``write``; prompts that are decoded together share the seconds."""
        counters = Counters.of(self.usage, self.tally, seconds)
        return Prediction(self.written.strip(), counters=counters.to_json(), seconds=seconds / together)
