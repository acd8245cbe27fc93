"""What is measured: our own values and other libraries, each of which holds a model to a JSON Schema, token by token.

The libraries have their own defaults, but for keys that are not listed: a schema allows these.
"""

import importlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle
from time import process_time_ns
from typing import Any, ClassVar, Final

import numpy as np
import torch

from eval.bench.failures import FAILURES
from eval.errors import EvalError
from lookup.errors import ToolDecodingError
from lookup.schema.value_schema import value_schema
from lookup.values.grammar import schema_grammar
from tooldecoding.calls.value_end import ValueState
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.hermes import HERMES
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.likeliest import likeliest
from tooldecoding.tokens.token_table import TokenTable

REFUSALS: Final = (*FAILURES, ArithmeticError, MemoryError, ToolDecodingError)
"""What an engine raises for a schema that it has no grammar of."""

_ROWS: Final = 8
"""Rows of random logits that take turns."""
_SEARCHES: Final = 4
"""Searches in one instance."""
_PLACE: Final = re.compile(r"^\[[\d:]+\] \S+ ")
"""Time and line of the source, with which xgrammar's messages begin."""


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
    """

    name: ClassVar[str]
    package: ClassVar[str]

    @abstractmethod
    def __init__(self, tokenizer: str) -> None: ...

    @abstractmethod
    def compile(self, schema: Any) -> None:
        """Make the grammar, until it has answered for the first token; REFUSALS if there is none of this schema.
        ``take`` may still find that out."""

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


class OwnEngine(Engine):
    """Values as the decoder writes them in JSON, where ``}`` or a comma follows."""

    name = "tool-decoding"
    package = "tooldecoding"

    def __init__(self, tokenizer: str) -> None:
        self._table = TokenTable(load_tokenizer(tokenizer))
        rows = torch.randn(_ROWS, len(self._table.texts), generator=torch.Generator().manual_seed(0))
        self._logits = cycle([NextTokenLogits(row) for row in rows])

    def compile(self, schema: Any) -> None:
        """See Engine."""
        self._schema = value_schema(schema)
        self._grammar = schema_grammar(self._schema, "json")
        self.start()
        self._state.first_bytes()

    def notes(self) -> Sequence[str]:
        """See Engine."""
        return self._schema.notes

    def start(self) -> None:
        """See Engine."""
        self._state = ValueState(self._grammar, HERMES)
        self._given = self._grammar.opener.encode()

    def take(self, token: int) -> bool:
        """Take a token. The opening bracket or quote is given, so the tokens that write it write only what goes on."""
        piece = self._table.texts[token]
        if piece is None or self._state.closed:
            return False
        if self._given:
            same = min(len(self._given), len(piece))
            if self._given[:same] != piece[:same]:
                return False
            self._given, piece = self._given[same:], piece[same:]
        if not piece:
            return True
        wanted = len(self._state.tail) + len(piece)
        step = self._state(piece)
        if step is None:
            return False
        self._state.write(piece)
        return len(step.value.encode()) + len(step.tail) == wanted  # else the value ended inside the token

    def complete(self) -> bool:
        """See Engine."""
        state = self._state
        return not self._given and not state.tail and (state.closed or self._grammar.complete(state.text))

    def allows(self, value: Any) -> bool:
        """See Engine."""
        try:
            self._schema.check(value)
        except (ToolDecodingError, ValueError):
            return False
        return True

    def search(self, tokens: Sequence[int]) -> list[int]:
        """Search with random logits, under which nearly every likely token is refused."""
        every = max(1, len(tokens) // _SEARCHES)
        times = []
        self.start()
        for number, token in enumerate(tokens):
            if number % every == every - 1 and not self._given and not self._state.closed:
                times.append(self._search())
            self.take(token)
        return times

    def _search(self) -> int:
        logits = next(self._logits)
        _ = logits.best  # sampling needs it without a constraint, too
        start = process_time_ns()
        likeliest(logits, self._state, self._table, b"")
        return process_time_ns() - start


class LLGuidance(Engine):
    """llguidance."""

    name = package = "llguidance"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("llguidance")
        masks = importlib.import_module("llguidance.numpy")
        self._fill = masks.fill_next_token_bitmask
        self._tokenizer = importlib.import_module("llguidance.hf").from_tokenizer(load_tokenizer(tokenizer))
        self._mask = masks.allocate_token_bitmask(1, self._tokenizer.vocab_size)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        matcher = self._library.LLMatcher
        self._fresh = matcher(self._tokenizer, matcher.grammar_from_json_schema(json.dumps(schema)))
        self.start()
        self._fill(self._matcher, self._mask, 0)
        self._demand_no_error()

    def start(self) -> None:
        """See Engine."""
        self._matcher = self._fresh.deep_copy()

    def take(self, token: int) -> bool:
        """See Engine."""
        self._fill(self._matcher, self._mask, 0)
        taken = bool(self._mask[0, token // 32] >> (token % 32) & 1) and self._matcher.consume_token(token)
        if not taken:
            self._demand_no_error()
        return taken

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._matcher.is_accepting()
        return done

    def _demand_no_error(self) -> None:
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())


class XGrammar(Engine):
    """xgrammar."""

    name = package = "xgrammar"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("xgrammar")
        loaded = load_tokenizer(tokenizer)
        about = self._library.TokenizerInfo.from_huggingface(loaded, vocab_size=len(loaded))
        self._compiler = self._library.GrammarCompiler(about, max_threads=1)
        self._mask = self._library.allocate_token_bitmask(1, about.vocab_size)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        try:
            self._grammar = self._compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None
        self.start()
        self._matcher.fill_next_token_bitmask(self._mask)

    def start(self) -> None:
        """See Engine."""
        self._matcher = self._library.GrammarMatcher(self._grammar)

    def take(self, token: int) -> bool:
        """See Engine."""
        self._matcher.fill_next_token_bitmask(self._mask)
        taken: bool = self._matcher.accept_token(token)
        return taken

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._matcher.is_completed()
        return done


class Outlines(Engine):
    """outlines, whose grammars of JSON Schemas are those of outlines-core."""

    name = "outlines"
    package = "outlines-core"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("outlines_core")
        self._pattern = importlib.import_module("outlines_core.json_schema").build_regex_from_schema
        loaded = load_tokenizer(tokenizer)
        ids: dict[bytes, list[int]] = {}
        table = TokenTable(loaded)
        for token, text in enumerate(table.texts):
            if text and token != loaded.eos_token_id:
                ids.setdefault(text, []).append(token)
        self._vocabulary = self._library.Vocabulary(loaded.eos_token_id, ids)
        self._mask = np.full((len(table.texts) + 31) // 32, -1, dtype=np.int32)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        self._index = self._library.Index(self._pattern(json.dumps(schema)), self._vocabulary)
        self.start()
        self._fill()

    def start(self) -> None:
        """See Engine."""
        self._guide = self._library.Guide(self._index)

    def take(self, token: int) -> bool:
        """See Engine."""
        self._fill()
        if not self._mask[token // 32] >> (token % 32) & 1:
            return False
        self._guide.advance(token, return_tokens=False)
        return True

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._guide.is_finished()
        return done

    def _fill(self) -> None:
        self._guide.write_mask_into(self._mask.ctypes.data, self._mask.size, self._mask.itemsize)


OWN: type[Engine] = OwnEngine
PEERS: Final[Mapping[str, type[Engine]]] = {peer.name: peer for peer in (LLGuidance, XGrammar, Outlines)}
"""Name -> library."""


def chosen(names: Sequence[str] | None) -> dict[str, type[Engine]]:
    """Return our engine and those of the names, by name and version; None stands for all that are installed.

    Raises
    ------
    EvalError
        If one of the names is not installed.
    """
    engines = {f"{OWN.name} {version(OWN.package)}": OWN}
    for name in PEERS if names is None else names:
        package = PEERS[name].package
        try:
            engines[f"{name} {version(package)}"] = PEERS[name]
        except PackageNotFoundError:
            if names is not None:
                raise EvalError(f"--peers: {name} is not installed; pip install {package}") from None
    return engines
