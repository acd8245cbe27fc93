"""Compiled tools: what does not depend on the prompt, tries and grammars, is made once and kept across requests."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from lookup.dictionary import LookupDictionary, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError
from lookup.grammar.value_grammar import Constraint, ValueGrammar, value_grammar
from tooldecoding.decoding.name_trie import NameTrie, demand_distinct
from tooldecoding.decoding.next_call_odds import NextCallOdds
from tooldecoding.engines.engine import Need
from tooldecoding.files.lru_cache import LruCache
from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.dialects import Dialects
from tooldecoding.options import TOOL_CHOICES, DecodeOptions
from tooldecoding.tokens.text_choice import AT_ONCE
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.token_texts import END, demand_writable
from tooldecoding.tokens.trie import Trie

_MOST_CALLS = 10**6
"""No turn has so many calls."""
_VALUE, _BYTES = 16, 2
"""Tokens of a value, and bytes of a token, in an estimate: few calls have longer values, few tokens are shorter."""
_KEYS_OF_MANY_ORDERS = 10
"""So many keys have more orders than anybody decodes."""
_DIALECTS = 16
"""Dialects of which the tools are kept."""
_AROUND, _INDENT = 192, 16
"""Bytes around a call in a dialect, and before a key of it."""


class CompiledTool:
    """One tool in one call format.

    Parameters
    ----------
    spec : ToolSpec
        Every key is either required or optional, none unknown.

    Attributes
    ----------
    call_format : CallFormat
    """

    def __init__(self, spec: ToolSpec, call_format: CallFormat, table: TokenTable, constraint: Constraint) -> None:
        self.spec = spec
        self.call_format = call_format
        self._table = table
        self._constraint = constraint
        self._grammars: dict[str, ValueGrammar] = {}
        self._members: dict[tuple[str, int], Trie] = {}
        self._sizes: dict[str, int] = {}
        self._optional: dict[tuple[tuple[str, ...], bool], Trie] = {}

    def grammar(self, spec: ParameterSpec) -> ValueGrammar:
        """Return the grammar of a parameter's values; DocumentationError for a type that is too large."""
        if spec.name not in self._grammars:
            try:
                self._grammars[spec.name] = value_grammar(spec, self.call_format.notation, self._constraint)
            except DocumentationError as error:
                raise DocumentationError(f"tool {self.spec.name!r}: {error}") from None
        return self._grammars[spec.name]

    def members(self, spec: ParameterSpec, literals: Sequence[str]) -> Trie:
        """Return the trie of the literals of a parameter that has few, such as an enum, or of those that fit."""
        key = spec.name, len(literals)  # the shortest ones
        if key not in self._members:
            self._members[key] = Trie(self._table, literals)
        return self._members[key]

    def optional_keys(self, unused: Sequence[ParameterSpec], first: bool) -> Trie:
        """Return the optional-key trie: of unused keys, in this sequence, and of the end of the call, its last text.

        Parameters
        ----------
        first : bool
            Whether the call has no key yet, so that no separator stands before the next one.
        """
        names = tuple(spec.name for spec in unused)
        if (names, first) not in self._optional:
            separator = "" if first else self.call_format.separator
            texts = [*(separator + self.call_format.key(name) for name in names), self.call_format.end_of(first)]
            self._optional[names, first] = Trie(self._table, texts)
        return self._optional[names, first]

    @cached_property
    def shortest(self) -> int:
        """Tokens that must be free for a call: its shortest text, a token for each byte.

        Whatever else the model chooses is only on offer as long as the call can still be closed.

        DocumentationError if a key has no value that can be written, also an optional one, which is met in the middle
        of a call.
        """
        for optional in self.spec.optional:
            self.grammar(optional)
        call_format = self.call_format
        start = max(call_format.lead + call_format.start(0), call_format.start(_MOST_CALLS), key=len)
        head = start + self.spec.name + call_format.bracket_of(_MOST_CALLS)
        return len(head.encode()) + self.left([p.name for p in self.spec.required])

    def left(self, keys: Sequence[str]) -> int:
        """Return the tokens for some keys with their shortest values, and the end of all calls behind them."""
        ends = max(self.call_format.end, self.call_format.end_of(empty=True), key=len) + self.call_format.closer
        return len(ends.encode()) + sum(map(self._member, keys))

    def _member(self, key: str) -> int:
        """Return the bytes of a key with its shortest value, and of the separator before it."""
        if key not in self._sizes:
            text = self.call_format.separator + self.call_format.key(key)
            self._sizes[key] = len(text.encode()) + self.grammar(self.spec.parameter(key)).shortest
        return self._sizes[key]

    def fitting(self, optional: Sequence[ParameterSpec], room: int | None) -> list[ParameterSpec]:
        """Return the optional keys that fit in a room with their shortest values."""
        return [p for p in optional if room is None or self.left([p.name]) <= room]

    def need(self, options: DecodeOptions) -> Need:
        """Return an estimate of what a call takes in the KV cache, with all its orders and their drafts."""
        required = self.spec.required
        orders = min(options.order_limit, math.factorial(min(len(required), _KEYS_OF_MANY_ORDERS)))
        drafts = max(0, len(required) - 1) if options.draft_tokens else 0
        most = min(options.max_value_tokens or _VALUE, _VALUE)
        values = sum(min(most, max(map(len, self.grammar(p).choices or ()), default=most)) for p in required)
        call_format = self.call_format
        texts = [self.spec.name, *(call_format.separator + call_format.key(p.name) for p in required)]
        fixed = len("".join([*texts, call_format.start(0), call_format.end]).encode()) // _BYTES
        # one more branch reads what was voted, and one is asked for a further call; names are read beside one branch
        branches = max(orders + 1 + options.asks_for_further_calls, 1 + AT_ONCE)
        return Need(options.draft_tokens, branches, drafts, fixed + values)


class CompiledTools:
    """The tools of a lookup dictionary in one call format.

    DocumentationError if the name of a tool, or a key, is the beginning of another, or no arguments can obey what a
    tool says of several of them together. PromptError if a name or key is no Unicode text, or has a reserved character.

    Parameters
    ----------
    options : DecodeOptions
        Its call format, value constraint and rule for unknown keys are used.
    dialect : CallFormat, optional
        A format, bound to the tokenizer, in place of that of the options.

    Attributes
    ----------
    call_format : CallFormat
        Bound to the special tokens of the tokenizer.
    tools : tuple of CompiledTool
        In documentation order.
    """

    def __init__(
        self, lookup: LookupDictionary, table: TokenTable, options: DecodeOptions, dialect: CallFormat | None = None
    ) -> None:
        self.call_format = call_format = dialect or options.call_format.bound(table.special.bound)
        self._made_of = lookup, options
        self._in_dialect = LruCache[str, CompiledTools](_DIALECTS)
        decided = lookup.decided(options.unknown_keys)
        for tool in decided.tools:
            demand_writable([tool.name, *(p.name for p in tool.parameters)])
        self._table = table
        self._specs = decided.tools
        self._names: dict[int, NameTrie] = {}
        self._next_calls: dict[tuple[int, str | None], NextCallOdds] = {}
        self.names(0)  # a wrong name is told before decoding
        for tool in decided.tools:
            demand_distinct([call_format.key(p.name) for p in tool.parameters], f"keys of {tool.name}")
            if tool.conditions is not None and tool.conditions.unsatisfiable:
                raise DocumentationError(f"tool {tool.name!r}: {tool.conditions.notes[0]}")
        self.tools = tuple(CompiledTool(tool, call_format, table, options.value_constraint) for tool in decided.tools)
        self._by_name = {tool.spec.name: tool for tool in self.tools}

    def names(self, number: int) -> NameTrie:
        """Return the name trie of a call, by its number; its tools have the sequence of ``tools``."""
        number = number if INDEX in self.call_format.bracket else 0
        if number not in self._names:
            self._names[number] = NameTrie(self._table, self._specs, self.call_format, number)
        return self._names[number]

    def called(self, written: bytes) -> CompiledTool | None:
        """Return the tool whose name and bracket ``written`` begins with, as the first call."""
        found = self.names(0).called(written)
        return None if found is None else self.tools[found[0]]

    def next_call(self, number: int, only: str | None) -> NextCallOdds | None:
        """Return the choice between a call, by its number, and the end of all calls.

        None if the format has no end of all calls, and the tokenizer none of a turn.

        Parameters
        ----------
        only : str, optional
            The name of the tool that must be called.
        """
        if not self.call_format.closer and END not in self._table.special.texts.values():
            return None
        number = number if INDEX in self.call_format.next_call + self.call_format.bracket else 1
        if (number, only) not in self._next_calls:
            tools = [tool for tool in self._specs if only in (None, tool.name)]
            self._next_calls[number, only] = NextCallOdds(tools, self.call_format, number)
        return self._next_calls[number, only]

    def __getitem__(self, name: str) -> CompiledTool:
        return self._by_name[name]

    @cached_property
    def dialects(self) -> Dialects:
        """What else may open a call of these tools."""
        return Dialects(self.call_format, self._table.special.bound)

    @cached_property
    def keys(self) -> Mapping[str, frozenset[str]]:
        """Name of a tool -> its keys."""
        return {tool.name: frozenset(p.name for p in tool.parameters) for tool in self._specs}

    @cached_property
    def openers(self) -> Trie:
        """The usual ways to begin the first call: as the format does, then those of ``dialects.usual``."""
        call_format = self.call_format
        texts = [call_format.lead + call_format.start(0), *(usual.opener for usual in self.dialects.usual)]
        return Trie(self._table, texts)

    def in_dialect(self, dialect: CallFormat) -> "CompiledTools":
        """Return the same tools in a format of ``dialects``."""
        key = "\0".join([dialect.opener, dialect.bracket, dialect.separator, dialect.end, dialect.closer])
        lookup, options = self._made_of
        return self._in_dialect.of(key, lambda: CompiledTools(lookup, self._table, options, dialect))

    @cached_property
    def dialect_margin(self) -> int:
        """Tokens that a call in a dialect may take beyond ``shortest``: indented lines, and what stands around it."""
        return _AROUND + _INDENT * max((len(tool.parameters) for tool in self._specs), default=0)

    @cached_property
    def shortest(self) -> int:
        """Tokens that must be free behind a prompt so that any of the tools can be called."""
        return max((tool.shortest for tool in self.tools), default=0)

    def reserve(self, choice: str) -> int:
        """Return the tokens that must be free behind a prompt for a call by ``tool_choice``."""
        if choice == "none":
            return 0
        return self.shortest if choice in TOOL_CHOICES else self[choice].shortest

    def need(self, prompt: int, options: DecodeOptions) -> Need:
        """Return an estimate of what a prompt of so many tokens takes in the KV cache, with its text and one call."""
        choice = options.choice
        shared = prompt if options.documentation == "full" else 2 * prompt  # and one that shows the chosen tool alone
        if choice in ("auto", "none"):
            shared += options.max_text_tokens
        tools = self.tools if choice in TOOL_CHOICES else (self[choice],)
        needs = [tool.need(options) for tool in tools] if choice != "none" else []
        widest = max(needs, key=lambda need: (need.branches + need.drafts) * need.each, default=Need(0))
        return widest._replace(shared=shared + widest.shared)

    def fitting(self, most: int, choice: str, room: int | None) -> int:
        """Return how many of ``most`` tokens of text leave room for a call by ``tool_choice`` behind them."""
        return most if room is None else max(0, min(most, room - self.reserve(choice)))
