"""The readers by the names of the judges' formats, the judges, and the calls that original templates wrote."""

import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tooldecoding.formats.cohere import read_cohere
from tooldecoding.formats.deepseek import read_deepseek_v3, read_deepseek_v31, read_deepseek_v32
from tooldecoding.formats.gemma import read_functiongemma, read_gemma4
from tooldecoding.formats.glm import read_glm45, read_glm47
from tooldecoding.formats.harmony import read_harmony
from tooldecoding.formats.hermes import read_hermes
from tooldecoding.formats.json_list import read_granite3, read_json_list, read_phi4_mini
from tooldecoding.formats.kimi import read_kimi_k2
from tooldecoding.formats.llama3 import read_llama3_json
from tooldecoding.formats.minimax import read_minimax_m2
from tooldecoding.formats.mistral import read_mistral_args, read_mistral_list
from tooldecoding.formats.pythonic import read_lfm25, read_llama4_pythonic, read_olmo3, read_pythonic
from tooldecoding.formats.qwen_xml import read_qwen_xml
from tooldecoding.formats.reading import ReadCall, Reader, UnreadableCallError

JUDGES = Path(__file__).resolve().parents[4] / "shared" / "judges"
needs_judges = pytest.mark.skipif(not JUDGES.is_dir(), reason=f"the judges are not at {JUDGES}")

READERS: dict[str, Reader] = {
    "cohere": read_cohere,
    "deepseek-v3": read_deepseek_v3,
    "deepseek-v3.1": read_deepseek_v31,
    "deepseek-v3.2": read_deepseek_v32,
    "functiongemma": read_functiongemma,
    "gemma4": read_gemma4,
    "glm-4.5": read_glm45,
    "glm-4.7": read_glm47,
    "granite3": read_granite3,
    "harmony": read_harmony,
    "hermes": read_hermes,
    "json-list": read_json_list,
    "kimi-k2": read_kimi_k2,
    "lfm2.5": read_lfm25,
    "llama3-json": read_llama3_json,
    "llama4-pythonic": read_llama4_pythonic,
    "minimax-m2": read_minimax_m2,
    "mistral-args": read_mistral_args,
    "mistral-list": read_mistral_list,
    "olmo3": read_olmo3,
    "phi4-mini": read_phi4_mini,
    "pythonic": read_pythonic,
    "qwen-xml": read_qwen_xml,
}
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
