"""A set of tools, ready to be called: what does not depend on the prompt is found once and kept across requests."""

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from threading import Lock

from lookup.dictionary import LookupDictionary, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError
from lookup.values.grammar import ValueGrammar, value_grammar
from tooldecoding.errors import PromptError
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import Trie

_LONGEST_CHARACTER = 4
"""Bytes of UTF-8: a value is cut off behind its first token, but not inside a character."""
_SETS = 64
_TOOLS = 50_000
"""So many sets are remembered, of so many tools together, but always the last one."""


class PreparedTool:
    """One tool of a set.

    Parameters
    ----------
    spec : ToolSpec
        Of each key it is decided whether it is required.
    """

    def __init__(self, spec: ToolSpec, table: TokenTable, options: DecodeOptions) -> None:
        self.spec = spec
        self._table = table
        self._format = options.call_format
        self._constraint = options.value_constraint
        self._grammars: dict[str, ValueGrammar] = {}
        self._members: dict[str, Trie] = {}
        self._keys: dict[tuple[tuple[str, ...], bool], Trie] = {}

    def grammar(self, spec: ParameterSpec) -> ValueGrammar:
        """The grammar of a parameter's values; DocumentationError, with the tool's name, for an unreasonable type."""
        if spec.name not in self._grammars:
            try:
                self._grammars[spec.name] = value_grammar(spec, self._format.notation, self._constraint)
            except DocumentationError as error:
                raise DocumentationError(f"tool {self.spec.name!r}: {error}") from None
        return self._grammars[spec.name]

    def members(self, spec: ParameterSpec, literals: Sequence[str]) -> Trie:
        """The choice among the literals of a parameter that has few."""
        if spec.name not in self._members:
            self._members[spec.name] = Trie(self._table, literals)
        return self._members[spec.name]

    def keys(self, unused: Sequence[ParameterSpec], first: bool) -> Trie:
        """The choice among optional keys, in this sequence, and the end of the call, which is the last one.

        Parameters
        ----------
        first : bool
            Whether no key stands in the call yet.
        """
        names = tuple(spec.name for spec in unused)
        if (names, first) not in self._keys:
            separator = "" if first else self._format.separator
            texts = [*(separator + self._format.key(name) for name in names), self._format.end]
            self._keys[names, first] = Trie(self._table, texts)
        return self._keys[names, first]

    @cached_property
    def longest(self) -> int:
        """An upper bound on the tokens of a call whose free values are cut off and closed after their first token."""
        form = self._format
        fixed = self.spec.name + form.opener + form.bracket + form.end + form.closer
        keys = sum(len((form.separator + form.key(p.name)).encode()) for p in self.spec.parameters)
        return len(fixed.encode()) + keys + sum(_reserve(self.grammar(p)) for p in self.spec.parameters)


def _reserve(grammar: ValueGrammar) -> int:
    """Tokens that must be free for a value: each has a byte at least."""
    if grammar.choices is not None:
        return max(len(member.encode()) for member in grammar.choices)
    return len(grammar.opener.encode()) + _LONGEST_CHARACTER + grammar.longest_closing


class PreparedTools:
    """A set of tools in one call format.

    Parameters
    ----------
    lookup : LookupDictionary
    options : DecodeOptions
        Of which call format, value constraint and what unknown keys count as matter here.

    Attributes
    ----------
    tools : tuple of PreparedTool
        In documentation order.
    names : Trie
        The choice among their names.
    another : Trie
        The choice to add another call, or to end all.

    Raises
    ------
    DocumentationError
        If a call could not tell two tools, or two keys of one, apart.
    PromptError
        If a name or key is no Unicode text.
    """

    def __init__(self, lookup: LookupDictionary, table: TokenTable, options: DecodeOptions) -> None:
        form = options.call_format
        decided = lookup.decided(options.unknown_keys)
        names = [tool.name + form.bracket for tool in decided.tools]
        _demand_distinct(names, "tools")
        for tool in decided.tools:
            demand_unicode([tool.name, *(p.name for p in tool.parameters)])
            _demand_distinct([form.key(p.name) for p in tool.parameters], f"keys of {tool.name}")
        self.tools = tuple(PreparedTool(tool, table, options) for tool in decided.tools)
        self.names = Trie(table, names)
        self.another = Trie(table, [form.separator, form.closer])
        self._by_name = {tool.spec.name: tool for tool in self.tools}

    def called(self, written: bytes) -> PreparedTool | None:
        """The tool whose name and bracket ``written`` begins with."""
        place = self.names.covered(written)
        return None if place is None else self.tools[self.names.number(place)]

    def __getitem__(self, name: str) -> PreparedTool:
        return self._by_name[name]

    @cached_property
    def longest(self) -> int:
        """Tokens that must be free behind a prompt so that any of the tools can be called."""
        return max((tool.longest for tool in self.tools), default=0)


class Preparations:
    """The sets of tools that were used last; several threads may ask."""

    def __init__(self, table: TokenTable) -> None:
        self._table = table
        self._lock = Lock()
        self._kept: OrderedDict[tuple[object, ...], tuple[LookupDictionary, PreparedTools]] = OrderedDict()

    def of(self, lookup: LookupDictionary, options: DecodeOptions) -> PreparedTools:
        """The tools of a lookup dictionary, prepared; see PreparedTools."""
        key = (id(lookup), options.format, options.value_constraint, options.unknown_keys)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = lookup, PreparedTools(lookup, self._table, options)  # the lookup is held with its id
            self._kept.move_to_end(key)
            prepared = self._kept[key][1]
            while len(self._kept) > 1 and (len(self._kept) > _SETS or self._tools() > _TOOLS):
                self._kept.popitem(last=False)
        return prepared

    def _tools(self) -> int:
        return sum(len(lookup) for lookup, _ in self._kept.values())


def demand_unicode(texts: Sequence[str]) -> None:
    """PromptError for halves of surrogate pairs, which JSON can spell and no tokenizer can read."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            found = f"{ord(text[error.start]):04X}"
            raise PromptError(
                f"prompt and documentation must be Unicode text, found a lone surrogate U+{found} in {text[:40]!r}"
            ) from None


def _demand_distinct(texts: Sequence[str], what: str) -> None:
    """DocumentationError if one text is the beginning of another: a call could not tell them apart."""
    ordered = sorted(texts)
    for shorter, longer in itertools.pairwise(ordered):
        if longer.startswith(shorter):
            raise DocumentationError(
                f"{what}: {shorter!r} is the beginning of {longer!r}, so a call cannot tell them apart; rename one"
            )
