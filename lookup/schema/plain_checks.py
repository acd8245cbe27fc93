"""Checks of finished values without a look inside: texts, numbers, sizes, required keys."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.languages.language import Language, format_language, pattern_language
from lookup.languages.limits import LanguageError
from lookup.messages import written
from lookup.schema.words import count, exact, names, number, schemas

_MAX_SHOWN: Final = 80


class SchemaError(ValueError):
    """A value that breaks its schema. The message says what was expected, and what was found where."""


def broken(where: str, expected: str, value: Any) -> SchemaError:
    """The error of a value that is not what its schema expects."""
    shown = written(value)
    if len(shown) > _MAX_SHOWN:
        shown = shown[: _MAX_SHOWN - 1] + "…"
    return SchemaError(f"{where}: expected {expected}, got {shown}")


def check_text(value: str, schema: Mapping[str, Any], where: str) -> None:
    """SchemaError unless a text has the length, pattern and format of a schema."""
    check_count(len(value), schema, "Length", where)
    build: dict[str, Callable[[str], Language | None]] = {"pattern": pattern_language, "format": format_language}
    for word, language_of in build.items():
        name = schema.get(word)
        language = _tried(language_of, name) if isinstance(name, str) else None
        if language is not None and not matches(language, value):
            raise broken(where, f"a text of the {word} {name!r}", value)


def check_number(value: float, schema: Mapping[str, Any], where: str) -> None:
    """SchemaError unless a number is within the limits of a schema."""
    if isinstance(value, float) and not math.isfinite(value):
        raise broken(where, "a finite number", value)
    given = exact(value)
    for word, sign in (("minimum", 1), ("maximum", -1)):
        limit = number(schema, word)
        beyond = number(schema, f"exclusive{word.capitalize()}")
        exclusive = schema.get(f"exclusive{word.capitalize()}") is True
        if limit is not None and (sign * (given - limit) < 0 or (exclusive and given == limit)):
            raise broken(where, f"{word} {written(schema[word])}", value)
        if beyond is not None and sign * (given - beyond) <= 0:
            raise broken(where, f"exclusive {word} {written(schema[f'exclusive{word.capitalize()}'])}", value)
    step = number(schema, "multipleOf")
    if step and (given / step).denominator != 1:
        raise broken(where, f"a multiple of {written(schema['multipleOf'])}", value)


def check_count(size: int, schema: Mapping[str, Any], what: str, where: str) -> None:
    """SchemaError unless a size is within a schema's limits of ``Length``, ``Items`` or ``Properties``."""
    least, most = count(schema, f"min{what}"), count(schema, f"max{what}")
    if least is not None and size < least:
        raise SchemaError(f"{where}: expected min{what} {least}, got {size}")
    if most is not None and size > most:
        raise SchemaError(f"{where}: expected max{what} {most}, got {size}")


def check_keys(value: Mapping[Any, Any], schema: Mapping[str, Any], where: str) -> None:
    """SchemaError unless an object has as many keys as a schema wants, and the required ones."""
    check_count(len(value), schema, "Properties", where)
    needed = names(schema.get("required"))
    for word in ("dependentRequired", "dependencies"):
        lists = schema.get(word)
        for key, keys in lists.items() if isinstance(lists, dict) else ():
            if key in value:
                needed += [keys] if isinstance(keys, str) else names(keys)
    for key in needed:
        if key not in value:
            raise broken(where, f"the required key {key!r}", dict(value))


def _tried(build: Callable[[str], Language | None], name: str) -> Language | None:
    try:
        return build(name)
    except LanguageError:
        return None


def pattern_schemas(schema: Mapping[str, Any]) -> list[tuple[Language, Any]]:
    """The patterns of ``patternProperties`` that are automata, and their schemas."""
    found = (
        (_tried(pattern_language, pattern), inner) for pattern, inner in schemas(schema, "patternProperties").items()
    )
    return [(language, inner) for language, inner in found if language is not None]


def matches(language: Language, text: str) -> bool:
    """Whether a text is in a language."""
    state = language.run(language.start, text)
    return state is not None and language.whole(state)
