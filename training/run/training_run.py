"""A training run: made anew or resumed from its saved state.

The learning rate and the curriculum follow the share of the token budget that has passed. An interrupted run saves its
state; it goes on from there, with another budget if wanted.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from transformers import PreTrainedTokenizerFast

from tooldecoding.errors import ConfigError
from tooldecoding.models.loading import load_tokenizer
from training.encoding.packing import Batch
from training.encoding.tokenizer import train_tokenizer
from training.evaluation.examples import encode_held_out, held_out_examples
from training.evaluation.scores import score_answers
from training.network.induction_heads import add_induction_heads
from training.network.network import Network
from training.network.warm_start import start_from
from training.run.learner import Learner
from training.run.material import Material, sample_texts
from training.run.prefetch import batches_from
from training.run.run_files import RunFiles
from training.run.settings import TrainingSettings
from training.sgd.dialogues import SgdDialogues

LOG_SECONDS = 20.0
HELD_OUT_TOKENS = 1024
TOKENIZER_TEXTS = 4000


class TrainingRun:
    """A run; set ``stopped`` to end it after the current update."""

    def __init__(self, settings: TrainingSettings, console: Console, device: torch.device) -> None:
        self.settings, self.console = settings, console
        self.files = RunFiles(Path(settings.runs))
        torch.set_num_threads(settings.threads)
        folder = Path(settings.sgd) if settings.sgd else None
        if folder is not None and not (folder / "train.jsonl.gz").is_file():
            raise ConfigError(f"sgd: {folder} has no train.jsonl.gz; give the folder of the data, or '' for none")
        sgd = SgdDialogues(folder, "train") if folder else None
        state = self.files.load_state()
        self.tokenizer = self._tokenizer(sgd, state)
        torch.manual_seed(settings.seed)
        network = Network(settings.model, self.tokenizer, settings.compiled)
        if state is None and settings.start:
            start_from(settings.start, network, self.tokenizer)
        elif state is None:
            add_induction_heads(network)
        self.learner = Learner(network, settings.muon_rate, settings.adam_rate, device)
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        if state is not None:
            self._resume(state)
        self.material = Material(settings, self.tokenizer, sgd)
        held_out = held_out_examples(folder, settings.held_out)
        self.held_out_length = min(HELD_OUT_TOKENS, max(settings.lengths))
        self.held_out = {n: encode_held_out(e, self.tokenizer, self.held_out_length) for n, e in held_out.items()}
        self.stopped = False

    @property
    def progress(self) -> float:
        """The share of the budget that has passed."""
        return self.tokens / self.settings.budget

    def _tokenizer(self, sgd: SgdDialogues | None, state: dict[str, Any] | None) -> PreTrainedTokenizerFast:
        if state is not None:
            return load_tokenizer(str(self.files.model))
        texts = sample_texts(self.settings, sgd, TOKENIZER_TEXTS)
        tokenizer = train_tokenizer(texts, self.settings.model.vocabulary)
        tokenizer.save_pretrained(self.files.model)
        return tokenizer

    def _resume(self, state: dict[str, Any]) -> None:
        model = self.settings.model.model_dump()
        if state.get("model") != model or state.get("seed") != self.settings.seed:
            raise ConfigError(
                f"{self.files.state} belongs to the model {state.get('model')} with seed {state.get('seed')}; "
                f"the settings say {model} with seed {self.settings.seed}; choose another folder with --runs"
            )
        self.learner.load(state)
        self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]
        self.files.drop_rows_after(self.step)

    def run(self, advance: Callable[[int], None]) -> None:
        """Train until the budget is used up or ``stopped`` is set.

        Parameters
        ----------
        advance : callable
            Called with the number of tokens after each update.
        """
        settings = self.settings
        losses: list[tuple[float, float]] = []
        began = logged = saved = time.monotonic()
        before, drawn = self.seconds, 0.0
        made = batches_from(self.material, self.step, settings.workers)
        while self.progress < 1 and not self.stopped:
            drawing = time.monotonic()
            batches = self._next(made)
            drawn += time.monotonic() - drawing
            losses.append(self.learner.step(batches, settings.rate_at(self.progress)))
            self.step += 1
            self.tokens += settings.step_tokens
            advance(settings.step_tokens)
            now = time.monotonic()
            self.seconds = before + now - began
            if now - logged > LOG_SECONDS or self.progress >= 1 or self.stopped:
                self._log(losses, now - logged, drawn)
                logged, losses, drawn = now, [], 0.0
            if now - saved > 60 * settings.checkpoint_minutes and self.progress < 1:
                self.save()
                self.report()
                saved = logged = time.monotonic()
        made.close()
        self.save()
        if not self.stopped:
            self.report()

    def _next(self, made: Iterator[list[Batch]]) -> list[Batch]:
        try:
            return next(made)
        except Exception:
            self.save()  # keep what was learnt, whatever is wrong with the material
            raise

    def save(self) -> None:
        """Write model and state."""
        self.files.save_model(self.learner.network, self.tokenizer)
        self.files.save_state(
            {
                **self.learner.state(),
                "model": self.settings.model.model_dump(),
                "seed": self.settings.seed,
                "step": self.step,
                "tokens": self.tokens,
                "seconds": self.seconds,
            }
        )

    def report(self) -> None:
        """Score held-out material; log, print and plot the scores."""
        scores = {
            name: score_answers(items, self.learner.correct(items, self.held_out_length))
            for name, items in self.held_out.items()
        }
        rows = {name: asdict(score) for name, score in scores.items()}
        self.files.append({"step": self.step, "tokens": self.tokens, "seconds": self.seconds, "held_out": rows})
        for name, s in scores.items():
            self.console.print(
                f"  {name}: tokens {s.token_accuracy:.3f}, names {s.names:.3f}, each value {s.each_value:.3f}, "
                f"all values {s.all_values:.3f}, exact {s.exact:.3f} of {s.answers}"
            )
        self.files.plot()

    def _log(self, losses: list[tuple[float, float]], seconds: float, drawn: float) -> None:
        loss, accuracy = (sum(column) / len(losses) for column in zip(*losses, strict=True))
        speed = len(losses) * self.settings.step_tokens / seconds
        row = {"step": self.step, "tokens": self.tokens, "seconds": round(self.seconds, 1), "loss": loss}
        self.files.append(row | {"accuracy": accuracy, "tokens_per_second": round(speed)})
        self.console.print(
            f"{self.seconds:6.0f} s  step {self.step}  {self.tokens / 1e6:.2f}M tokens ({self.progress:.1%})  "
            f"{speed:.0f}/s, {drawn / seconds:.0%} for data  loss {loss:.3f}  accuracy {accuracy:.3f}"
        )
