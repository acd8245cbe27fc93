"""Small benchmarks of our own wording, each in its official layout, and predictions for them."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.api_bank.benchmark import API_BANK, LEVEL_1
from eval.benchmarks.api_bank.checker import TOOLS
from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Sample
from tooldecoding.decoding.decoded_call import DecodedCall
from tools import documented
from voting import CandidateCall, CandidateValue, merge

Files = Mapping[str, Any]
"""Path -> bytes, a text, JSON lines (a list), or any other JSON value; a file's own list is a tuple."""


def write_files(folder: Path, files: Files) -> Path:
    """Write files into ``folder``, which is returned."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, bytes):
            rows = content if isinstance(content, list) else [content]
            content = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()
            content = gzip.compress(content) if path.suffix == ".gz" else content
        path.write_bytes(content)
    return folder


def load(folder: Path, name: str, category: str = "") -> list[Sample]:
    """Write the small benchmark of a name, and read one or all of its categories."""
    benchmark = find_benchmark(name)
    return benchmark.load(str(write_files(folder, SMALL[name])), [category] if category else benchmark.categories)


CALLS: list[tuple[str, str, str, dict[str, str]]] = [
    ("a", "Lamps_1", "SetLamp", {"room": "kitchen", "state": "on"}),
    ("b", "Lamps_1", "SetLamp", {"room": "hall", "state": "off", "colour": "red"}),
    ("c", "Boats_1", "FindBoat", {"harbour": "Kiel", "seats": "3"}),
    ("d", "Boats_1", "FindBoat", {"harbour": "Porto", "seats": "2"}),
]
"""Dialogue, service, tool, arguments of ``sgd``; the second service is unseen."""

TEXT = {"type": "string", "description": "What it is"}
LAMP = documented(
    "SetLamp",
    ["room", "state"],
    "Switches a lamp",
    room=TEXT,
    state=TEXT | {"enum": ["on", "off"]},
    colour=TEXT | {"default": "white"},
) | {"service": "Lamps_1"}
BOAT = documented("FindBoat", None, "Finds a boat", harbour=TEXT, seats=TEXT) | {"service": "Boats_1"}


def sgd_row(dialogue: str, service: str, name: str, arguments: Mapping[str, str], turn: int = 1) -> dict[str, Any]:
    turns = [{"role": "User", "text": f"I want {' '.join(arguments.values())}."}]
    call = {"turn": turn, "service": service, "name": name, "arguments": arguments}
    return {"dialogue_id": dialogue, "services": [service], "turns": turns, "calls": [call]}


def write_sgd(folder: Path, calls: Sequence[tuple[str, str, str, dict[str, str]]] = CALLS) -> Path:
    """``sgd`` with a dialogue for each of the calls."""
    return write_files(folder, SMALL["sgd"] | {"dev.jsonl.gz": [sgd_row(*call) for call in calls]})


REFERENCES = {
    f"{dialogue}/1": f"[{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})]"
    for dialogue, _, name, arguments in CALLS
}
"""Sample id -> the prediction that is right, for ``sgd``."""


def decoded_call(sample: Sample, *given: Mapping[str, str]) -> DecodedCall:
    """A call of the reference's tool whose candidates are in the sequence of their keys, required ones first."""
    tool = sample.documentation.lookup[sample.calls[0].name]
    required = {p.name for p in tool.required}
    candidates = [
        CandidateCall(
            tool.name,
            tuple(key for key in values if key in required),
            tuple(CandidateValue(k, v, repr(v), -0.1 * n) for k, v in values.items()),
        )
        for n, values in enumerate(given, 1)
    ]
    return DecodedCall(merge(candidates, tool), tuple(candidates))


def prediction_rows(predictions: dict[str, str]) -> str:
    """JSON lines of predictions."""
    return "".join(json.dumps({"id": i, "prediction": p}) + "\n" for i, p in predictions.items())


FUNCTION = documented("f", description="Does it.", a={"type": "integer"})


def bfcl_row(key: str = "live_simple_0-0-0", **changes: Any) -> dict[str, Any]:
    return {"id": key, "question": [[{"role": "user", "content": "Do it."}]], "function": [FUNCTION]} | changes


def bfcl_answer(key: str = "live_simple_0-0-0", **changes: Any) -> dict[str, Any]:
    return {"id": key, "ground_truth": [{"f": {"a": [1]}}]} | changes


Turn = tuple[str, Mapping[str, Any], Any]
"""Tool of API-Bank, arguments, output."""


def described(name: str) -> dict[str, Any]:
    keys = {k: {"type": "str", "description": k} for k in {**TOOLS[name].keys, **TOOLS[name].optional}}
    return {"name": name, "description": f"Text of {name}.", "input_parameters": keys, "output_parameters": {}}


def api_row(name: str, arguments: Mapping[str, Any], output: Any) -> dict[str, Any]:
    result = {"api_name": name, "input": arguments or None, "output": output, "exception": None}
    return {"role": "API", "api_name": name, "param_dict": arguments, "result": result}


def bank(level: str = LEVEL_1, **dialogues: Sequence[Turn]) -> Files:
    """API-Bank with dialogues by file: calls with words before each; all tools are documented."""
    files = {"api_descriptions.jsonl": [described(name) for name in TOOLS]}
    for name, turns in dialogues.items():
        rows = [row for turn in turns for row in ({"role": "User", "text": "please"}, api_row(*turn))]
        files[f"{level}/{name}.jsonl"] = [*rows, {"role": "AI", "text": "done"}]
    return files


class Bank:
    """The samples of a folder's file ``a``, by number of the call."""

    def __init__(self, folder: Path, level: str = LEVEL_1) -> None:
        self.level = level
        self.samples: dict[str, Sample] = {s.id: s for s in API_BANK.load(str(folder), [level])}

    def sample(self, call: int = 0) -> Sample:
        return self.samples[f"{self.level}/a.jsonl/{2 * call}"]

    def error(self, prediction: str, call: int = 0) -> str | None:
        return API_BANK.judge(self.sample(call), prediction).error_type

    def satisfiable(self) -> list[bool]:
        return [API_BANK.satisfiable(s) for s in self.samples.values() if s.dialogue.endswith("/a.jsonl")]


def only(folder: Path, *turns: Turn) -> Bank:
    """One dialogue, in the file ``a``."""
    return Bank(write_files(folder, bank(a=turns)))


MUSIC: Turn = ("PlayMusic", {"music_name": "Song"}, "music://song")
SMALL: Mapping[str, Files] = {
    "acebench": {
        "data_normal_atom_bool.json": [
            {"id": "q", "question": "user: Hi\nsystem: Yes?\nuser: Now.", "time": "Monday", "function": [FUNCTION]}
        ],
        "possible_answer/data_normal_atom_bool.json": [{"id": "q", "ground_truth": {"f_1": {}, "f_2": {"a": 1}}}],
    },
    "api-bank": bank(a=[MUSIC]),
    "bfcl-live": {
        "BFCL_v4_live_simple.json": [bfcl_row("live_simple_1-0-0"), bfcl_row()],
        "possible_answer/BFCL_v4_live_simple.json": [bfcl_answer(), bfcl_answer("live_simple_1-0-0")],
        "BFCL_v4_live_relevance.json": [bfcl_row("live_relevance_0", function=[])],
    },
    "sgd": {
        "dev_tools.json": (LAMP, BOAT),
        "train_tools.json": (LAMP,),
        "dev.jsonl.gz": [sgd_row(*call) for call in CALLS],
    },
}
"""Benchmark -> its files."""
