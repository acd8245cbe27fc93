"""A batch without a model: an echo writes the prompt and the settings that it was given."""

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_line import Cli, Ran
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.batches import decode_rows
from tooldecoding.cluster import workers
from tooldecoding.errors import PromptError
from tooldecoding.request import Request


class Echo:
    """In place of a model: the last of some rows ends first. It may break off after some rows, or refuse a prompt."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.rows: int | None = None
        self.interrupt: Callable[..., Any] = signal.default_int_handler
        self.refuse = "nothing of the kind"
        self.prompts: list[str] = []
        tokenizer = byte_level_tokenizer()
        self.model = tiny_model("llama", len(tokenizer))
        patch.setattr(workers, "load_quietly", lambda *options, **arguments: (self.model, tokenizer))
        decoder = SimpleNamespace(tokenizer=tokenizer, prompt_ids=lambda request: [], run_each=self.run_each)
        patch.setattr(decode_rows, "ToolDecoder", lambda *options, **more: decoder)

    def run_each(self, requests: Sequence[Request], at_once: int) -> Iterator[tuple[int, Any]]:
        if any(self.refuse in str(r.prompt) for r in requests):
            raise PromptError("refused")
        self.prompts += [str(r.prompt) for r in requests]
        for number, request in reversed([*enumerate(requests)]):
            if self.rows == 0:
                self.interrupt(signal.SIGINT, None)
            if self.rows is not None:
                self.rows -= 1
            result = {"text": said(str(request.prompt), request.options.order_limit), "calls": []}
            yield number, SimpleNamespace(to_json=lambda identifier, result=result: {"id": identifier} | result)


def said(prompt: str, order_limit: int = 4) -> str:
    return f"{prompt} in {order_limit} orders"


class Folder:
    """A folder with rows and their results."""

    def __init__(self, path: Path, cli: Cli) -> None:
        self.rows, self.out = path / "rows.jsonl", path / "out.jsonl"
        self._cli = cli

    def decode(self, rows: Sequence[Any], *arguments: object, out: Path | None = None) -> Ran:
        self.write(rows)
        quick = ["--tool-choice", "none", "--batch-size", 2]
        return self._cli("decode", "--batch", self.rows, "--out", out or self.out, *quick, *arguments)

    def write(self, rows: Sequence[Any]) -> None:
        self.rows.write_text("".join(json.dumps(r) + "\n" for r in rows))

    def results(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    def files(self) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in self.out.parent.iterdir() if p != self.rows and p.suffix != ".lock"}

    def refuses(self, rows: Sequence[Any], *arguments: object, said: str) -> None:
        before = self.files()
        ran = self.decode(rows, *arguments)
        *bars, error = ran.err.splitlines()
        assert ran.code == 2 and all(line.startswith("decoding ") for line in bars), ran
        assert error.startswith("error: ") and said in error, ran
        assert self.files() == before


def row(identifier: Any, prompt: str = "x") -> dict[str, Any]:
    return {"id": identifier, "prompt": prompt}
