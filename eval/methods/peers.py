"""Other libraries that hold a model to a grammar, token by token, each behind the same three calls."""

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from transformers import PreTrainedTokenizerBase

from eval.bench.failures import FAILURES, failure
from eval.errors import EvalError
from eval.methods.call_grammar import Grammar
from tooldecoding.tokens.special_texts import END
from tooldecoding.tokens.token_table import TokenTable


def end_tokens(table: TokenTable) -> list[int]:
    """Return the tokens that end a turn."""
    return [token for token, text in table.special.texts.items() if text == END]


Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""Which tokens are allowed; shape (vocabulary,)."""


class Matcher(ABC):
    """The state of one answer."""

    @abstractmethod
    def allowed(self) -> Mask:
        """Return which tokens may come next; those that end a turn only where the grammar may end."""

    @abstractmethod
    def take(self, token: int) -> None:
        """Go on behind a token that is allowed."""

    @abstractmethod
    def forced(self, context: bytes) -> Sequence[int]:
        """Return tokens that must come next whatever the model would write; maybe not all of them.

        Parameters
        ----------
        context : bytes
            The end of the text so far.
        """


class Peer(ABC):
    """One library.

    Parameters
    ----------
    table : TokenTable
        Of the model's tokenizer and vocabulary.

    Attributes
    ----------
    name : str
        In ``--method``; also the package.
    """

    name: ClassVar[str]

    def __init__(self, table: TokenTable) -> None:
        self._table = table
        self._vocabulary = len(table.texts)
        try:
            self._prepare(table.tokenizer, end_tokens(table))
        except FAILURES as error:
            raise EvalError(f"{self.name} does not work with this model's tokenizer: {failure(error)}") from None

    def matcher(self, grammar: Grammar) -> Matcher:
        """Return the state at the beginning of an answer.

        Raises
        ------
        EvalError
            If the library refuses the grammar.
        """
        try:
            return self._matcher(grammar)
        except FAILURES as error:
            raise EvalError(f"{self.name} refuses the grammar of these tools: {failure(error)}") from None

    @abstractmethod
    def _prepare(self, tokenizer: PreTrainedTokenizerBase, ends: list[int]) -> None: ...

    @abstractmethod
    def _matcher(self, grammar: Grammar) -> Matcher: ...


class XGrammar(Peer):
    """xgrammar."""

    name = "xgrammar"

    def _prepare(self, tokenizer: PreTrainedTokenizerBase, ends: list[int]) -> None:
        self._library = importlib.import_module("xgrammar")
        self._about = self._library.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=self._vocabulary, stop_token_ids=ends
        )
        self._compiler = self._library.GrammarCompiler(self._about)

    def _matcher(self, grammar: Grammar) -> Matcher:
        read = self._library.Grammar
        named = {
            name: read.from_json_schema(json.dumps(schema), any_whitespace=False)
            for name, schema in grammar.schemas.items()
        }
        lark = grammar.lark + "".join(f"{name}: @{name}\n" for name in named)
        compiled = self._compiler.compile_grammar(
            read.from_lark(lark, tokenizer_info=self._about, named_grammars=named)
        )
        mask = self._library.allocate_token_bitmask(1, self._vocabulary)
        return _XGrammarMatcher(self._library.GrammarMatcher(compiled), mask, self._table)


class _XGrammarMatcher(Matcher):
    def __init__(self, matcher: Any, mask: Any, table: TokenTable) -> None:
        self._own = matcher
        self._mask = mask
        self._table = table

    def allowed(self) -> Mask:
        self._own.fill_next_token_bitmask(self._mask)
        return _unpacked(self._mask.numpy(), len(self._table.texts))

    def take(self, token: int) -> None:
        if not self._own.accept_token(token):
            raise EvalError(f"xgrammar does not go on behind token {token}, which it allowed")

    def forced(self, context: bytes) -> Sequence[int]:
        try:
            text = self._own.find_jump_forward_string()
        except UnicodeDecodeError:  # inside a character
            return ()
        return self._table.sure_after(context, text.encode())  # its last tokens may be longer with what follows


class LLGuidance(Peer):
    """llguidance."""

    name = "llguidance"

    def _prepare(self, tokenizer: PreTrainedTokenizerBase, ends: list[int]) -> None:
        self._library = importlib.import_module("llguidance")
        self._masks = importlib.import_module("llguidance.numpy")
        reader = importlib.import_module("llguidance.hf")
        self._tokenizer = reader.from_tokenizer(tokenizer, n_vocab=self._vocabulary, eos_token=ends)

    def _matcher(self, grammar: Grammar) -> Matcher:
        lark = grammar.lark + "".join(f"{name}: {_inline(schema)}\n" for name, schema in grammar.schemas.items())
        new = self._library.LLMatcher
        matcher = new(self._tokenizer, new.grammar_from_lark(lark), log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        mask = self._masks.allocate_token_bitmask(1, self._vocabulary)
        return _LLGuidanceMatcher(matcher, self._masks.fill_next_token_bitmask, mask, self._vocabulary)


class _LLGuidanceMatcher(Matcher):
    def __init__(self, matcher: Any, fill: Any, mask: Any, vocabulary: int) -> None:
        self._own = matcher
        self._fill = fill
        self._mask = mask
        self._vocabulary = vocabulary

    def allowed(self) -> Mask:
        self._fill(self._own, self._mask, 0)
        self._demand_no_error()
        return _unpacked(self._mask, self._vocabulary)

    def take(self, token: int) -> None:
        self._own.consume_token(token)
        self._demand_no_error()

    def forced(self, context: bytes) -> Sequence[int]:
        tokens: list[int] = self._own.compute_ff_tokens()
        return tokens

    def _demand_no_error(self) -> None:
        if self._own.is_error():
            raise EvalError(f"llguidance gives up: {self._own.get_error().splitlines()[0]}")


def _inline(schema: Mapping[str, Any]) -> str:
    """Return a schema within Lark, with the white space that call formats write."""
    spaces = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%json {json.dumps({**schema, 'x-guidance': spaces})}"


def _unpacked(mask: "np.ndarray[Any, np.dtype[np.int32]]", vocabulary: int) -> Mask:
    """Return a row of bits as booleans."""
    return np.unpackbits(mask[0].view(np.uint8), bitorder="little")[:vocabulary].astype(np.bool_)


PEERS: Final[Mapping[str, type[Peer]]] = {peer.name: peer for peer in (XGrammar, LLGuidance)}
"""Method -> library."""
