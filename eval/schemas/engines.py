"""What is measured: our own values and other libraries, each of which holds a model to a JSON Schema, token by token.

The libraries are those of the methods of ``eval``; keys that are not listed are allowed, as JSON Schema has it.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from eval.errors import FAILURES
from eval.methods.call_grammar import Grammar as Rules
from eval.methods.peers import PEERS as LIBRARIES
from eval.methods.peers import end_tokens
from lookup.errors import ToolDecodingError
from lookup.schema.value_schema import value_schema
from lookup.values.grammar import ValueGrammar, schema_grammar
from tooldecoding.calls.value_end import ValueState
from tooldecoding.formats.json_objects import HERMES
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

OWN: Final = "tooldecoding"

REFUSALS: Final = (*FAILURES, ArithmeticError, MemoryError, ToolDecodingError)
"""What an engine raises for a schema that it has no grammar of."""

_PLACE: Final = re.compile(r"^\[[\d:]+\] \S+ ")
"""Time and line of the source, with which xgrammar's messages begin."""


Take = Callable[[int | None], bool]
"""Takes the next token of an instance if it is allowed, or says, for None, whether it may end; may raise REFUSALS."""


class Grammar(NamedTuple):
    """The grammar of one schema.

    ``start`` begins an instance. ``allows`` is the check of a finished value. ``notes`` has what is not enforced while
    decoding; it is asked for last, because it may make all that was not needed before.
    """

    start: Callable[[], Take]
    allows: Callable[[Any], bool] = lambda value: True
    notes: Callable[[], Sequence[str]] = tuple


Compile = Callable[[Any], Grammar]
"""Makes the grammar of a schema, until it has answered for the first token; REFUSALS if there is none."""

Load = Callable[[str], Compile]


def load_own(tokenizer: str) -> Compile:
    """Load our own values, as the decoder writes them in JSON, where ``}`` or a comma follows."""
    table = TokenTable(load_tokenizer(tokenizer))

    def compiled(schema: Any) -> Grammar:
        checked = value_schema(schema)
        grammar = schema_grammar(checked, "json")
        ValueState(grammar, HERMES).first_bytes()
        return Grammar(lambda: _begin(grammar, table), checked.allows, lambda: checked.notes)

    return compiled


def _begin(grammar: ValueGrammar, table: TokenTable) -> Take:
    """Begin a value. Its opening bracket or quote is given: the tokens that write it write only what goes on."""
    state, given = ValueState(grammar, HERMES), grammar.opener.encode()

    def take(token: int | None) -> bool:
        nonlocal given
        if token is None:
            return not given and not state.tail and (state.closed or grammar.complete(state.text))
        piece = table.texts[token]
        if piece is None or state.closed:
            return False
        same = min(len(given), len(piece))
        if given[:same] != piece[:same]:
            return False
        given, piece = given[same:], piece[same:]
        if not piece:
            return True
        wanted = len(state.tail) + len(piece)
        step = state(piece)
        if step is None:
            return False
        state.write(piece)
        return len(step.value.encode()) + len(step.tail) == wanted  # else the value ended inside the token

    return take


def load_library(name: str, tokenizer: str) -> Compile:
    """Load a library."""
    table = TokenTable(load_tokenizer(tokenizer))
    peer, ends = LIBRARIES[name](table), end_tokens(table)

    def compiled(schema: Any) -> Grammar:
        rules = Rules("start: schema\n", {"schema": schema if isinstance(schema, dict) else {"allOf": [schema]}})

        def start() -> Take:
            matcher = peer(rules)

            def take(token: int | None) -> bool:
                bits = matcher.allowed()
                wanted = ends if token is None else [token]
                allowed = any(bits[each // 32] >> (each % 32) & 1 for each in wanted)
                if allowed and token is not None:
                    matcher.take(token)
                return allowed

            return take

        try:
            peer(rules).allowed()
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None
        return Grammar(start)

    return compiled


LOADERS: Final[dict[str, Load]] = {OWN: load_own, **{name: partial(load_library, name) for name in LIBRARIES}}
"""Package -> engine."""


def installed(names: Sequence[str]) -> dict[str, Load]:
    """Return our engine and those of the names that are installed, by name and version."""
    engines = {}
    for name in (OWN, *names):
        with suppress(PackageNotFoundError):
            engines[f"{name} {version(name)}"] = LOADERS[name]
    return engines
