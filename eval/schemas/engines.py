"""What is measured: our own values and other libraries, each of which holds a model to a JSON Schema, token by token.

The libraries are those of the methods of ``eval``; keys that are not listed are allowed, as JSON Schema has it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from eval.errors import FAILURES, EvalError
from eval.methods.call_grammar import Grammar as Rules
from eval.methods.peers import PEERS as LIBRARIES
from eval.methods.peers import Bits, end_tokens
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
    """One engine: its package, and what loads it for a tokenizer (folder or hub id)."""

    name: str
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


def load_library(name: str, tokenizer: str) -> Compile:
    """Load a library."""
    table = TokenTable(load_tokenizer(tokenizer))
    peer, ends = LIBRARIES[name](table), end_tokens(table)

    def compiled(schema: Any) -> Grammar:
        rules = Rules("start: schema\n", {"schema": schema if isinstance(schema, dict) else {"allOf": [schema]}})

        def start() -> Instance:
            matcher = peer(rules)

            def take(token: int) -> bool:
                allowed = _has(matcher.allowed(), token)
                if allowed:
                    matcher.take(token)
                return allowed

            return Instance(take, lambda: any(_has(matcher.allowed(), end) for end in ends))

        try:
            peer(rules).allowed()
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None
        return Grammar(start)

    return compiled


def _has(bits: Bits, token: int) -> bool:
    return bool(bits[token // 32] >> (token % 32) & 1)


OWN = Engine("tooldecoding", load_own)
PEERS: Mapping[str, Engine] = {name: Engine(name, partial(load_library, name)) for name in LIBRARIES}
"""Name -> library."""


def chosen(names: Sequence[str] | None) -> dict[str, Engine]:
    """Return our engine and those of the names, by name and version; None stands for all that are installed.

    Raises
    ------
    EvalError
        If one of the names is not installed.
    """
    engines = {f"{OWN.name} {version(OWN.name)}": OWN}
    for name in PEERS if names is None else names:
        try:
            engines[f"{name} {version(name)}"] = PEERS[name]
        except PackageNotFoundError:
            if names is not None:
                raise EvalError(f"--peers: {name} is not installed; pip install {name}") from None
    return engines
