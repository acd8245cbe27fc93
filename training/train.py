"""Train the reference model: ``python -m training.train``.

SIGINT and SIGTERM save the run and end it after the current update; the same command goes on with it.
"""

import signal
import sys
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers.utils import logging

from tooldecoding.cli.ending import end_well
from tooldecoding.cli.extras import demand_extra
from tooldecoding.models.loading import find_device
from training.run.settings import TrainingSettings, read_settings
from training.run.training_run import TrainingRun

CONFIG = Path(__file__).parent / "configs" / "reference.yaml"


def run_training(settings: TrainingSettings, console: Console, device: torch.device) -> TrainingRun:
    """Train, with a progress bar if the console is a terminal."""
    run = TrainingRun(settings, console, device)
    size = sum(p.numel() for p in run.learner.network.to_llama().parameters())
    console.print(f"{size:,} parameters, {len(run.tokenizer):,} tokens in the vocabulary, at step {run.step}")

    def stop(*_: object) -> None:
        run.stopped = True

    kept = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.1f} %"))
    try:
        with Progress(
            *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, disable=not console.is_terminal
        ) as bar:
            task = bar.add_task("training", total=settings.budget, completed=run.tokens)
            run.run(lambda tokens: bar.advance(task, tokens))
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    ended = "stopped" if run.stopped else "finished"
    console.print(f"{ended} after {run.step} updates and {run.tokens / 1e6:.2f}M tokens: {run.files.model}")
    return run


def main(
    config: Annotated[Path, typer.Option(help="Settings of the run.")] = CONFIG,
    runs: Annotated[str | None, typer.Option(help="Folder of the run, instead of the settings'.")] = None,
    budget: Annotated[int | None, typer.Option(help="Tokens to train on, instead of the settings'.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the settings'.")] = None,
    sgd: Annotated[str | None, typer.Option(help="Folder of SGD ('' for none), instead of the settings'.")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads, instead of the settings'.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda; by default a GPU if there is one.")] = "auto",
) -> None:
    """Train the reference model; the same command goes on with an interrupted run."""
    logging.disable_progress_bar()
    demand_extra("eval", "matplotlib")  # for the curve
    settings = read_settings(config, runs=runs, budget=budget, seed=seed, sgd=sgd, threads=threads)
    run_training(settings, Console(soft_wrap=True), find_device(None if device == "auto" else device))


if __name__ == "__main__":
    sys.exit(end_well(lambda: typer.run(main)))
