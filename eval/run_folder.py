"""A run's folder: what was asked for, the predictions so far, the scores."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from eval.errors import EvalError
from eval.samples import Benchmark, Sample
from eval.settings import EvalSettings
from lookup.text_file import read_text
from tooldecoding.json_lines import json_line

MANIFEST, PREDICTIONS, SCORES, LOCK = "run.json", "predictions.jsonl", "scores.jsonl", "lock"

_FREE = ("batch_size", "device", "strategy", "trust_remote_code")
"""Settings that may differ when a run goes on: they change no prediction."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def predictions(self) -> Path:
        """``predictions.jsonl``, a row a sample."""
        return self.path / PREDICTIONS

    @property
    def scores(self) -> Path:
        """``scores.jsonl``, a row a sample."""
        return self.path / SCORES

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest, or check that the folder's own asks for the same.

        Raises
        ------
        EvalError
            If the folder holds another run, or something else, or cannot be written.
        """
        target = self.path / MANIFEST
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if target.exists():
                self._demand_same(manifest)
                return
            if any(entry.name != LOCK for entry in self.path.iterdir()):
                raise EvalError(f"{self.path}: this folder holds something else than a run; --out must be a new folder")
            part = target.with_suffix(".part")
            part.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            part.replace(target)
        except OSError as error:
            raise EvalError(f"{self.path}: cannot be written: {error.strerror}") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside the block no other process may write here; EvalError if one does. A process that dies lets go."""
        lock = FileLock(self.path / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise EvalError(f"{self.path}: another process is writing to this run; wait for it, or stop it") from None
        try:
            yield
        finally:
            lock.release()

    def _demand_same(self, manifest: Mapping[str, Any]) -> None:
        there = self._read_manifest()
        self._demand_settings(there, manifest["settings"])
        if there.get("prompts") != manifest["prompts"]:
            raise EvalError(
                f"{self.path}: this run was begun with other prompts: the data or the template has changed; "
                "choose another --out"
            )
        for name in ("benchmark", "categories", "samples"):
            if there.get(name) != manifest[name]:
                raise EvalError(
                    f"{self.path}: this run is of {name} {_shown(there.get(name))}, not {_shown(manifest[name])}; "
                    "choose another --out"
                )

    def _demand_settings(self, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        settings = there.get("settings")
        settings = settings if isinstance(settings, dict) else {}
        for name, value in wanted.items():
            if name not in _FREE and settings.get(name) != value:
                raise EvalError(
                    f"{self.path}: this run was begun with {name} {_shown(settings.get(name))}, not {_shown(value)}; "
                    "choose another --out, or the same settings to go on"
                )

    def _read_manifest(self) -> dict[str, Any]:
        path = self.path / MANIFEST
        try:
            manifest = json.loads(read_text(path, EvalError))
        except (ValueError, RecursionError):
            raise EvalError(f"{path}: malformed JSON; choose another --out, or delete the folder") from None
        if not isinstance(manifest, dict):
            raise EvalError(f"{path}: expected a JSON object, found a {type(manifest).__name__}")
        return manifest


def describe_run(
    benchmark: Benchmark,
    settings: EvalSettings,
    categories: Sequence[str],
    samples: Sequence[Sample],
    drawn_from: int,
    device: str,
    prompts: Sequence[str],
) -> dict[str, Any]:
    """The manifest of a run: all that is needed to repeat it, and where it ran."""
    return {
        "benchmark": benchmark.name,
        "method": settings.method,
        "label": settings.label,
        "model": settings.model,
        "settings": settings.to_json(),
        "categories": list(categories),
        "samples": len(samples),
        "drawn_from": drawn_from,
        "prompts": digest(prompts),
        "machine": {
            "cpu": platform.machine(),
            "cores": cpu_count(),
            "python": platform.python_version(),
            "device": device,
        },
        "versions": {name: version(name) for name in ("tooldecoding", "torch", "transformers")},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def digest(texts: Sequence[str]) -> str:
    """A short text that other texts do not share."""
    return sha256(json_line(list(texts)).encode()).hexdigest()


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
