"""Held-out synthetic requests in BFCL's files and dialogues in SGD's, so that the scorers of ``eval`` judge them."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import ToolResponse, Utterance
from training.answer import Answer
from training.example import Example
from training.synthetic.dialogues import make_dialogue
from training.synthetic.documentation import bfcl
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size, ask_again, ask_in_vain, ask_once, ask_several
from training.synthetic.tools import Tool, make_tools

SEED = 2_000_003
SIZE = Size()
CATEGORIES = ("simple", "multiple", "parallel", "parallel_multiple", "relevance", "irrelevance")
"""BFCL's live categories."""


def ask(d: Draw, category: str, tools: Sequence[Tool]) -> tuple[str, Sequence[Call]]:
    """Draw a request of a category and its calls; no calls if no tool fits."""
    if category == "irrelevance":
        return ask_in_vain(d, tools), ()
    if category == "parallel":
        return ask_again(d, tools[0])
    if category == "parallel_multiple":
        return ask_several(d, d.sample(tools, 2))
    return ask_once(d, d.choice(tools))


def question(d: Draw, category: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw an entry in BFCL's form with its possible answers."""
    count = 1 if category in ("simple", "parallel") else d.randint(2, SIZE.tools)
    while True:
        tools = make_tools(d, count, SIZE.parameters, SIZE.nested)
        if all(_in_python(tool) for tool in tools):  # BFCL's scorer reads calls as Python
            break
    text, calls = ask(d, category, tools)
    functions = [bfcl(d, tool) for tool in d.sample(tools, len(tools))]
    by_name = {tool.name: tool for tool in tools}
    name = f"live_{category}_{number}"
    entry = {"id": name, "question": [[{"role": "user", "content": text}]], "function": functions}
    return entry, {"id": name, "ground_truth": [{c.name: _possible(c, by_name[c.name])} for c in calls]}


def _in_python(tool: Tool) -> bool:
    words = [*tool.name.split("."), *(p.key for p in tool.parameters)]
    return all(word.isidentifier() and not iskeyword(word) for word in words)


def _possible(call: Call, tool: Tool) -> dict[str, list[Any]]:
    """Return BFCL's possible answers; a documented default may be written or left out."""
    left_out = {
        p.key: [p.default, ""] for p in tool.parameters if p.default is not None and p.key not in call.arguments
    }
    return {key: [_nested(value)] for key, value in call.arguments.items()} | left_out


def _nested(value: Any) -> Any:
    """List the possible values of each key of an object, as BFCL does."""
    if isinstance(value, dict):
        return {key: [_nested(item)] for key, item in value.items()}
    return [_nested(item) for item in value] if isinstance(value, list) else value


def dialogue(example: Example, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the documented tools and the dialogue in SGD's form; the tools are a service of their own."""
    service = f"synthetic_{number}"
    turns: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for turn in example.turns:
        match turn:
            case Utterance(speaker, text):
                turns.append({"role": {"user": "User", "assistant": "AI"}[speaker], "text": text})
            case Answer((call,)):
                arguments = {key: str(value) for key, value in call.arguments.items()}
                calls.append({"turn": len(turns), "service": service, "name": call.name, "arguments": arguments})
            case ToolResponse(name, value):
                turns.append({"role": "API", "name": name, "arguments": calls[-1]["arguments"], "result": value})
            case _:
                raise ValueError(f"SGD's form has no such turn: {turn}")
    tools = [{"service": service, **tool} for tool in example.tools]
    return tools, {"dialogue_id": str(number), "services": [service], "turns": turns, "calls": calls}


def write(out: Path, count: int) -> None:
    """Write ``count`` requests of each category to ``out/questions`` and as many dialogues to ``out/dialogues``.

    The same ``count`` always gives the same material.
    """
    questions, dialogues = out / "questions", out / "dialogues"
    for folder in (questions / "possible_answer", dialogues):
        folder.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
        d = Draw(f"held-out/{SEED}/{category}", held_out=True)
        pairs = [question(d, category, number) for number in range(count)]
        name = f"BFCL_v4_live_{category}.json"
        _write_rows(questions / name, (entry for entry, _ in pairs))
        if "relevance" not in category:
            _write_rows(questions / "possible_answer" / name, (answer for _, answer in pairs))
    d = Draw(f"held-out/{SEED}/dialogues", held_out=True)
    made = [dialogue(make_dialogue(d, SIZE, "api-bank"), number) for number in range(count)]
    (dialogues / "dev_tools.json").write_text(json.dumps([t for tools, _ in made for t in tools]), encoding="utf-8")
    (dialogues / "train_tools.json").write_text("[]", encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for _, row in made)
    (dialogues / "dev.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
