"""Formats whose calls are JSON objects, each by itself or in one list.

hermes, of Hermes 3, Qwen2.5, QwQ, Qwen3, SmolLM3 and Granite 4, further calls behind a newline:
``<tool_call>\\n{"name": "f", "arguments": {"city": "Paris", "days": 3}}\\n</tool_call>``; EXAONE 4 writes it without
the newlines around the object

llama3-json, of Llama 3.1, 3.2 and 3.3: ``{"name": "f", "parameters": {"city": "Paris", "days": 3}}``; their templates
refuse a second call in one turn, vLLM reads several with ``"; "`` between them

json-list, of xLAM-2: ``[{"name": "f", "arguments": {"city": "Paris", "days": 3}}]``

granite3, of Granite 3.0 and of 3.1 and later: ``<|tool_call|>[{"name": …}]`` and ``<tool_call>[{"name": …}]``

phi4-mini, of Phi-4-mini and of vLLM's template for it: ``<|tool_call|>[{"name": …}]<|/tool_call|>`` and
``functools[{"name": …}]``

mistral-list, in versions 2, 3 and 7 of Mistral's tokenizer; version 2 has no ids, and a space stands in front of the
list with SentencePiece: ``[TOOL_CALLS] [{"name": "f", "arguments": {"city": "Paris"}, "id": "call00000"}]``

cohere, of Command R7B and Command A, a list of counted calls::

    <|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "f", "parameters": {"city": "Paris", "days": 3}}
    ]<|END_ACTION|>

Source: the chat templates of Qwen2.5, Qwen3, Llama 3.1, Llama 3.2 and Command R7B; the structural tags of xgrammar for
EXAONE 4; the model handlers of the Berkeley Function-Calling Leaderboard; vLLM's parsers ``llama``, ``xlam``,
``granite`` and ``phi4mini``; mistral-common.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from tooldecoding.formats.call_format import INDEX, CallFormat
from tooldecoding.formats.json_calls import NAME_AND_ARGUMENTS, call_of, demand_ids, json_call, json_calls, json_rows
from tooldecoding.formats.reading import Cursor, ReadCall, UnreadableCallError


def read_hermes(text: str) -> list[ReadCall]:
    """Read ``<tool_call>`` blocks, all with newlines around their objects or all without.

    Blocks without newlines inside may follow each other with a newline between them or without.

    Raises
    ------
    UnreadableCallError
        If the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    cursor = Cursor(text)
    cursor.expect("<tool_call>")
    inside = "\n" if cursor.take("\n") else ""
    calls = []
    while True:
        calls.append(json_call(cursor, NAME_AND_ARGUMENTS))
        cursor.expect(f"{inside}</tool_call>")
        if cursor.position == len(text):
            return calls
        between = cursor.take("\n")
        if inside and not between:
            raise cursor.error("expected a newline or the end")
        cursor.expect(f"<tool_call>{inside}")


HERMES = CallFormat(
    name="hermes",
    notation="json",
    parallel=True,
    reader=read_hermes,
    opener='<tool_call>\n{"name": "',
    bracket='", "arguments": {',
    end="}}\n</tool_call>",
    next_call='\n<tool_call>\n{"name": "',
    closer="",
    marks=("<tool_call>", "</tool_call>"),
    turn_ends=("<|im_end|>", "<|end_of_text|>", "[|endofturn|]"),
)


def read_llama3_json(text: str) -> list[ReadCall]:
    """Read one call, or several joined by ``"; "``; UnreadableCallError as ``read_hermes``."""
    cursor = Cursor(text)
    calls = [json_call(cursor, ("name", "parameters"))]
    while cursor.take("; "):
        calls.append(json_call(cursor, ("name", "parameters")))
    cursor.expect_end()
    return calls


LLAMA3_JSON = CallFormat(
    name="llama3-json",
    notation="json",
    parallel=False,  # the chat template refuses two calls
    reader=read_llama3_json,
    opener='{"name": "',
    bracket='", "parameters": {',
    end="}}",
    closer="",
    turn_ends=("<|eot_id|>", "<|eom_id|>"),
)


@dataclass(frozen=True)
class ListReader:
    """Reads one JSON list of calls between one of some pairs of marks; UnreadableCallError as ``read_hermes``."""

    marks: tuple[tuple[str, str], ...] = (("", ""),)

    def __call__(self, text: str) -> list[ReadCall]:
        """Read the calls."""
        cursor = Cursor(text)
        opener, closer = next((pair for pair in self.marks if text.startswith(pair[0])), self.marks[-1])
        cursor.expect(opener)
        calls = json_calls(cursor)
        cursor.expect(closer)
        cursor.expect_end()
        return calls


JSON_LIST = CallFormat(
    name="json-list",
    notation="json",
    parallel=True,
    reader=ListReader(),
    opener='[{"name": "',
    bracket='", "arguments": {',
    end="}}",
    next_call=', {"name": "',
    closer="]",
    turn_ends=("<|eot_id|>", "<|im_end|>"),
)

GRANITE3 = replace(
    JSON_LIST,
    name="granite3",
    reader=ListReader((("<tool_call>", ""), ("<|tool_call|>", ""))),
    opener='<tool_call>[{"name": "',
    marks=("<tool_call>",),
    turn_ends=("<|end_of_text|>",),
)

PHI4_MINI = replace(
    JSON_LIST,
    name="phi4-mini",
    reader=ListReader((("functools", ""), ("<|tool_call|>", "<|/tool_call|>"))),
    opener='<|tool_call|>[{"name": "',
    closer="]<|/tool_call|>",
    marks=("<|tool_call|>", "<|/tool_call|>"),
    turn_ends=(),  # <|end|> ends no turn of gpt-oss; Phi's own configuration names it
)


def read_mistral_list(text: str) -> list[ReadCall]:
    """Read ``[TOOL_CALLS]`` and a JSON list, in which all calls have an id or none has; else UnreadableCallError."""
    cursor = Cursor(text)
    cursor.expect("[TOOL_CALLS]")
    cursor.take(" ")
    rows = json_rows(cursor, NAME_AND_ARGUMENTS, (*NAME_AND_ARGUMENTS, "id"))
    cursor.expect_end()
    demand_ids([row[2] for row in rows if len(row) > 2])
    return [call_of(*row[:2]) for row in rows]


MISTRAL_LIST = replace(
    JSON_LIST,
    name="mistral-list",
    reader=read_mistral_list,
    opener='[TOOL_CALLS] [{"name": "',
    marks=("[TOOL_CALLS]",),
    turn_ends=("</s>",),
)

_COUNT: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def read_cohere(text: str) -> list[ReadCall]:
    """Read one list of calls. Their ids rise by one from any number, since they count the whole dialogue.

    UnreadableCallError as ``read_hermes``.
    """
    cursor = Cursor(text)
    cursor.expect("<|START_ACTION|>")
    rows = json_rows(cursor, ("tool_call_id", "tool_name", "parameters"))
    cursor.expect("<|END_ACTION|>")
    cursor.expect_end()
    ids = [row[0] for row in rows]
    if not all(isinstance(i, str) and _COUNT.fullmatch(i) for i in ids):
        raise UnreadableCallError("expected a number in quotes as tool_call_id")
    if any(int(following) != int(i) + 1 for i, following in pairwise(ids)):
        raise UnreadableCallError("expected every tool_call_id to be one more than the last")
    return [call_of(name, parameters) for _, name, parameters in rows]


_CALL = f'\n    {{"tool_call_id": "{INDEX}", "tool_name": "'

COHERE = CallFormat(
    name="cohere",
    notation="json",
    parallel=True,
    reader=read_cohere,
    opener=f"<|START_ACTION|>[{_CALL}",
    bracket='", "parameters": {',
    end="}}",
    next_call=f",{_CALL}",
    closer="\n]<|END_ACTION|>",
    marks=("<|START_ACTION|>", "<|END_ACTION|>"),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
)
