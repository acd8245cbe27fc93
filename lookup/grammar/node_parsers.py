"""Normal forms of schemas -> parsers (``lookup.grammar.parsers``), each made when a value reaches it."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, reduce
from typing import Any, Final

from lookup.errors import DocumentationError
from lookup.grammar.keys import FreeKeys, Key
from lookup.grammar.lists import Elements
from lookup.grammar.literal_values import is_key, is_literal
from lookup.grammar.notations import Notation, RawText, inside, is_json
from lookup.grammar.objects import Record
from lookup.grammar.parsers import ParserState, Union, ValueParser
from lookup.grammar.plain_parsers import AnyIntegers, AnyNumbers, Literals, Number
from lookup.grammar.texts import any_text, text_parser
from lookup.languages.codepoints import RESERVED_CHARACTER
from lookup.languages.language import ANY_TEXT, Language, any_of
from lookup.schema.leaves import MAX_LISTED, Constants, Texts
from lookup.schema.normal import Alternative, LazySchema, Lists, Node, Objects, groups_of, leaves_values, listed_values
from lookup.schema.number_range import MAX_DIGITS, Numbers

MAX_DEPTH: Final = 40  # deeper than this, a bracket is only opened for the shortest literal
MAX_FREE_DEPTH: Final = 24  # the deepest nesting of a value of which nothing is documented

_WHOLE: Final = rf"-?+(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})"
_INT: Final = Number(AnyIntegers(_WHOLE))
_FLOAT: Final = Number(AnyNumbers(rf"{_WHOLE}(?:\.[0-9]{{1,{MAX_DIGITS}}})?(?:[eE][+-]?[0-9]{{1,3}})?"))

NO_VALUE: Final = "the documentation allows no value, or none that this call format can write"
"""Why a schema has no parser."""


@lru_cache(maxsize=64)
def any_parser(notation: Notation, depth: int = MAX_FREE_DEPTH, has_texts: bool = True) -> ValueParser:
    """Any literal with at most ``depth`` levels of nesting, a text among them or not."""
    texts = map(any_text, inside(notation).texts) if has_texts else ()
    words = Literals(map(inside(notation).render, (True, False, None)))
    return Union([_FLOAT, *texts, words, *nested_parsers(notation, depth)])


def nested_parsers(notation: Notation, depth: int = MAX_FREE_DEPTH) -> list[ValueParser]:
    """Any lists, tuples and objects with at most ``depth`` levels of nesting."""
    if not depth:
        return []
    around = inside(notation)
    below = any_parser(notation, depth - 1)
    free = FreeKeys(tuple(map(any_text, around.free_keys)), lambda _: below, (below,), is_open=True)
    tuples = [Elements(around, below, is_tuple=True)] if around.has_tuples else []
    return [Elements(around, below), *tuples, Record((), free, around)]


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
        self._known: dict[tuple[LazySchema, bool], LazyParser] = {}

    def of(self, lazy_schema: LazySchema, listed: bool = False) -> "LazyParser":
        """The parser of a schema, its values ``listed`` where they are few; the same object for the same schema."""
        key = lazy_schema, listed
        if key not in self._known:
            self._known[key] = LazyParser(lazy_schema, self, listed)
        return self._known[key]

    def alternative(self, alternative: Alternative) -> list[ValueParser]:
        """The parsers of an alternative; none if the notation cannot write its values."""
        match alternative:
            case Constants(values):
                whole = (int(value) for value in values if isinstance(value, float) and value.is_integer())
                equal = (*values, *whole) if is_json(self.notation) else values  # 2 is 2.0 in JSON
                return [Literals(written_members(equal, self._inside.render, self._is_literal))]
            case Texts():
                found = [text_parser(syntax, alternative.language) for syntax in self._inside.texts]
                return [parser for parser in found if parser is not None]
            case Numbers() if alternative.is_limited:
                return [Number(alternative)]
            case Numbers():
                return [_INT if alternative.integer else _FLOAT]
            case Lists():
                return [self._list(alternative)]
            case Objects():
                return [self._object(alternative)]

    def _is_literal(self, text: str) -> bool:
        if isinstance(self.notation, RawText):
            text = self.notation.other_lead + text + self.notation.mark
        return is_literal(text, self.notation)

    def _list(self, lists: Lists) -> ValueParser:
        unique = lists.unique and leaves_values(lists)
        possible = list(itertools.takewhile(lambda item: not item.is_empty, lists.prefix))
        prefix = [self.of(item, listed=unique) for item in possible]  # items that must differ
        further = lists.rest if len(possible) == len(lists.prefix) else None
        rest = None if further is None or further.is_empty else self.of(further, listed=unique)
        return Elements(self._inside, rest, prefix, lists.is_tuple, lists.least, lists.most, unique)

    def listed(self, alternative: Alternative) -> list[ValueParser]:
        """The parsers of an alternative, its values listed if they are few: each list and object has its own parser."""
        values = None if isinstance(alternative, Constants) else listed_values(Node((alternative,)))
        if values is None or not isinstance(alternative, Lists | Objects):
            return self.alternative(alternative if values is None else Constants(tuple(values)))
        return [self._single(value) for value in values]

    def _single(self, value: Any) -> ValueParser:
        """The parser of one value, however it is written."""
        parser: ValueParser
        if isinstance(value, dict):
            for name in value:
                self._demand_key(name)
            keys = [Key(tuple(self._inside.keys(name)), self._single(value[name]), True) for name in value]
            parser = Record(keys, None, self._inside)
        elif isinstance(value, list | tuple):
            items = [self._single(item) for item in value]
            parser = Elements(self._inside, None, items, isinstance(value, tuple), len(items), len(items))
        else:
            [parser] = self.alternative(Constants((value,)))
        parser.is_single = True
        return parser

    def _object(self, objects: Objects) -> ValueParser:
        values, free = dict(objects.keys), None
        if objects.free is not None:
            language = self._free_language(objects)
            members = language.members(MAX_LISTED)
            free = self._free(objects, objects.free, language) if members is None else None
            found = {name: objects.free(name) for name in members or () if name not in values}
            values |= {name: value for name, value in found.items() if value is not None}
        names = objects.possible(name for name in values if not values[name].is_empty and self._can_have(objects, name))
        for name in objects.required:
            if name not in names:
                raise DocumentationError(f"the key {name!r} of an object needs keys that it may not have")
        places = {name: place for place, name in enumerate(names)}
        made = [
            Key(
                tuple(self._inside.keys(name)),
                self.of(values[name]),
                name in objects.required,
                tuple(places[other] for other in objects.dependent.get(name, ())),
            )
            for name in names
        ]
        if free is None and objects.least > len(made):
            written = len(made)
            raise DocumentationError(f"an object needs {objects.least} keys, and this call format can write {written}")
        return Record(made, free, self._inside, objects.least, objects.most)

    def _can_have(self, objects: Objects, name: str) -> bool:
        if name in objects.keys:
            self._demand_key(name)
        return is_key(name, self.notation)

    def _demand_key(self, name: str) -> None:
        if not is_key(name, self.notation):
            raise DocumentationError(f"the key {name!r} of an object cannot be written in this call format")

    def _free(self, objects: Objects, free: Callable[[str], LazySchema | None], language: Language) -> FreeKeys | None:
        """The free keys of a language, which are many; ``None`` if the notation can write none of them."""
        texts = [text for syntax in self._inside.free_keys if (text := text_parser(syntax, language)) is not None]

        def value(name: str) -> ValueParser | None:
            if language is not ANY_TEXT and name not in language:
                return None
            found = free(name)
            return None if found is None or found.is_empty else self.of(found)

        values = tuple(self.of(group.values) for group in groups_of(objects) or [] if not group.values.is_empty)
        is_open = language is ANY_TEXT and not objects.patterns
        return FreeKeys(tuple(texts), value, values or (any_parser(self.notation),), is_open) if texts else None

    def _free_language(self, objects: Objects) -> Language:
        """The free keys that have a value."""
        groups = groups_of(objects)
        possible = [group for group in groups or [] if not group.values.is_empty]
        if groups is None or len(possible) == len(groups) > 0:
            return objects.free_language
        return reduce(Language.union, (group.language for group in possible), any_of(()))


class LazyParser(ValueParser):
    """The parser of a schema, which is made when a value reaches it, because a schema may contain itself."""

    def __init__(self, lazy_schema: LazySchema, parsers: NodeParsers, listed: bool) -> None:
        self._lazy_schema = lazy_schema
        self._parsers = parsers
        self._listed = listed
        self._reason = NO_VALUE

    @cached_property
    def _alternatives(self) -> list[tuple[Alternative, list[ValueParser]]]:
        """The alternatives that the notation can write."""
        parsers_of = self._parsers.listed if self._listed else self._parsers.alternative
        found = []
        for alternative in self._lazy_schema.inhabited:
            try:
                found.append((alternative, parsers_of(alternative)))
            except DocumentationError as error:
                self._reason = str(error)
        return found

    @cached_property
    def inner(self) -> ValueParser:
        """The parser itself; DocumentationError if no value is allowed, or the notation can write none."""
        if self._lazy_schema.node.anything:
            return any_parser(self._parsers.notation)
        parsers = [parser for _, parsers in self._alternatives for parser in parsers]
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
        written = [(alternative, parsers[0]) for alternative, parsers in self._alternatives if parsers]
        if not written:
            return self.inner.shortest()
        return min(written, key=lambda pair: self._lazy_schema.size_of(pair[0]))[1].shortest()

    def shortest(self) -> str:
        return self._shortest

    @property
    def rank(self) -> int:
        return self._lazy_schema.size

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        if continuation.depth < MAX_DEPTH:
            return self.inner.start(continuation)
        shallow = [parser for parser in self.inner.alternatives if not parser.bracket]
        if self.shortest()[0] in "[({":
            shallow.append(Literals([self.shortest()]))
        return [state for parser in shallow for state in parser.start(continuation)]
