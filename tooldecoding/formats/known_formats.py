"""All call formats, and which names of tools and keys each can carry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from lookup.dictionary import ToolSpec
from lookup.grammar.literal_values import render_value
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.calls_reader import read_back
from tooldecoding.formats.cursor import ReadCall, UnreadableCallError
from tooldecoding.formats.json_objects import COHERE, GRANITE3, HERMES, JSON_LIST, LLAMA3_JSON, MISTRAL_LIST, PHI4_MINI
from tooldecoding.formats.named_json import DEEPSEEK_V3, DEEPSEEK_V31, HARMONY, KIMI_K2, MISTRAL_ARGS
from tooldecoding.formats.pythonic import API_BANK, LFM25, LLAMA4_PYTHONIC, OLMO3, PYTHONIC
from tooldecoding.formats.tags import DEEPSEEK_V32, FUNCTIONGEMMA, GEMMA4, GLM45, GLM47, MINIMAX_M2, QWEN_XML
from tooldecoding.formats.thinking import MARKS as THINKING_MARKS

_NAMED: Final = 3
"""So many formats are named in a message."""

BENCHMARK_FORMATS: Final = (API_BANK, PYTHONIC)
"""The formats of the benchmarks API-Bank and BFCL, which no chat template writes."""

NATIVE_FORMATS: Final = (
    HERMES, QWEN_XML, LLAMA3_JSON, MISTRAL_LIST, MISTRAL_ARGS, GLM45, GLM47, DEEPSEEK_V3, DEEPSEEK_V31, DEEPSEEK_V32,
    HARMONY, GEMMA4, FUNCTIONGEMMA, LLAMA4_PYTHONIC, LFM25, OLMO3, JSON_LIST, GRANITE3, PHI4_MINI, KIMI_K2, MINIMAX_M2,
    COHERE,
)  # fmt: skip
"""The formats that models were trained on."""

CALL_FORMATS: Mapping[str, CallFormat] = {f.name: f for f in (*BENCHMARK_FORMATS, *NATIVE_FORMATS)}
"""Name -> format."""

MARKS: Final = tuple(dict.fromkeys([*(mark for f in NATIVE_FORMATS for mark in f.marks), *THINKING_MARKS]))
"""Texts that some models have as tokens of their own."""

_ENDS: Final = (
    "<|endoftext|>", "<|im_end|>", "</s>", "<eos>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|EOT|>",
    "<end_of_turn>", "<turn|>", "<|end_of_turn|>", "<|endofturn|>", "[|endofturn|]", "<|END_OF_TURN_TOKEN|>",
    "<|EOT_TOKEN|>", "<｜end▁of▁sentence｜>", "<|end_of_sentence|>", "<|return|>", "[EOS]",
)  # fmt: skip
"""Tokens that end the text in every family that has them. A GGUF file names one end of a model that uses several."""

TURN_ENDS: Final = tuple(dict.fromkeys([*(end for f in NATIVE_FORMATS for end in f.turn_ends), *_ENDS]))
"""Special tokens that end an assistant's turn."""


def unread(call_format: CallFormat, text: str, calls: Sequence[Call]) -> str:
    """Return why the format's reader does not read the calls in their ``text``; empty if it does, value for value."""
    try:
        found = read_back(call_format, text)
    except UnreadableCallError as error:
        reason = str(error)
    else:
        written = [(c.name, [(key, c.arguments[key]) for key in call_format.ordered(c.arguments)]) for c in calls]
        if _rendered(call_format, found) == _rendered(call_format, written):
            return ""
        reason = "it reads other names, keys or values"
    names = [part for call in calls for part in _uncarried(call_format, call.name, call.arguments)]
    cause = f"it cannot carry {'; '.join(dict.fromkeys(names))}" if names else reason
    return f"the reader of the format {call_format.name} does not read this call back: {cause}"


def unreadable(call_format: CallFormat, tools: Mapping[str, ToolSpec]) -> list[str]:
    """Return a line for each tool name or key that the format cannot carry, with the formats that can.

    This is known before decoding. Calls with other names and keys are read back whatever their values.
    """
    return [
        line
        for tool in tools.values()
        for line in _uncarried(call_format, tool.name, [p.name for p in tool.parameters])
    ]


def _rendered(call_format: CallFormat, calls: Iterable[ReadCall]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return calls with their values as text, which tells types apart, but not tuples from arrays."""
    return [(name, [(key, render_value(value, call_format.notation)) for key, value in pairs]) for name, pairs in calls]


def _uncarried(call_format: CallFormat, tool: str, keys: Iterable[str]) -> Iterator[str]:
    parts = [(f"the tool name {tool!r}", (tool, None)), *((f"the key {k!r} of {tool}", ("f", k)) for k in keys)]
    for what, (name, key) in parts:
        if not _carries(call_format, name, key):
            able = [other.name for other in CALL_FORMATS.values() if _carries(other, name, key)]
            more = f" and {len(able) - _NAMED} more" if len(able) > _NAMED else ""
            yield f"{what} ({', '.join(able[:_NAMED]) or 'no format'}{more} can carry it)"


@lru_cache(maxsize=1 << 16)
def _carries(call_format: CallFormat, name: str, key: str | None) -> bool:
    """Whether the format's reader reads a tool's name, and a key if there is one, as they are."""
    arguments = {} if key is None else {key: "value"}
    try:
        return read_back(call_format, call_format.render([Call(name, arguments)])) == [(name, [*arguments.items()])]
    except UnreadableCallError:
        return False
