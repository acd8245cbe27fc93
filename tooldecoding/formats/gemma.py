"""The formats of Gemma: bare keys, and texts between marks, without escapes.

gemma4: ``<|tool_call>call:f{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],o:{k:true}}<tool_call|>``

functiongemma, the 270M model: ``<start_function_call>call:f{city:<escape>Paris<escape>,days:3}<end_function_call>``

Further calls follow directly behind. The models know keys in alphabetic sequence; a reader does not ask for it.
Source: the chat template of Gemma 4; Google's page on FunctionGemma's formatting.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.values.notations import BareKeys
from tooldecoding.formats.blocks import BlockReader
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.json_calls import json_value
from tooldecoding.formats.reading import MAX_DEPTH, Cursor

_KEY: Final = re.compile(r'([^\s:,{}\[\]<>"|]++):')
_SCALAR: Final = re.compile(r"(?=[-0-9]|(?:true|false|null)\b)")


@dataclass(frozen=True)
class BareArguments:
    """Reads the pairs of an object and its closing bracket, with texts between two marks; else UnreadableCallError."""

    mark: str

    def __call__(self, cursor: Cursor, depth: int = 0) -> list[tuple[str, Any]]:
        """Read the pairs."""
        pairs = list[tuple[str, Any]]()
        while not cursor.take("}"):
            if pairs:
                cursor.expect(",")
            key = cursor.match(_KEY, "a bare key and a colon")[1]
            pairs.append((key, self._value(cursor, depth)))
        return pairs

    def _value(self, cursor: Cursor, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise cursor.error(f"values are nested deeper than {MAX_DEPTH} levels")
        if cursor.take(self.mark):
            return cursor.until(self.mark)
        if cursor.take("["):
            return self._items(cursor, depth + 1)
        if cursor.take("{"):
            pairs = self(cursor, depth + 1)
            found = dict(pairs)
            if len(found) != len(pairs):
                raise cursor.error("an object has a key twice")
            return found
        cursor.match(_SCALAR, f"a number, true, false, null, a list, an object or {self.mark}")
        return json_value(cursor)

    def _items(self, cursor: Cursor, depth: int) -> list[Any]:
        items = list[Any]()
        while not cursor.take("]"):
            if items:
                cursor.expect(",")
            items.append(self._value(cursor, depth))
        return items


GEMMA4 = CallFormat(
    name="gemma4",
    notation=BareKeys('<|"|>'),
    parallel=True,
    reader=BlockReader(
        head="<|tool_call>call:",
        bracket="{",
        arguments=BareArguments('<|"|>'),
        tail="<tool_call|>",
    ),
    opener="<|tool_call>call:",
    bracket="{",
    key_closer=":",
    separator=",",
    end="}<tool_call|>",
    next_call="<|tool_call>call:",
    closer="",
    marks=("<|tool_call>", "<tool_call|>", '<|"|>'),
    turn_ends=("<turn|>", "<|tool_response>"),
    sorted_keys=True,
)

FUNCTIONGEMMA = replace(
    GEMMA4,
    name="functiongemma",
    notation=BareKeys("<escape>"),
    reader=BlockReader(
        head="<start_function_call>call:",
        bracket="{",
        arguments=BareArguments("<escape>"),
        tail="<end_function_call>",
    ),
    opener="<start_function_call>call:",
    end="}<end_function_call>",
    next_call="<start_function_call>call:",
    marks=("<start_function_call>", "<end_function_call>", "<escape>"),
    turn_ends=("<end_of_turn>", "<start_function_response>"),
)
