"""Synthetic requests and dialogues in words that training never uses, in files that ``eval`` reads.

``python -m training.held_out --out DIR`` writes ``DIR/questions`` in BFCL's layout, for
``eval bfcl-live``, and ``DIR/dialogues`` in SGD's, for ``eval sgd``, so that the same scorers judge them.
"""

import gzip
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer

from tooldecoding.cli.ending import end_well
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import ToolResponse, Utterance
from training.example import Answer, Example
from training.synthetic.dialogues import make_dialogue
from training.synthetic.documentation import bfcl
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size, ask_again, ask_in_vain, ask_once, ask_several
from training.synthetic.tools import Tool, make_tools

SEED = 2_000_003
CATEGORIES = ("simple", "multiple", "parallel", "parallel_multiple", "relevance", "irrelevance")
"""BFCL's live categories."""


def ask(d: Draw, category: str, tools: Sequence[Tool]) -> tuple[str, Sequence[Call]]:
    """A request of a category and its calls, none where no tool fits."""
    if category == "irrelevance":
        return ask_in_vain(d, tools), ()
    if category == "parallel":
        return ask_again(d, tools[0])
    if category == "parallel_multiple":
        return ask_several(d, d.sample(tools, 2))
    return ask_once(d, d.choice(tools))


def question(d: Draw, category: str, number: int, size: Size) -> tuple[dict[str, Any], dict[str, Any]]:
    """An entry in BFCL's form, and its possible answers."""
    count = 1 if category in ("simple", "parallel") else d.randint(2, size.tools)
    tools = make_tools(d, count, size.parameters, size.nested)
    while not all(_in_python(tool) for tool in tools):  # BFCL's scorer reads calls as Python
        tools = make_tools(d, count, size.parameters, size.nested)
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
    """BFCL's possible answers: a documented default may be written or left out."""
    left_out = {
        p.key: [p.default, ""] for p in tool.parameters if p.default is not None and p.key not in call.arguments
    }
    return {key: [_nested(value)] for key, value in call.arguments.items()} | left_out


def _nested(value: Any) -> Any:
    """In objects, BFCL lists the possible values of each key."""
    if isinstance(value, dict):
        return {key: [_nested(item)] for key, item in value.items()}
    return [_nested(item) for item in value] if isinstance(value, list) else value


def dialogue(example: Example, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The documented tools and the dialogue in SGD's form; the tools are a service of their own."""
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
                raise ValueError(f"a turn that SGD's form does not know: {turn}")
    tools = [{"service": service, **tool} for tool in example.tools]
    return tools, {"dialogue_id": str(number), "services": [service], "turns": turns, "calls": calls}


def write(out: Path, count: int) -> None:
    """``count`` requests of each category and as many dialogues; the same at every call."""
    size, questions, dialogues = Size(), out / "questions", out / "dialogues"
    for folder in (questions / "possible_answer", dialogues):
        folder.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
        d = Draw(f"held-out/{SEED}/{category}", held_out=True)
        pairs = [question(d, category, number, size) for number in range(count)]
        name = f"BFCL_v4_live_{category}.json"
        _write_rows(questions / name, (entry for entry, _ in pairs))
        if "relevance" not in category:
            _write_rows(questions / "possible_answer" / name, (answer for _, answer in pairs))
    d = Draw(f"held-out/{SEED}/dialogues", held_out=True)
    made = [dialogue(make_dialogue(d, size, "api-bank"), number) for number in range(count)]
    (dialogues / "dev_tools.json").write_text(json.dumps([t for tools, _ in made for t in tools]), encoding="utf-8")
    (dialogues / "train_tools.json").write_text("[]", encoding="utf-8")
    with gzip.open(dialogues / "dev.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for _, row in made)


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main(
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    count: Annotated[int, typer.Option(min=1, help="Requests of each category, and dialogues.")] = 100,
) -> None:
    """Write held-out synthetic requests and dialogues."""
    try:
        write(out, count)
    except OSError as cause:
        print(f"error: {out}: cannot be written: {cause.strerror}", file=sys.stderr)
        raise typer.Exit(2) from None
    typer.echo(f"{out}/questions for eval bfcl-live, {out}/dialogues for eval sgd")


if __name__ == "__main__":
    sys.exit(end_well(lambda: typer.run(main)))
