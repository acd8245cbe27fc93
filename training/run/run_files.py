"""What a training run writes: its state, its log, the loss curve and the model; each file is renamed into place."""

import json
import pickle
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from tooldecoding.errors import ConfigError
from training.network.network import Network


class RunFiles:
    """The folder of a run: ``state.pt``, ``log.jsonl``, ``curve.png``, and ``model/`` in Hugging Face's format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = folder / "model"
        self.state = folder / "state.pt"
        self.log = folder / "log.jsonl"
        self.curve = folder / "curve.png"
        folder.mkdir(parents=True, exist_ok=True)

    def save_model(self, network: Network, tokenizer: PreTrainedTokenizerFast) -> None:
        """Write weights (bfloat16 safetensors), configuration and tokenizer."""
        draft = self.folder / ".model-draft"
        network.to_llama().save_pretrained(draft)
        tokenizer.save_pretrained(draft)
        self.model.mkdir(exist_ok=True)
        for file in draft.iterdir():
            file.chmod(0o644)
            file.replace(self.model / file.name)
        shutil.rmtree(draft)

    def save_state(self, state: Mapping[str, Any]) -> None:
        """Write what resuming needs."""
        draft = self.state.with_suffix(".draft")
        torch.save(dict(state), draft)
        draft.replace(self.state)

    def load_state(self) -> dict[str, Any] | None:
        """What ``save_state`` wrote; ``None`` where there is nothing, ConfigError for anything else."""
        if not self.state.exists():
            return None
        try:
            return dict(torch.load(self.state, weights_only=True, map_location="cpu"))
        except (RuntimeError, EOFError, pickle.UnpicklingError, ValueError) as cause:
            raise ConfigError(
                f"{self.state}: not a state of this training: {str(cause).splitlines()[0]}; remove it to start anew"
            ) from None

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(row)) + "\n")

    def rows(self, until_step: int | None = None) -> list[dict[str, Any]]:
        """The log; with ``until_step``, what lies behind that step is removed from it, for it is done again."""
        if not self.log.exists():
            return []
        rows: list[dict[str, Any]] = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        if until_step is not None and any(row["step"] > until_step for row in rows):
            rows = [row for row in rows if row["step"] <= until_step]
            draft = self.log.with_suffix(".draft")
            draft.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            draft.replace(self.log)
        return rows

    def plot(self) -> None:
        """Draw loss, accuracy and held-out scores over the tokens seen."""
        from matplotlib.figure import Figure

        rows = self.rows()
        figure = Figure(figsize=(11, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        losses = [row for row in rows if "loss" in row]
        left.plot([row["tokens"] / 1e6 for row in losses], [row["loss"] for row in losses], linewidth=0.8)
        left.set(xlabel="million tokens", ylabel="loss of answers' tokens (nats)", yscale="log")
        scored = [row for row in rows if "held_out" in row]
        for number, name in enumerate(scored[-1]["held_out"] if scored else ()):
            for figure_name, style in (("all_values", "-"), ("exact", ":")):
                points = [
                    (r["tokens"] / 1e6, 100 * r["held_out"][name][figure_name]) for r in scored if name in r["held_out"]
                ]
                right.plot(
                    *zip(*points, strict=True), style, color=f"C{number}", label=f"{name}: {figure_name}", marker="."
                )
        right.set(xlabel="million tokens", ylabel="held-out answers right (%)", ylim=(0, 100))
        if scored:
            right.legend(fontsize="x-small")
        draft = self.folder / ".curve-draft.png"
        figure.savefig(draft, dpi=110)
        draft.replace(self.curve)
