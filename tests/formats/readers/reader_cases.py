"""The readers by the names of the judges' formats, the judges, and the calls that original templates wrote."""

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.formats.reading import ReadCall, Reader, UnreadableCallError

JUDGES = Path(__file__).resolve().parents[4] / "shared" / "judges"
needs_judges = pytest.mark.skipif(not JUDGES.is_dir(), reason=f"the judges are not at {JUDGES}")

READERS: dict[str, Reader] = {name: form.reader for name, form in CALL_FORMATS.items() if name != "api-bank"}
RAW = {"glm-4.5", "glm-4.7", "minimax-m2", "qwen-xml"}
PYTHON = {"lfm2.5", "llama4-pythonic", "olmo3", "pythonic"}

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
    found = dict[str, list[tuple[str, list[ReadCall]]]]()
    for row in _rows():
        text = row["assistant_text"]
        block = _END.sub("", text[text.index(_BEGIN[row["format"]]) :])
        calls = [(name, [*arguments.items()]) for name, arguments in row["calls"]]
        found.setdefault(row["format"], []).append((block, calls))
    return found


def _rows() -> Iterator[dict[str, Any]]:
    for name in ("rendered.jsonl", "rendered_more.jsonl"):
        for line in (JUDGES / name).read_text(encoding="utf-8").strip().split("\n"):  # texts hold other line ends
            row = json.loads(line)
            if not row.get("lossy"):
                yield row


def padded(calls: list[ReadCall]) -> bool:
    """Whether a text of the calls has white space around it, which raw values cannot carry."""
    return any(isinstance(value, str) and value != value.strip() for _, pairs in calls for _, value in pairs)


def refused(name: str, text: str) -> bool:
    """Whether the reader of a format takes a text for no calls."""
    try:
        READERS[name](text)
    except UnreadableCallError:
        return True
    return False


class JsonWords(ast.NodeTransformer):
    """Puts constants for the words of JSON in a syntax tree of Python."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        words = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node
