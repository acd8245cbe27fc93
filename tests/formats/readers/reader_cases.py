"""Texts of calls in every format: what original templates wrote, and every spelling of the same calls."""

import ast
import importlib.util
import json
import re
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tooldecoding.formats.call_format import ID, Call, CallFormat
from tooldecoding.formats.calls_reader import read_back
from tooldecoding.formats.cursor import ReadCall, Reader, UnreadableCallError
from tooldecoding.formats.known_formats import CALL_FORMATS

JUDGES = Path(__file__).resolve().parents[4] / "shared" / "judges"
needs_judges = pytest.mark.skipif(not JUDGES.is_dir(), reason=f"the judges are not at {JUDGES}")

READERS: dict[str, Reader] = {n: partial(read_back, form) for n, form in CALL_FORMATS.items() if n != "api-bank"}
RAW = {"glm-4.5", "glm-4.7", "minimax-m2", "qwen-xml"}

# where the block of calls begins, and what a turn ends with behind it
_BEGIN = {
    "cohere": "<|START_ACTION|>", "deepseek-v3": "<｜tool▁calls▁begin｜>", "deepseek-v3.1": "<｜tool▁calls▁begin｜>",
    "deepseek-v3.2": "<｜DSML｜function_calls>", "gemma4": "<|tool_call>", "glm-4.5": "<tool_call>",
    "harmony": " to=functions.", "hermes": "<tool_call>", "json-list": "[", "kimi-k2": "<|tool_calls_section_begin|>",
    "lfm2.5": "<|tool_call_start|>", "llama3-json": "{", "minimax-m2": "<minimax:tool_call>",
    "mistral-args": "[TOOL_CALLS]", "mistral-list": "[TOOL_CALLS]", "qwen-xml": "<tool_call>",
}  # fmt: skip
_END = re.compile(
    r"(?:<\|im_end\|>\n?|<\|eot_id\|>|</s>|<｜end▁of▁sentence｜>|<\|END_OF_TURN_TOKEN\|>|\n?\[e~\[\n?|<\|tool_response>)\Z"
)
_VARIANTS = {
    "harmony": [" to=functions.a.b<|channel|>commentary <|constrain|>json<|message|>{}<|call|>"],
    "llama3-json": ['{"name": "f", "parameters": {"a": "; "}}; {"name": "g", "parameters": {}}'],
    "lfm2.5": ['<|tool_call_start|>[f(a={"b": [true, null], "c": {"d": false}}, e=[None, True])]<|tool_call_end|>'],
}


@cache
def judge() -> Any:
    """The module of the strict readers that know nothing of this project."""
    spec = importlib.util.spec_from_file_location("read_calls", JUDGES / "read_calls.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def rendered() -> dict[str, list[tuple[str, list[ReadCall]]]]:
    """For each format the blocks of calls that original templates wrote without loss, with the calls."""
    found = defaultdict[str, list[tuple[str, list[ReadCall]]]](list)
    for path in sorted(JUDGES.glob("rendered*.jsonl")):
        for line in path.read_text(encoding="utf-8").strip().split("\n"):  # texts hold other line ends
            row = json.loads(line)
            text = row["assistant_text"]
            if not row.get("lossy"):
                block = _END.sub("", text[text.index(_BEGIN[row["format"]]) :])
                found[row["format"]].append((block, [(name, [*keys.items()]) for name, keys in row["calls"]]))
    return dict(found)


def spelled(form: CallFormat, calls: list[ReadCall]) -> list[str]:
    """The calls in every spelling of a format, with ids."""
    texts = [each.render([Call(name, dict(pairs)) for name, pairs in calls]) for each in form.spellings]
    for number in range(len(calls)):
        texts = [text.replace(ID, f"call0000{number}", 1) for text in texts]
    return texts


@cache
def samples(name: str) -> list[str]:
    """Some dozens of valid texts of a format, without repetitions."""
    form = CALL_FORMATS[name]
    texts = [text for text, calls in rendered().get(name, []) if name not in RAW or not padded(calls)]
    for number, (_, calls) in enumerate(rendered()["json-list"]):
        if name not in RAW or not padded(calls):
            texts.append(spelled(form, calls if form.parallel else calls[:1])[number % len(form.spellings)])
    return list(dict.fromkeys([*_VARIANTS.get(name, []), *texts]))


def padded(calls: list[ReadCall]) -> bool:
    """Whether a text of the calls has white space around it, which raw values cannot carry."""
    return any(isinstance(value, str) and value != value.strip() for _, pairs in calls for _, value in pairs)


def read(name: str, text: str) -> list[ReadCall] | None:
    """What the reader of a format reads; None if it takes a text for no calls."""
    try:
        return READERS[name](text)
    except UnreadableCallError:
        return None


class JsonWords(ast.NodeTransformer):
    """Puts constants for the words of JSON in a syntax tree of Python."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        words = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node
