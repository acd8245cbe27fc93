"""Normal forms of schemas -> parsers (``lookup.values.parsers``), each made when a value reaches it."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from typing import Any, Final, Literal

from lookup.errors import DocumentationError
from lookup.languages.codepoints import RESERVED_CHARACTER
from lookup.languages.language import ANY_TEXT, Language, any_of
from lookup.schema.leaves import Constants, Texts
from lookup.schema.nodes import (
    MAX_LISTED,
    Branch,
    Conjunction,
    Lists,
    Objects,
    groups_of,
    leaves_values,
    listed_values_of,
)
from lookup.schema.number_range import Numbers
from lookup.values.any_parsers import any_parser, scalar_parser
from lookup.values.keys import FreeKeys, Key, KeyRules
from lookup.values.lists import Elements
from lookup.values.literal_values import is_key, is_literal
from lookup.values.notations import Notation, RawText, inside
from lookup.values.objects import Record
from lookup.values.parsers import ParserState, Union, ValueParser
from lookup.values.plain_parsers import Literals, Number
from lookup.values.texts import text_parser

MAX_DEPTH: Final = 40
"""Deeper than this, a bracket is only opened for the shortest literal."""

NO_VALUE: Final = "the documentation allows no value, or none that this call format can write"
"""Why a schema has no parser."""


def written_members(
    values: Iterable[object], render: Callable[[Any], str], can_be_written: Callable[[str], bool]
) -> list[str]:
    """The distinct literals of an enum; DocumentationError if one cannot be written."""
    literals = list(dict.fromkeys(map(render, values)))
    for literal in literals:
        if not can_be_written(literal):
            shown = RESERVED_CHARACTER.sub("", literal)
            raise DocumentationError(f"the member {shown!r} of the enum cannot be written in this call format")
    return literals


class NodeParsers:
    """Makes the parsers of one schema in one notation."""

    def __init__(self, notation: Notation) -> None:
        self.notation: Notation = notation
        self._inside = inside(notation)
        self._known: dict[tuple[Conjunction, bool], LazyParser] = {}

    def of(self, conjunction: Conjunction, listed: bool = False) -> "LazyParser":
        """The parser of a schema, its values ``listed`` where they are few; the same object for the same schema."""
        key = conjunction, listed
        if key not in self._known:
            self._known[key] = LazyParser(conjunction, self, listed)
        return self._known[key]

    def branch(self, branch: Branch) -> list[ValueParser]:
        """The parsers of a branch; none if the notation cannot write its values."""
        match branch:
            case Constants(values):
                whole = (int(value) for value in values if isinstance(value, float) and value.is_integer())
                equal = (*values, *whole) if self.notation == "json" else values  # 2 is 2.0 in JSON
                return [Literals(written_members(equal, self._inside.render, self._is_literal))]
            case Texts():
                return self._texts(branch)
            case Numbers():
                return [
                    Number(branch)
                    if branch.is_limited
                    else scalar_parser("int" if branch.integer else "float", self.notation)
                ]
            case Lists():
                return [self._list(branch)]
            case Objects():
                return [self._object(branch)]

    def _is_literal(self, text: str) -> bool:
        if isinstance(self.notation, RawText):
            text = self.notation.other_lead + text + self.notation.mark
        return is_literal(text, self.notation)

    def _texts(self, branch: Texts) -> list[ValueParser]:
        if branch.language is ANY_TEXT:
            return [scalar_parser("str", self.notation)]
        found = [text_parser(syntax, branch.language) for syntax in self._inside.texts]
        return [parser for parser in found if parser is not None]

    def _list(self, branch: Lists) -> ValueParser:
        unique = branch.unique and leaves_values(branch)
        dialect = self._inside.dialect if unique else None
        possible = list(itertools.takewhile(lambda item: not item.is_empty, branch.prefix))
        prefix = [self.of(item, listed=unique) for item in possible]  # items that must differ
        further = branch.rest if len(possible) == len(branch.prefix) else None
        rest = None if further is None or further.is_empty else self.of(further, listed=unique)
        bracket: Literal["[", "("] = "(" if branch.is_tuple and self._inside.has_tuples else "["
        return Elements(bracket, rest, self._inside.spacing, prefix, branch.least, branch.most, dialect)

    def listed(self, branch: Branch) -> list[ValueParser]:
        """The parsers of a branch, with its values listed if they are few: each list and object has its own parser."""
        values = listed_values_of(branch)
        if values is None or not isinstance(branch, Lists | Objects):
            return self.branch(branch if values is None else Constants(tuple(values)))
        return [self._single(value) for value in values]

    def _single(self, value: Any) -> ValueParser:
        """The parser of one value, however it is written."""
        parser: ValueParser
        if isinstance(value, dict):
            for name in value:
                self._demand_key(name)
            spacing, dialect = self._inside.spacing, self._inside.dialect
            keys = [Key(tuple(self._inside.keys(name)), self._single(value[name]), True, spacing) for name in value]
            parser = Record(KeyRules(keys, spacing=spacing, dialect=dialect))
        elif isinstance(value, list | tuple):
            bracket: Literal["[", "("] = "(" if isinstance(value, tuple) and self._inside.has_tuples else "["
            items = [self._single(item) for item in value]
            parser = Elements(bracket, None, self._inside.spacing, items, len(items), len(items))
        else:
            [parser] = self.branch(Constants((value,)))
        parser.is_single = True
        return parser

    def _object(self, branch: Objects) -> ValueParser:
        names = list(branch.keys)
        free = self._free(branch)
        listed = None if free is None else self._listed_keys(branch)
        values = dict(branch.keys)
        if listed is not None:
            values |= {name: value for name, value in listed.items() if name not in values}
            names, free = list(values), None
        names = branch.possible(name for name in names if not values[name].is_empty and self._can_have(branch, name))
        for name in branch.required:
            if name not in names:
                raise DocumentationError(f"the key {name!r} of an object needs keys that it may not have")
        places = {name: place for place, name in enumerate(names)}
        made = [
            Key(
                tuple(self._inside.keys(name)),
                self.of(values[name]),
                name in branch.required,
                self._inside.spacing,
                tuple(places[other] for other in branch.dependent.get(name, ())),
            )
            for name in names
        ]
        if free is None and branch.least > len(made):
            raise DocumentationError(f"an object needs {branch.least} keys, and this call format can write {len(made)}")
        rules = KeyRules(made, free, self._inside.spacing, branch.least, branch.most, self._inside.dialect)
        return Record(rules)

    def _can_have(self, branch: Objects, name: str) -> bool:
        if name in branch.keys:
            self._demand_key(name)
        return is_key(name, self.notation)

    def _demand_key(self, name: str) -> None:
        if not is_key(name, self.notation):
            raise DocumentationError(f"the key {name!r} of an object cannot be written in this call format")

    def _listed_keys(self, branch: Objects) -> dict[str, Conjunction] | None:
        """The free keys, if there are few."""
        members, free = self._free_language(branch).members(MAX_LISTED), branch.free
        if members is None or free is None:
            return None
        found = {name: free(name) for name in members}
        return {name: value for name, value in found.items() if value is not None}

    def _free(self, branch: Objects) -> FreeKeys | None:
        free = branch.free
        if free is None:
            return None
        language = self._free_language(branch)
        if language.is_empty:
            return None
        texts = [text for syntax in self._inside.free_keys if (text := text_parser(syntax, language)) is not None]

        def value(name: str) -> ValueParser | None:
            if language is not ANY_TEXT and name not in language:
                return None
            found = free(name)
            return None if found is None or found.is_empty else self.of(found)

        values = tuple(self.of(group.values) for group in groups_of(branch) or [] if not group.values.is_empty)
        is_open = language is ANY_TEXT and not branch.patterns
        return FreeKeys(tuple(texts), value, values or (any_parser(self.notation),), is_open) if texts else None

    def _free_language(self, branch: Objects) -> Language:
        """The free keys that have a value."""
        groups = groups_of(branch)
        possible = [group for group in groups or [] if not group.values.is_empty]
        if groups is None or len(possible) == len(groups) > 0:
            return branch.free_language
        return reduce(Language.either, (group.language for group in possible), any_of(()))


class LazyParser(ValueParser):
    """The parser of a schema, which is made when a value reaches it, because a schema may contain itself."""

    def __init__(self, conjunction: Conjunction, parsers: NodeParsers, listed: bool) -> None:
        self._conjunction = conjunction
        self._parsers = parsers
        self._listed = listed
        self._reason = NO_VALUE

    @cached_property
    def _branches(self) -> list[tuple[Branch, list[ValueParser]]]:
        """The branches that the notation can write."""
        parsers_of = self._parsers.listed if self._listed else self._parsers.branch
        found = []
        for branch in self._conjunction.inhabited:
            try:
                found.append((branch, parsers_of(branch)))
            except DocumentationError as error:
                self._reason = str(error)
        return found

    @cached_property
    def inner(self) -> ValueParser:
        """The parser itself; DocumentationError if no value is allowed, or the notation can write none."""
        if self._conjunction.node.anything:
            return any_parser(self._parsers.notation)
        parsers = [parser for _, parsers in self._branches for parser in parsers]
        if not parsers:
            raise DocumentationError(self._reason)
        return parsers[0] if len(parsers) == 1 else Union(parsers)

    @property
    def inside(self) -> Sequence[ValueParser]:
        return (self.inner,)

    @property
    def alternatives(self) -> tuple[ValueParser, ...]:
        return self.inner.alternatives

    @cached_property
    def _shortest(self) -> str:
        written = [(branch, parsers[0]) for branch, parsers in self._branches if parsers]
        if not written:
            return self.inner.shortest()
        return min(written, key=lambda pair: self._conjunction.size_of(pair[0]))[1].shortest()

    def shortest(self) -> str:
        return self._shortest

    @property
    def rank(self) -> int:
        return self._conjunction.size

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        if sum(1 for _ in continuation.stack()) < MAX_DEPTH:
            return self.inner.start(continuation)
        shallow = [parser for parser in self.inner.alternatives if not parser.bracket]
        if self.shortest()[0] in "[({":
            shallow.append(Literals([self.shortest()]))
        return [place for parser in shallow for place in parser.start(continuation)]
