"""A tiny training run: its settings file, and a tokenizer of the generator's texts."""

from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from data import DATA
from training.encoding.tokenizer import train_tokenizer
from training.run.material import sample_texts
from training.run.settings import TrainingSettings, read_settings
from training.sgd.dialogues import SgdDialogues

SGD = DATA / "sgd"
RunCommand = Callable[..., tuple[int, str]]

SETTINGS = """
model: {layers: 3, width: 128, heads: 2, head_width: 32, feed_forward: 64, vocabulary: 640, positions: 512}
budget: 4096
seed: 0
sgd: ""
runs: RUNS
step_tokens: 512
batch_tokens: 256
compiled: false
held_out: 2
stages:
  - {start: 0.0, lengths: {128: 1.0}, tools: 1, parameters: 2, calls: 2, drills: 1.0, sgd: 0.0, hermes: 0.4, bfcl: 0.5}
  - {start: 0.5, lengths: {256: 1.0}, tools: 2, parameters: 3, calls: 3, drills: 0.1, sgd: 0.3, hermes: 0.4, bfcl: 0.5}
"""


def write_settings(folder: Path, **replaced: str) -> Path:
    """The settings as a file in ``folder``, its run in ``folder/run``; ``replaced`` are texts of whole lines."""
    lines = SETTINGS.replace("RUNS", str(folder / "run")).splitlines()
    lines = [f"{key}: {replaced[key]}" if (key := line.split(":")[0]) in replaced else line for line in lines]
    path = folder / "settings.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@cache
def tiny_settings(folder: Path) -> TrainingSettings:
    return read_settings(write_settings(folder))


@cache
def tiny_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    return train_tokenizer(sample_texts(tiny_settings(folder), None, 150), 640)


@cache
def _sgd_train() -> SgdDialogues:
    return SgdDialogues(SGD, "train")


def sgd_train() -> SgdDialogues:
    """SGD's dialogues for training, read once; another list of ``rows`` may be set."""
    return copy(_sgd_train())
