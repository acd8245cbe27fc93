"""Reads values in Java's notation as the official type converter for Java does (package bfcl-eval 2026.3.23).

A text that it does not understand stays a text. Like the official one, it looks for the first collection in a text,
splits elements at every comma, and keeps quotes around the texts of an ``Array``. Longer collections than ``LONGEST``
stay texts: the official patterns take time that is not linear in their length.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from eval.benchmarks.bfcl.number_texts import LONGEST, number_or_text
from eval.benchmarks.faults import ScorerCrash

_WHOLE: Final = re.compile(r"-?\d+\n?")
_LONG: Final = re.compile(r"-?\d+[lL]\n?")
_DOUBLE: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\n?")
_FLOAT: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[fF]\n?")

_ARRAY: Final = re.compile(r"new\s+\w+\[\]\s*\{([^}\n]*)\}")
_LIST_OF: Final = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.[^\n]*?)\)\)")
_LIST_ADDED: Final = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(\S.*?)\s*\}\}", re.DOTALL)
_LIST_EMPTY: Final = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADD: Final = re.compile(r"add\((.+?)\)")
_MAP: Final = re.compile(r"new\s+HashMap<")
_MAP_BODY: Final = re.compile(r"\s*\(\)\s*\{\s*\{?\s*")
_MAP_EMPTY: Final = re.compile(r"new\s+HashMap<[^\n]*?>\s*\(\)")
_PUT: Final = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")

_UNREAD: Final = ("Set", "Hashtable", "Queue", "Stack")


def read_java(text: str, kind: str, element: str | None) -> Any:
    """Return the value of a text in Java's notation, or the text if it is no value of its type.

    Parameters
    ----------
    kind, element : str
        The documented types of the value, and of its elements if it is a list.

    Raises
    ------
    ScorerCrash
        For a type that the official converter ends at with an exception, and for a number that is too large for it.
    """
    try:
        return _read(text, kind, element)
    except ValueError:
        raise ScorerCrash(f"the number {text[:40]}… is too large") from None


def _read(text: str, kind: str, element: str | None) -> Any:
    match kind:
        case "byte" | "short" | "integer":
            return int(text) if _WHOLE.fullmatch(text) else text
        case "long":
            return int(text.rstrip("\n")[:-1]) if _LONG.fullmatch(text) else text
        case "float":
            return float(text.rstrip("\n")[:-1]) if _FLOAT.fullmatch(text) else text
        case "double":
            return float(text) if _DOUBLE.fullmatch(text) else text
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "char" | "String" | "any":
            return text
        case "Array" | "ArrayList" | "HashMap":
            if len(text) > LONGEST:
                return text
            readers = {"Array": _read_array, "ArrayList": _read_list}
            return readers[kind](text, element) if kind in readers else _read_map(text)
    raise ScorerCrash(f"values of the type {kind} are not read")


def _read_array(text: str, element: str | None) -> Any:
    found = _ARRAY.search(text)
    if found is None:
        return text
    parts = (part.strip() for part in found[1].split(","))
    return [_untyped(part) if element is None else _read(part, element, None) for part in parts if part]


def _read_list(text: str, element: str | None) -> Any:
    if found := _LIST_OF.search(text):
        return [_element(part, element) for part in found[1].split(",")]
    if found := _LIST_ADDED.search(text):
        return [_element(part, element) for part in _ADD.findall(found[1])]
    return [] if _LIST_EMPTY.search(text) else text


def _element(text: str, element: str | None) -> Any:
    text = text.strip()
    if element in ("char", "String"):
        return text[1:-1]
    return _untyped(text) if element is None else _read(text, element, None)


def _read_map(text: str) -> Any:
    body = _map_body(text)
    if body is not None:
        return {key: _untyped(value.strip()) for key, value in _PUT.findall(body)}
    return {} if _MAP_EMPTY.search(text) else text


def _map_body(text: str) -> str | None:
    """Return what stands in the braces behind the first ``new HashMap<…>()``, up to the first closing brace."""
    for start in _MAP.finditer(text):
        place = text.find(">", start.end())
        while place >= 0:
            body = _MAP_BODY.match(text, place + 1)
            end = -1 if body is None else text.find("}", body.end())
            if body is not None and end >= 0:
                return text[body.end() : end].rstrip()
            place = text.find(">", place + 1)
    return None


def _untyped(text: str) -> Any:
    """Return a value by its looks."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.fullmatch(text):
        return int(text.rstrip("\n")[:-1])
    if _FLOAT.fullmatch(text):
        return float(text.rstrip("\n")[:-1])
    return number_or_text(text)


def java_texts(value: Any) -> Iterator[str]:
    """Yield the ways to write a value, one for each type that may take it."""
    if isinstance(value, dict):
        puts = "".join(f' put("{key}", {_literal(inner)});' for key, inner in value.items())
        yield f"new HashMap<>() {{{{{puts} }}}}"
    elif isinstance(value, list):
        for written in (map(_literal, value), (f"{_literal(each)}L" for each in value), map(str, value)):
            elements = ", ".join(written)
            yield f"new Object[]{{{elements}}}"
            yield f"new ArrayList<>(Arrays.asList({elements}))" if value else "new ArrayList<>()"
    else:
        text = value if isinstance(value, str) else _literal(value)
        yield from (text, f"{text}L", f"{text}f")


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
