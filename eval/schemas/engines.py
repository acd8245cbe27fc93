"""What is measured: our own values and other libraries, each of which holds a model to a JSON Schema, token by token.

The libraries have their own defaults, but for keys that are not listed: a schema allows these.
"""

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

import numpy as np

from eval.bench.failures import FAILURES
from eval.errors import EvalError
from lookup.errors import ToolDecodingError
from lookup.schema.value_schema import value_schema
from lookup.values.grammar import ValueGrammar, schema_grammar
from tooldecoding.calls.value_end import ValueState
from tooldecoding.formats.json_objects import HERMES
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

REFUSALS: Final = (*FAILURES, ArithmeticError, MemoryError, ToolDecodingError)
"""What an engine raises for a schema that it has no grammar of."""

_PLACE: Final = re.compile(r"^\[[\d:]+\] \S+ ")
"""Time and line of the source, with which xgrammar's messages begin."""


class Instance(NamedTuple):
    """An instance that is being written.

    Attributes
    ----------
    take : callable
        Takes the next token, if it is allowed; this is timed. It may still raise REFUSALS.
    complete : callable
        Whether the instance may end here.
    """

    take: Callable[[int], bool]
    complete: Callable[[], bool]


class Grammar(NamedTuple):
    """The grammar of one schema.

    Attributes
    ----------
    start : callable
        Begins an instance.
    allows : callable
        Whether a finished value passes the check after decoding; always true if there is none.
    notes : callable
        What the grammar does not enforce. Asked for last, because it may make all that was not needed before.
    """

    start: Callable[[], Instance]
    allows: Callable[[Any], bool] = lambda value: True
    notes: Callable[[], Sequence[str]] = tuple


Compile = Callable[[Any], Grammar]
"""Makes the grammar of a schema, until it has answered for the first token; REFUSALS if there is none."""


class Engine(NamedTuple):
    """One engine: its name, the package that pip installs, and what loads it for a tokenizer (folder or hub id)."""

    name: str
    package: str
    load: Callable[[str], Compile]


def load_own(tokenizer: str) -> Compile:
    """Load our own values, as the decoder writes them in JSON, where ``}`` or a comma follows."""
    table = TokenTable(load_tokenizer(tokenizer))

    def compiled(schema: Any) -> Grammar:
        checked = value_schema(schema)
        grammar = schema_grammar(checked, "json")

        def start() -> Instance:
            own = _OwnInstance(grammar, table)
            return Instance(own.take, own.complete)

        def allows(value: Any) -> bool:
            try:
                checked.check(value)
            except (ToolDecodingError, ValueError):
                return False
            return True

        ValueState(grammar, HERMES).first_bytes()
        return Grammar(start, allows, lambda: checked.notes)

    return compiled


class _OwnInstance:
    """A value whose opening bracket or quote is given, so the tokens that write it write only what goes on."""

    def __init__(self, grammar: ValueGrammar, table: TokenTable) -> None:
        self._grammar = grammar
        self._state = ValueState(grammar, HERMES)
        self._given = grammar.opener.encode()
        self._table = table

    def take(self, token: int) -> bool:
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
        state = self._state
        return not self._given and not state.tail and (state.closed or self._grammar.complete(state.text))


def load_llguidance(tokenizer: str) -> Compile:
    """Load llguidance."""
    new = importlib.import_module("llguidance").LLMatcher
    masks = importlib.import_module("llguidance.numpy")
    known = importlib.import_module("llguidance.hf").from_tokenizer(load_tokenizer(tokenizer))
    mask = masks.allocate_token_bitmask(1, known.vocab_size)

    def compiled(schema: Any) -> Grammar:
        fresh = new(known, new.grammar_from_json_schema(json.dumps(schema)))

        def start() -> Instance:
            matcher = fresh.deep_copy()

            def take(token: int) -> bool:
                masks.fill_next_token_bitmask(matcher, mask, 0)
                taken = _has(mask[0], token) and bool(matcher.consume_token(token))
                if not taken and matcher.is_error():
                    raise ValueError(matcher.get_error())
                return taken

            return Instance(take, matcher.is_accepting)

        masks.fill_next_token_bitmask(fresh.deep_copy(), mask, 0)
        if fresh.is_error():
            raise ValueError(fresh.get_error())
        return Grammar(start)

    return compiled


def load_xgrammar(tokenizer: str) -> Compile:
    """Load xgrammar."""
    library = importlib.import_module("xgrammar")
    loaded = load_tokenizer(tokenizer)
    about = library.TokenizerInfo.from_huggingface(loaded, vocab_size=len(loaded))
    compiler = library.GrammarCompiler(about, max_threads=1)
    mask = library.allocate_token_bitmask(1, about.vocab_size)

    def compiled(schema: Any) -> Grammar:
        try:
            grammar = compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None

        def start() -> Instance:
            matcher = library.GrammarMatcher(grammar)

            def take(token: int) -> bool:
                matcher.fill_next_token_bitmask(mask)
                return bool(matcher.accept_token(token))

            return Instance(take, matcher.is_completed)

        library.GrammarMatcher(grammar).fill_next_token_bitmask(mask)
        return Grammar(start)

    return compiled


def load_outlines(tokenizer: str) -> Compile:
    """Load outlines, whose grammars of JSON Schemas are those of outlines-core."""
    library = importlib.import_module("outlines_core")
    pattern = importlib.import_module("outlines_core.json_schema").build_regex_from_schema
    loaded = load_tokenizer(tokenizer)
    texts, ids = TokenTable(loaded).texts, dict[bytes, list[int]]()
    for token, text in enumerate(texts):
        if text and token != loaded.eos_token_id:
            ids.setdefault(text, []).append(token)
    vocabulary = library.Vocabulary(loaded.eos_token_id, ids)
    mask = np.full((len(texts) + 31) // 32, -1, dtype=np.int32)

    def compiled(schema: Any) -> Grammar:
        index = library.Index(pattern(json.dumps(schema)), vocabulary)

        def start() -> Instance:
            guide = library.Guide(index)

            def take(token: int) -> bool:
                guide.write_mask_into(mask.ctypes.data, mask.size, mask.itemsize)
                allowed = _has(mask, token)
                if allowed:
                    guide.advance(token, return_tokens=False)
                return allowed

            return Instance(take, guide.is_finished)

        library.Guide(index).write_mask_into(mask.ctypes.data, mask.size, mask.itemsize)
        return Grammar(start)

    return compiled


def _has(mask: Any, token: int) -> bool:
    """Whether a row of bits, 32 in each number, has a token's."""
    return bool(mask[token // 32] >> (token % 32) & 1)


OWN = Engine("tool-decoding", "tooldecoding", load_own)
PEERS: Mapping[str, Engine] = {
    "llguidance": Engine("llguidance", "llguidance", load_llguidance),
    "xgrammar": Engine("xgrammar", "xgrammar", load_xgrammar),
    "outlines": Engine("outlines", "outlines-core", load_outlines),
}
"""Name -> library."""


def chosen(names: Sequence[str] | None) -> dict[str, Engine]:
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
