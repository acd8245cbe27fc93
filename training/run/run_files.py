"""The files of a training run: state, log, curve and model. Each is replaced as a whole."""

import json
import pickle
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
        """Write what is needed to resume."""
        with _draft_of(self.state) as draft:
            torch.save(dict(state), draft)

    def load_state(self) -> dict[str, Any] | None:
        """Read what ``save_state`` wrote; return ``None`` if there is no such file.

        Raises
        ------
        ConfigError
            If the file holds anything else.
        """
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

    def rows(self) -> list[dict[str, Any]]:
        """Read the log."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def drop_rows_after(self, step: int) -> None:
        """Remove from the log what comes after a step, because it is going to be done again."""
        kept = [row for row in self.rows() if row["step"] <= step]
        with _draft_of(self.log) as draft:
            draft.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")

    def plot(self) -> None:
        """Draw loss and held-out scores over the tokens seen."""
        from matplotlib.figure import Figure

        rows = self.rows()
        figure = Figure(figsize=(11, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(*_points(rows, "loss"), linewidth=0.8)
        left.set(xlabel="million tokens", ylabel="loss of answers' tokens (nats)", yscale="log")
        scored = [row for row in rows if "held_out" in row]
        for number, name in enumerate(scored[-1]["held_out"] if scored else ()):
            scores = [{"tokens": row["tokens"], **row["held_out"].get(name, {})} for row in scored]
            for score, style in (("all_values", "-"), ("exact", ":")):
                tokens, shares = _points(scores, score)
                percent = [100 * share for share in shares]
                right.plot(tokens, percent, style, color=f"C{number}", label=f"{name}: {score}", marker=".")
        right.set(xlabel="million tokens", ylabel="held-out answers right (%)", ylim=(0, 100))
        if scored:
            right.legend(fontsize="x-small")
        with _draft_of(self.curve) as draft:
            figure.savefig(draft, dpi=110)


@contextmanager
def _draft_of(path: Path) -> Iterator[Path]:
    """Yield a path to write to; at the end of the block that file takes the place of ``path``."""
    draft = path.with_name(f".draft-{path.name}")
    yield draft
    draft.replace(path)


def _points(rows: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """Million tokens and values of the rows that have the key."""
    found = [row for row in rows if key in row]
    return [row["tokens"] / 1e6 for row in found], [row[key] for row in found]
