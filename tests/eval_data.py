"""A small benchmark of our own wording, in the layout of ``sgd``: four dialogues, two of them of an unseen service."""

import gzip
import json
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "service": "Lamps_1",
        "name": "SetLamp",
        "description": "Switches a lamp",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "description": "Where it stands"},
                "state": {"type": "string", "description": "What it does", "enum": ["on", "off"]},
                "colour": {"type": "string", "description": "Its light", "default": "white"},
            },
            "required": ["room", "state"],
        },
    },
    {
        "service": "Boats_1",
        "name": "FindBoat",
        "description": "Finds a boat",
        "parameters": {
            "type": "object",
            "properties": {
                "harbour": {"type": "string", "description": "Where from"},
                "seats": {"type": "string", "description": "How many"},
            },
            "required": ["harbour", "seats"],
        },
    },
]

CALLS: list[tuple[str, str, str, dict[str, str]]] = [
    ("a", "Lamps_1", "SetLamp", {"room": "kitchen", "state": "on"}),
    ("b", "Lamps_1", "SetLamp", {"room": "hall", "state": "off", "colour": "red"}),
    ("c", "Boats_1", "FindBoat", {"harbour": "Kiel", "seats": "3"}),
    ("d", "Boats_1", "FindBoat", {"harbour": "Porto", "seats": "2"}),
]
"""Dialogue, service, tool, arguments."""


def write_sgd(folder: Path) -> Path:
    """The benchmark in ``folder``, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dev_tools.json").write_text(json.dumps(TOOLS))
    (folder / "train_tools.json").write_text(json.dumps(TOOLS[:1]))
    with gzip.open(folder / "dev.jsonl.gz", "wt", encoding="utf-8") as file:
        for dialogue, service, name, arguments in CALLS:
            said = " ".join(arguments.values())
            turns = [{"role": "User", "text": f"I want {said}."}]
            call = {"turn": 1, "service": service, "name": name, "arguments": arguments}
            row = {"dialogue_id": dialogue, "services": [service], "turns": turns, "calls": [call]}
            file.write(json.dumps(row) + "\n")
    return folder


def reference(name: str, arguments: dict[str, str]) -> str:
    """A call in API-Bank's format."""
    return f"[{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})]"


REFERENCES = {f"{dialogue}/1": reference(name, arguments) for dialogue, _, name, arguments in CALLS}
"""Sample id -> the prediction that is right."""


def prediction_rows(predictions: dict[str, str]) -> str:
    """JSON lines of predictions."""
    return "".join(json.dumps({"id": i, "prediction": p}) + "\n" for i, p in predictions.items())
