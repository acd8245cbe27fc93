"""Reads values in JavaScript's notation as the official type converter does (package bfcl-eval 2026.3.23).

A text that it does not understand stays a text. Like the official one, it splits elements at every comma and ends an
object at its first closing brace. Longer collections than ``LONGEST`` stay texts.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from eval.benchmarks.bfcl.number_texts import LONGEST, number_or_text
from eval.benchmarks.faults import ScorerCrash

_WHOLE: Final = re.compile(r"-?\d+\n?")
_BIG: Final = re.compile(r"-?\d+n\n?")
_FLOAT: Final = re.compile(r"-?\d+(?:\.\d+)?\n?")

_ARRAY: Final = re.compile(r"\[([^\]\n]*)\]|new\s+Array\(([^)\n]*)\)")
_ARRAYS: Final = re.compile(r"(\[|new\s+Array\()\s*\[")
_NEXT_ARRAY: Final = re.compile(r"\s*,\s*\[")
_SPACE: Final = re.compile(r"\s*")
_INNER: Final = re.compile(r"\[([^\]\n]*)\]")
_OBJECT: Final = re.compile(r"\{([^}\n]*)\}")
_PAIR: Final = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def read_javascript(text: str, kind: str, element: str | None) -> Any:
    """Return the value of a text in JavaScript's notation, or the text if it is no value of its type.

    Parameters
    ----------
    kind, element : str
        The documented types of the value, and of its elements if it is an array.

    Raises
    ------
    ScorerCrash
        For a number that is too large for the official converter.
    """
    try:
        return _read(text, kind, element)
    except ValueError:
        raise ScorerCrash(f"the number {text[:40]}… is too large") from None


def _read(text: str, kind: str, element: str | None) -> Any:
    match kind:
        case "String":
            return text[1:-1] if _quoted(text) else text
        case "integer":
            return int(text) if _WHOLE.fullmatch(text) else text
        case "float":
            return float(text) if _FLOAT.fullmatch(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIG.fullmatch(text) else text
        case "Boolean":
            return {"true": True, "false": False}.get(text, text)
        case "array":
            return _read_array(text.strip(), element)
        case "dict":
            return _read_object(text.strip())
    return text


def _read_array(text: str, element: str | None) -> Any:
    if len(text) > LONGEST:
        return text
    end = _arrays_end(text)
    if end is not None:
        first, *others = (inner.strip() for inner in _INNER.findall(text[:end]))
        return [[_untyped(part) for part in inner.split(",")] for inner in (first.removeprefix("["), *others)]
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] if found[1] is not None else found[2]).strip()
    parts = [part.strip() for part in inside.split(",")] if inside else []
    try:
        return [_untyped(part) if element is None else _read(part, element, None) for part in parts]
    except (ValueError, RecursionError):
        return text


def _arrays_end(text: str) -> int | None:
    """Return where an array of arrays ends: ``[[…], […]]`` or ``new Array([…], […])``; None if there is none."""
    opening = _ARRAYS.match(text)
    if opening is None:
        return None
    closing = "]" if opening[1] == "[" else ")"
    failed: set[int] = set()

    def behind(begin: int) -> int | None:
        """Return where all ends if an inner array begins here."""
        place = text.find("]", begin)
        line = text.find("\n", begin)
        while place >= 0 and (line < 0 or place < line):
            if place not in failed:
                following = _NEXT_ARRAY.match(text, place + 1)
                end = behind(following.end()) if following else None
                last = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]  # it matches an empty text too
                if end is not None:
                    return end
                if text.startswith(closing, last):
                    return last + 1
                failed.add(place)
            place = text.find("]", place + 1)
        return None

    try:
        return behind(opening.end())
    except RecursionError:
        return None


def _read_object(text: str) -> Any:
    if len(text) > LONGEST:
        return text
    if text == "{}":
        return {}
    found = _OBJECT.match(text)
    if found is None:
        return text
    return {key.strip().strip("'\""): _member(value.strip()) for key, value in _PAIR.findall(found[1])}


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _read_array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _read_object(text)
    return _untyped(text.strip("'\""))


def _untyped(text: str) -> Any:
    """Return a value by its looks."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if _quoted(text):
        return text[1:-1]
    return number_or_text(text)


def _quoted(text: str) -> bool:
    return any(text.startswith(mark) and text.endswith(mark) for mark in "\"'")


def javascript_texts(value: Any) -> Iterator[str]:
    """Yield the ways to write a value, one for each type that may take it."""
    if isinstance(value, str):
        yield value
    else:
        text = json.dumps(value, ensure_ascii=False)
        yield from (text, f"{text}n")
