"""Prompts of the ReAct form: calls as ``Action`` and ``Action Input``, results as ``Observation`` (TOOLDEC v3, A.1)."""

import json
from collections.abc import Sequence

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import LineLabels, ToolRequest, ToolResponse, Turn, Utterance

REACT_INSTRUCTION = """Write the action that comes next in the form
Action: tool_name
Action Input: {"key1": "value1", "key2": "value2"}"""


def react_call(call: Call | ToolRequest) -> str:
    """``Action: Name`` and its input as JSON, in two lines."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=list)
    return f"Action: {call.name}\nAction Input: {arguments}"


def react_lines(turns: Sequence[Turn], labels: LineLabels) -> list[str]:
    """The dialogue as lines: ``User: …``, ``AI: …``, actions, ``Observation: …``."""
    lines = []
    for turn in turns:
        match turn:
            case Utterance(speaker, text):
                lines.append(f"{getattr(labels, speaker)}: {' '.join(text.split())}")
            case ToolRequest():
                lines.append(react_call(turn))
            case ToolResponse(_, value):
                lines.append(f"Observation: {json.dumps(value, ensure_ascii=False)}")
    return lines
