"""Check a finished value against schemas: all keywords that limit values, also those that were not enforced before.

In a call, a number is not written ``1.0`` for an integer, and a tuple is no list. ``unevaluatedProperties`` and
``unevaluatedItems`` count what the schema itself and the schemas applied beside it name. Patterns are languages; one
that cannot be made is not checked.

This is no library's work, because the steps must be bounded: a chain of thirty definitions, each of which names the
next one twice, takes jsonschema-rs 0.61 a billion steps.
"""

import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lookup.dictionary import MISSING
from lookup.errors import written
from lookup.languages.language import ANY_TEXT
from lookup.languages.limits import LanguageError
from lookup.schema.equality import exact, identity, is_number
from lookup.schema.json_types import IMPLIED, JsonType, json_type_of
from lookup.schema.leaves import language_of
from lookup.schema.object_alternatives import OF_KEYS, read_keys
from lookup.schema.schema import EVERYTHING, NOTHING, NormalizedSchema, Schema

_MAX_STEPS: Final = 100_000  # schemas applied to one value, see above
_MAX_DEPTH: Final = 200  # schemas inside each other: a level takes some of Python's 1,000 frames
_MAX_LISTED: Final = 20  # members of an enum that a message shows
_MAX_SHOWN: Final = 80  # characters of a value that it shows
_WHOLE: Final = "the value"


class SchemaError(ValueError):
    """A value that breaks its schema. The message says what was expected, and what was found where."""


class _UncheckedError(SchemaError):
    """A check that takes too long. It is neither a yes nor a no, also inside ``not``."""


_Held = dict["Schema | _Alternatives", None]
"""What holds for a value, each once."""


@dataclass(frozen=True, eq=False)
class _Alternatives:
    """Alternatives that hold together."""

    each: tuple[_Held, ...]


@dataclass
class _Applied:
    """What the schemas that hold for one value say of it together.

    Attributes
    ----------
    keys, items : set
        The keys, and the places of items, that they evaluate; of documentation, all keys that they speak of.
    closes : bool
        Whether they document keys.
    typed : bool
        Whether they name its type.
    implied : set of str
        The types of which their keywords say something.
    casts : frozenset of type, optional
        ``float`` if a whole number becomes one, ``tuple`` if a list does; ``None`` if they do not name its type.
    member : Any
        The list or object as an enum has it; ``MISSING`` without one.
    members : dict
        The key or place of a member -> what holds for it.
    """

    keys: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)
    closes: bool = False
    typed: bool = False
    implied: set[JsonType] = field(default_factory=set)
    casts: frozenset[type] | None = None
    member: Any = MISSING
    members: dict[Any, _Held] = field(default_factory=dict)

    def add(self, other: "_Applied") -> None:
        """Also what another schema says."""
        self._evaluate(other)
        self.closes |= other.closes
        self.typed |= other.typed
        self._cast(other.casts)
        self.member = other.member if self.member is MISSING else self.member
        for member, held in other.members.items():
            self.members.setdefault(member, {}).update(held)

    def add_alternatives(self, found: Sequence["_Applied"]) -> None:
        """Also what alternatives say that hold together; the least strict one decides what else there may be."""
        for one in found:
            self._evaluate(one)
        self.closes |= all(one.closes for one in found)
        self.typed |= any(one.typed or not one.implied for one in found)
        # an alternative that takes the value as it is written goes before those that change it
        known = [one.casts for one in found if one.casts is not None]
        self._cast(frozenset.intersection(*known) if len(known) == len(found) else None)
        if all(one.member is not MISSING for one in found):
            self.member = found[0].member
        for member in dict.fromkeys(member for one in found for member in one.members):
            alternatives = _Alternatives(tuple(one.members.get(member, {}) for one in found))
            self.members.setdefault(member, {})[alternatives] = None

    def _cast(self, casts: frozenset[type] | None) -> None:
        if casts is not None:
            self.casts = casts if self.casts is None else self.casts & casts

    def _evaluate(self, other: "_Applied") -> None:
        self.keys |= other.keys
        self.items |= other.items
        self.implied |= other.implied


_SILENT: Final = _Applied()


def check(value: Any, schemas: Iterable[Schema], closed: bool) -> Any:
    """The value, if it obeys all schemas; otherwise SchemaError.

    ``closed`` schemas document a tool, see ``alternatives_of``. The value then is in its documented types: a whole
    number is a float, and a list a tuple or the member of an enum, where they say so.
    """
    try:
        return _Check(closed).whole(value, tuple(schemas))
    except RecursionError:
        raise SchemaError("the value: the schema is nested too deep to be checked") from None


def allows(value: Any, schemas: Iterable[Schema], closed: bool) -> bool:
    """Whether a value obeys all schemas."""
    try:
        check(value, schemas, closed)
    except SchemaError:
        return False
    return True


def _broken(where: str, expected: str, value: Any) -> SchemaError:
    """The error of a value that is not what its schema expects."""
    shown = written(value)
    if len(shown) > _MAX_SHOWN:
        shown = shown[: _MAX_SHOWN - 1] + "…"
    return SchemaError(f"{where}: expected {expected}, got {shown}")


class _Check:
    """One check, of bounded length."""

    def __init__(self, closed: bool) -> None:
        self._closed = closed
        self._steps = 0
        self._known: dict[tuple[Schema | _Alternatives, str], _Applied | SchemaError] = {}

    def whole(self, value: Any, schemas: Sequence[Schema]) -> Any:
        """The value in its documented types; SchemaError unless it obeys all schemas."""
        for schema in schemas:
            self._apply(value, schema, _WHOLE, 0)
        return self._close(value, dict.fromkeys(schemas), _WHOLE) if self._closed else value

    def _close(self, value: Any, held: _Held, where: str) -> Any:
        """The value in its documented types.

        SchemaError if it, or a part of it, has a type or a key of which all that holds for it says nothing.
        """
        applied = self._together(held, where)
        if applied.implied and not applied.typed and json_type_of(value) not in applied.implied:
            raise _broken(where, " or ".join(sorted(applied.implied)), value)
        if isinstance(value, dict) and applied.closes:
            for key in value:
                if key not in applied.keys:
                    raise _broken(where, f"the keys {', '.join(map(repr, sorted(applied.keys)))}", key)
        parts = {
            member: self._close(value[member], inner, _place(where, member))
            for member, inner in applied.members.items()
        }
        if applied.member is not MISSING:
            return applied.member
        casts = applied.casts or ()
        match value:
            case dict():
                return {key: parts.get(key, inner) for key, inner in value.items()}
            case list() | tuple():
                items = [parts.get(place, item) for place, item in enumerate(value)]
                return tuple(items) if isinstance(value, tuple) or tuple in casts else items
            case int() if float in casts and not isinstance(value, bool):
                return _as_float(value)
        return value

    def _together(self, held: _Held, where: str) -> _Applied:
        """What all says that holds for a value."""
        together = _Applied()
        for one in held:
            if isinstance(one, _Alternatives) and (one, where) not in self._known:
                found = _Applied()
                found.add_alternatives([self._together(alternative, where) for alternative in one.each])
                self._known[one, where] = found
            said = _SILENT if one is EVERYTHING else self._known[one, where]
            assert isinstance(said, _Applied)
            together.add(said)
        return together

    def _apply(self, value: Any, schema: Schema, where: str, depth: int) -> _Applied:
        """What a schema says of a value; SchemaError if the value breaks it."""
        if schema is NOTHING:
            raise _broken(where, "no value", value)
        if schema is EVERYTHING:
            return _Applied()
        known = self._known.get((schema, where))
        if known is None:  # each schema once, because references may lead to it in many ways
            self._known[schema, where] = _Applied()  # inside itself a schema says nothing more
            try:
                known = self._applied(value, schema, where, depth)
            except SchemaError as error:
                known = error
            self._known[schema, where] = known
        if isinstance(known, SchemaError):
            raise known.with_traceback(None)
        return known

    def _tried(self, apply: Callable[..., _Applied], *arguments: Any) -> _Applied | None:
        """What ``apply`` returns; ``None`` if the value breaks the schema."""
        try:
            return apply(*arguments)
        except _UncheckedError:
            raise
        except SchemaError:
            return None

    def _applied(self, value: Any, schema: Schema, where: str, depth: int) -> _Applied:
        self._steps += 1
        if self._steps > _MAX_STEPS or depth > _MAX_DEPTH:
            raise _UncheckedError(f"{where}: the schema cannot be checked within {_MAX_STEPS} steps")
        keywords = schema.keywords
        applied = _Applied(typed="type" in keywords or "enum" in keywords)
        applied.implied.update(*(IMPLIED[keyword] for keyword in keywords if keyword in IMPLIED))
        self._given(value, schema, where, applied)
        self._combined(value, keywords, where, depth + 1, applied)
        match value:
            case str():
                _check_text(value, keywords, where)
            case bool():
                pass
            case int() | float():
                _check_number(value, keywords, where)
            case dict():
                self._object(value, schema, where, depth + 1, applied)
            case list() | tuple():
                self._list(value, keywords, where, depth + 1, applied)
        return applied

    def _given(self, value: Any, schema: Schema, where: str, applied: _Applied) -> None:
        """The keywords ``type`` and ``enum``."""
        keywords = schema.keywords
        if "enum" in keywords:  # its members have the type
            written_so = (
                not self._closed
                or not isinstance(value, float)
                or any(isinstance(member, float) and member == value for member in keywords["enum"])
            )
            found = identity(value)
            if not written_so or found not in schema.members:
                listed = ", ".join(map(reprlib.repr, keywords["enum"][:_MAX_LISTED]))
                raise _broken(where, f"one of {listed}", value)
            applied.casts = frozenset()
            if isinstance(value, dict | list | tuple):
                applied.member = schema.members[found]
            return
        kind = "number" if self._closed and isinstance(value, float) else json_type_of(value)
        is_other = self._closed and isinstance(value, tuple) and "type" in keywords and "tuple" not in keywords
        if kind not in schema.types or is_other:
            types = schema.types - {"integer"} if "number" in schema.types else schema.types
            raise _broken(where, " or ".join(sorted(types)) or "no value", value)
        if "type" in keywords:
            casts = {float: "number" in schema.types and "whole" not in keywords, tuple: "tuple" in keywords}
            applied.casts = frozenset(cast for cast, is_said in casts.items() if is_said)

    def _combined(self, value: Any, keywords: NormalizedSchema, where: str, depth: int, applied: _Applied) -> None:
        """The keywords that apply schemas to the value itself."""
        for inner in keywords.get("allOf", ()):
            applied.add(self._apply(value, inner, where, depth))
        for keyword in ("anyOf", "oneOf"):
            if keyword not in keywords:
                continue
            tried = (self._tried(self._apply, value, inner, where, depth) for inner in keywords[keyword])
            found = [one for one in tried if one is not None]
            if not found or (keyword == "oneOf" and len(found) > 1):
                expected = "one of the alternatives" if not found else f"exactly one alternative, not {len(found)},"
                raise _broken(where, f"{expected} of {keyword!r}", value)
            applied.add_alternatives(found)
        if "not" in keywords and self._tried(self._apply, value, keywords["not"], where, depth) is not None:
            raise _broken(where, "what 'not' does not refuse", value)
        if "if" in keywords:
            condition = self._tried(self._apply, value, keywords["if"], where, depth)
            applied.add(condition or _Applied())
            then, other = keywords.get("then", EVERYTHING), keywords.get("else", EVERYTHING)
            applied.add(self._apply(value, other if condition is None else then, where, depth))
        for key, inner in keywords.get("dependentSchemas", {}).items():
            if isinstance(value, dict) and key in value:
                applied.add(self._apply(value, inner, where, depth))

    def _object(self, value: Mapping[Any, Any], schema: Schema, where: str, depth: int, applied: _Applied) -> None:
        keywords = schema.keywords
        _check_count(len(value), keywords, "Properties", where)
        dependent = keywords.get("dependentRequired", {})
        needed = (name for key, names in dependent.items() if key in value for name in names)
        for key in (*keywords.get("required", ()), *needed):
            if key not in value:
                raise _broken(where, f"the required key {key!r}", dict(value))
        keys, unevaluated = read_keys(schema, []), keywords.get("unevaluatedProperties")
        if self._closed:
            applied.keys.update(keywords.get("required", ()), *keywords.get("dependentRequired", {}).values())
        applied.closes |= keys.documents
        if OF_KEYS.isdisjoint(keywords):
            return
        for key in value:
            found = keys.of(str(key)) or keys.additional
            if not found and unevaluated is not None and key not in applied.keys:
                found = [unevaluated]
            self._member(value, key, found, where, depth, applied)
            if found:
                applied.keys.add(key)
            if "propertyNames" in keywords:
                self._apply(str(key), keywords["propertyNames"], f"{_place(where, key)}, its name", depth)

    def _member(
        self, value: Any, member: Any, schemas: Sequence[Schema], where: str, depth: int, applied: _Applied
    ) -> None:
        """SchemaError unless a member obeys schemas, which hold for it then."""
        for schema in schemas:
            self._apply(value[member], schema, _place(where, member), depth)
            applied.members.setdefault(member, {})[schema] = None

    def _list(self, value: Any, keywords: NormalizedSchema, where: str, depth: int, applied: _Applied) -> None:
        _check_count(len(value), keywords, "Items", where)
        if "uniqueItems" in keywords and len(set(map(identity, value))) < len(value):
            raise _broken(where, "no item twice", value)
        first, rest = keywords.get("prefixItems", ()), keywords.get("items")
        for place in range(len(value)):
            inner = first[place] if place < len(first) else rest
            self._member(value, place, [] if inner is None else [inner], where, depth, applied)
        applied.items |= set(range(len(first) if rest is None else len(value)))
        if "contains" in keywords:
            tried = (
                self._tried(self._apply, member, keywords["contains"], _place(where, place), depth)
                for place, member in enumerate(value)
            )
            found = {n for n, one in enumerate(tried) if one is not None}
            most = keywords.get("maxContains")
            if len(found) < keywords.get("minContains", 1) or (most is not None and len(found) > most):
                raise _broken(where, "another number of items that 'contains' allows", value)
            applied.items |= found
        if "unevaluatedItems" in keywords:
            for place in set(range(len(value))) - applied.items:
                self._member(value, place, [keywords["unevaluatedItems"]], where, depth, applied)
            applied.items = set(range(len(value)))


def _as_float(value: int) -> float:
    """The number as a float, if there is one that is equal."""
    try:
        found = float(value)
    except OverflowError:
        return value
    return found if found == value else value


def _place(where: str, member: Any) -> str:
    return f"{where}, item {member}" if isinstance(member, int) else f"{where}, key {member!r}"


def _check_text(value: str, keywords: NormalizedSchema, where: str) -> None:
    """SchemaError unless a text has the length, pattern and format of a schema."""
    _check_count(len(value), keywords, "Length", where)
    for keyword, text, wanted in keywords.get("texts", ()):
        try:
            language = language_of(keyword, text)
        except LanguageError:
            continue
        if language is not ANY_TEXT and (value in language) is not wanted:
            raise _broken(where, f"a text of the {keyword} {text!r}", value)


def _check_number(value: float, keywords: Mapping[str, Any], where: str) -> None:
    """SchemaError unless a number is within the limits of a schema."""
    if not is_number(value):
        raise _broken(where, "a finite number", value)
    for keyword, name, sign in (("low", "minimum", 1), ("high", "maximum", -1)):
        if keyword in keywords:
            limit, is_open = keywords[keyword]
            beyond = sign * (exact(limit) - exact(value))
            if beyond > 0 or (is_open and not beyond):
                raise _broken(where, f"{'exclusive ' if is_open else ''}{name} {written(limit)}", value)
    if "multipleOf" in keywords and (exact(value) / exact(keywords["multipleOf"])).denominator != 1:
        raise _broken(where, f"a multiple of {written(keywords['multipleOf'])}", value)


def _check_count(size: int, keywords: Mapping[str, Any], what: str, where: str) -> None:
    """SchemaError unless a size is within a schema's limits of ``Length``, ``Items`` or ``Properties``."""
    least, most = keywords.get(f"min{what}", 0), keywords.get(f"max{what}", size)
    if size < least:
        raise SchemaError(f"{where}: expected min{what} {least}, got {size}")
    if size > most:
        raise SchemaError(f"{where}: expected max{what} {most}, got {size}")
