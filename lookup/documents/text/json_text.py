"""Find JSON and Python objects in any text.

A text that starts as JSON is JSON or JSON lines; it must be well-formed up to the prose that may follow. In prose, a
bracket that opens no literal is ordinary text unless it looks like a broken tool. String literals are not searched.
Brackets that a failed attempt left open are not tried again, which keeps the scan linear.
"""

import re
from collections.abc import Iterator
from typing import Final

from lookup.errors import LiteralError, MisreadError, found_at
from lookup.literals.literal_reader import LiteralReader, OpenContainer
from lookup.scanning import skip
from lookup.source import Piece, Stretches

# Includes the beginnings of tools that have lost their first quote or bracket.
_CANDIDATE = re.compile(r"""\{(?=\s*(?:["']|name["']))|\[(?=\s*(?:[\[{]|["']name["']))""")
_JSON_START = re.compile(r"\{\s*[\"'}]|\[\s*[\[{\]\"']")
_BLANK = re.compile(r"[\s\ufeff]*")
_MARKER = re.compile(
    r"""["'](parameters|input_parameters|required_parameters|inputSchema|input_schema|description|api_description)["']?\s*:"""
)
_NAME_KEY = re.compile(r"""(?:["'](?:api_)?name["']?|name["'])\s*:?\s*(["']?)""")
_NAME_BEFORE = re.compile(r"""["']name["']\s*\Z""")
_SCHEMA_WORD = re.compile(r"""["'](?:type|properties|description)["']\s*:""")
_CALL_KEYS: Final = frozenset({"parameters", "input_parameters"})
_HEAD_LENGTH: Final = 1000


def find_json(text: str, taken: Stretches, strict: bool = False) -> Iterator[Piece]:
    """The literals of a text, in order. A malformed one that looks like a tool has an ``error``.

    MisreadError if a text that starts as JSON is malformed.

    Parameters
    ----------
    taken : Stretches
        Ranges that are already read; literals that start there are skipped.
    strict : bool
        The text is a JSON or JSON lines file: prose is an error.
    """
    reader = LiteralReader(text)
    position = skip(_BLANK, text, 0)
    if not taken and (strict or _JSON_START.match(text, position)):
        first = position
        while position < len(text) and (strict or _JSON_START.match(text, position)):
            try:
                value, end = reader.read(position)
            except LiteralError as error:
                raise _misread(text, error) from None
            start, position = position, skip(_BLANK, text, end)
            whole = start == first and position == len(text)
            yield Piece(value, start, end, reader.spans, document=True, whole=whole)
        if text[position : position + 1] in ("}", "]", ":"):
            raise MisreadError(
                f"expected the end of the text or another JSON document, found {found_at(text, position)}", position
            )
    yield from _in_prose(reader, position, taken)


def _in_prose(reader: LiteralReader, position: int, taken: Stretches) -> Iterator[Piece]:
    text = reader.text
    tried: set[int] = set()
    while match := _CANDIDATE.search(text, position):
        start = match.start()
        if end := taken.end_at(start):
            position = end
            continue
        position = start + 1
        if start in tried:
            continue
        try:
            value, position = reader.read(start)
        except LiteralError as error:
            unread = [container for container in reader.open if taken.end_at(container.start) is None]
            if any(_is_broken_tool(text, container, error.position) for container in unread):
                yield Piece(None, start, max(error.position, start + 1), {}, error=_misread(text, error))
            tried.update(container.start for container in reader.open)
        else:
            yield Piece(value, start, position, reader.spans)


def _is_broken_tool(text: str, container: OpenContainer, position: int) -> bool:
    """Whether a malformed object has a name and another key of a tool near its start.

    If the name is not a text, two other keys are required, because instructions describe calls as
    ``{"name": function name, "parameters": ...}``.
    """
    if container.bracket != "{":
        # A list that contains "name": is an object without its opening bracket.
        return text[position : position + 1] == ":" and bool(_NAME_BEFORE.search(text[position - 20 : position]))
    end = text.find("}", container.start, container.start + _HEAD_LENGTH)
    head = text[container.start : end if end >= 0 else container.start + _HEAD_LENGTH]
    name = _NAME_KEY.search(head) if "name" in head else None
    named = {"name", "api_name"} & set(container.keyed)
    keys = set(_MARKER.findall(head)) if name or named else set()
    keys |= {key for key in container.keyed if isinstance(key, str) and _MARKER.match(f'"{key}":')}
    if any(isinstance(container.keyed[key], str) for key in named) or (name and name[1]):
        # A call with placeholders also has a name and parameters, but does not describe them.
        return bool(keys - _CALL_KEYS) or (bool(keys) and _SCHEMA_WORD.search(head) is not None)
    return name is not None and len(keys) > 1


def _misread(text: str, error: LiteralError) -> MisreadError:
    return MisreadError(f"expected {error.expected}, found {found_at(text, error.position)}", error.position)
