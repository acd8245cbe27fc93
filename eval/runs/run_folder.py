"""A run's folder: what was asked for, the predictions so far, the scores."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Any

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError, writing
from eval.options import PEER_METHODS, EvalOptions
from tooldecoding.files.manifest import FREE, PART, demand_settings, digest, locked, read_manifest, write_manifest

_PACKAGES = ("tooldecoding", "torch", "transformers")
MANIFEST, PREDICTIONS, SCORES, VALUES = "run.json", "predictions.jsonl", "scores.jsonl", "values.jsonl"
"""Files of a run; a row a sample, and a row a value slot."""
LENIENT = "lenient.jsonl"
"""Scores of greedy's texts as a forgiving parser reads them."""
_LOCK = "lock"
_MODEL = "model_identity"
_ASKED = ("benchmark", "categories", "samples")


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest, or check that the folder's own asks for the same; inside ``locked``.

        EvalError if the folder holds another run, or cannot be written.
        """
        target = self.path / MANIFEST
        with writing(self.path):
            if not target.exists():
                write_manifest(target, manifest)
                return
        there = read_manifest(target, EvalError, "choose another --out, or delete the folder")
        wanted = {name: value for name, value in manifest["settings"].items() if name not in FREE}
        demand_settings(self.path, there.get("settings"), wanted, EvalError)
        demand_settings(self.path, there, {name: manifest[name] for name in _ASKED}, EvalError)
        if there.get("prompts") != manifest["prompts"]:
            raise EvalError(
                f"{self.path}: this run was begun with other prompts: the data or the template has changed; "
                "choose another --out"
            )

    def take_model(self, model: Mapping[str, str]) -> None:
        """Note the identity of the model that decodes; EvalError if another one is noted. Older versions noted none."""
        target = self.path / MANIFEST
        there = read_manifest(target, EvalError, "choose another --out, or delete the folder")
        if _MODEL in there:
            demand_settings(self.path, there[_MODEL], model, EvalError)
            return
        with writing(target):
            write_manifest(target, {**there, _MODEL: dict(model)})

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder; inside the block no other process may write here. A process that dies lets go.

        EvalError if another process writes here, or the folder holds something else than a run.
        """
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in self.path.iterdir()}
            if MANIFEST not in names and names - {_LOCK, MANIFEST + PART}:
                raise EvalError(f"{self.path}: this folder holds something else than a run; --out must be a new folder")
        busy = f"{self.path}: another process is writing to this run; wait for it, or stop it"
        with locked(self.path / _LOCK, EvalError, busy):
            yield


def describe_run(
    benchmark: Benchmark,
    settings: EvalOptions,
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
        "prompts": digest(list(prompts)),
        "machine": {
            "cpu": platform.machine(),
            "cores": cpu_count(),
            "python": platform.python_version(),
            "device": device,
        },
        "versions": {name: version(name) for name in (*_PACKAGES, *{settings.method}.intersection(PEER_METHODS))},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
