"""Train the reference model from scratch: ``python -m tooldecoding.training.train --out DIR --minutes M``.

Weights of the forward pass are bfloat16, the optimizers hold float32 masters: Muon for the matrices of the
layers, AdamW for embeddings and norms. The learning rate is tied to the share of the time that has passed,
so that a run ends trained when its minutes are over, whatever the machine. Interrupted runs resume.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Annotated

import torch
import typer
from torch import Tensor
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from tooldecoding.training.batches import CURRICULUM, Batch, Material, draw_dialogue, stage_at
from tooldecoding.training.dialogue import segments
from tooldecoding.training.evaluate import encode_all, held_out_sgd, held_out_synthetic, score
from tooldecoding.training.sgd import SgdDialogues
from tooldecoding.training.tokenizer import train_tokenizer

CONFIG = LlamaConfig(
    vocab_size=2048,
    hidden_size=192,
    intermediate_size=512,
    num_hidden_layers=5,
    num_attention_heads=4,
    num_key_value_heads=4,
    head_dim=64,
    max_position_embeddings=2048,
    tie_word_embeddings=True,
    bos_token_id=0,
    eos_token_id=1,
    pad_token_id=2,
)


# Of the tokens outside of calls, the share that the head is computed for (their weight is raised to make up).
CONTEXT_SHARE = 0.25


def schedule(progress: float, warm_up: float = 0.01) -> float:
    """Learning-rate factor: linear warm-up, flat, then linear to (almost) zero over the last 60 %."""
    if progress < warm_up:
        return max(0.02, progress / warm_up)
    return min(1.0, max(0.01, (1 - progress) / 0.6))


class Learner:
    """A bfloat16 model, its float32 master weights and their optimizers."""

    def __init__(self, config: LlamaConfig, muon_lr: float = 0.02, adam_lr: float = 3e-3) -> None:
        self.model = LlamaForCausalLM(config)
        self.master = [p.detach().clone().requires_grad_() for p in self.model.parameters()]
        self.model.to(torch.bfloat16)
        named = list(zip((n for n, _ in self.model.named_parameters()), self.master, strict=True))
        matrices = [p for n, p in named if p.ndim == 2 and "embed" not in n]
        others = [p for n, p in named if p.ndim != 2 or "embed" in n]
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(matrices, lr=muon_lr, weight_decay=0.01),
            torch.optim.AdamW(others, lr=adam_lr, betas=(0.9, 0.95), weight_decay=0.0),
        ]
        self.rates = (muon_lr, adam_lr)

    def step(self, batch: Batch, factor: float) -> tuple[float, float]:
        """One update; returns the call tokens' mean loss and accuracy before it."""
        hidden = self.model.model(batch.ids, use_cache=False).last_hidden_state[:, :-1]
        target, member, weight = batch.ids[:, 1:], batch.is_call[:, 1:], batch.weight[:, 1:]
        drawn = member | ((weight > 0) & (torch.rand(weight.shape) < CONTEXT_SHARE))
        scored = drawn.flatten().nonzero().squeeze(1)
        logits = self.model.lm_head(hidden.flatten(0, 1).index_select(0, scored))
        target, member, weight = (rows.flatten().index_select(0, scored) for rows in (target, member, weight))
        weight = torch.where(member, weight, weight / CONTEXT_SHARE)
        losses = functional.cross_entropy(logits, target, reduction="none").float()
        ((losses * weight).sum() / weight.sum()).backward()
        self._update(factor)
        right = logits.detach()[member].argmax(-1) == target[member]
        return losses.detach()[member].mean().item(), right.float().mean().item()

    def _update(self, factor: float) -> None:
        for parameter, master in zip(self.model.parameters(), self.master, strict=True):
            master.grad = None if parameter.grad is None else parameter.grad.float()
        torch.nn.utils.clip_grad_norm_(self.master, 1.0)
        for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
            for entry in optimizer.param_groups:
                entry["lr"] = rate * factor
            optimizer.step()
        self.model.zero_grad()
        self.load_master(self.master)

    def load_master(self, values: list[Tensor]) -> None:
        """Take over master weights, in the model's copy too."""
        with torch.no_grad():
            for parameter, master, value in zip(self.model.parameters(), self.master, values, strict=True):
                master.copy_(value)
                parameter.copy_(value)


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Write weights (bfloat16 safetensors), configuration and tokenizer; each file is renamed into place."""
    out.mkdir(parents=True, exist_ok=True)
    draft = out / ".draft"
    model.save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    for file in draft.iterdir():
        file.chmod(0o644)
        file.replace(out / file.name)
    shutil.rmtree(draft)


def save_state(learner: Learner, path: Path, step: int, tokens: int, seconds: float) -> None:
    """Everything that resuming needs, outside of the model's folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    optimizers = [optimizer.state_dict() for optimizer in learner.optimizers]
    torch.save({"master": learner.master, "optimizers": optimizers, "step": step, "tokens": tokens,
                "seconds": seconds}, draft)  # fmt: skip
    draft.replace(path)


def sample_tokenizer(sgd: SgdDialogues | None, seed: int, vocabulary: int) -> PreTrainedTokenizerFast:
    """Train the tokenizer on 4,000 dialogues of the final mixture."""
    rng = Random(f"tokenizer-{seed}")
    stage = CURRICULUM[-1]
    texts = ("".join(s.text for s in segments(draw_dialogue(stage, sgd, rng), rng)) for _ in range(4000))
    return train_tokenizer(texts, vocabulary)


def held_out_report(sgd: Path | None, tokenizer: PreTrainedTokenizerFast) -> Callable[[Learner], str]:
    """A function that scores a learner on held-out material and says it in a line."""
    sets = {"synthetic": encode_all(held_out_synthetic(60), tokenizer)}
    if sgd is not None:
        sets["sgd-unseen"] = encode_all(held_out_sgd(sgd, 60), tokenizer)

    def report(learner: Learner) -> str:
        pad = tokenizer.convert_tokens_to_ids("<pad>")
        rows = {name: score(learner.model, items, pad) for name, items in sets.items()}
        return "; ".join(f"{name}: call tokens {r.token_accuracy:.3f}, exact {r.exact_calls:.3f} of {r.calls}"
                         for name, r in rows.items())  # fmt: skip

    return report


def main(
    out: Annotated[Path, typer.Option(help="Folder for weights, configuration and tokenizer.")],
    minutes: Annotated[float, typer.Option(help="Training time.")] = 85.0,
    sgd: Annotated[Path | None, typer.Option(help="Folder of SGD; synthetic material only if absent.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of weights and material.")] = 0,
    state: Annotated[Path | None, typer.Option(help="File of the optimizer state; resumed from if present.")] = None,
    threads: Annotated[int, typer.Option(help="CPU threads.")] = 1,
    save_every: Annotated[float, typer.Option(help="Minutes between checkpoints with held-out scores.")] = 5.0,
) -> None:
    """Train the reference model within a time budget."""
    logging.disable_progress_bar()
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    state = state or Path(tempfile.gettempdir()) / "tooldecoding-training" / f"seed{seed}.pt"
    source = SgdDialogues(sgd, "train") if sgd else None
    learner = Learner(CONFIG)
    step, tokens, before = 0, 0, 0.0
    if state.exists():
        kept = torch.load(state, weights_only=True)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(out)
        learner.load_master(kept["master"])
        for optimizer, values in zip(learner.optimizers, kept["optimizers"], strict=True):
            optimizer.load_state_dict(values)
        step, tokens, before = kept["step"], kept["tokens"], kept["seconds"]
    else:
        tokenizer = sample_tokenizer(source, seed, CONFIG.vocab_size)
    material = Material(tokenizer, source, seed + step)
    report = held_out_report(sgd, tokenizer)
    size = sum(p.numel() for p in learner.master)
    typer.echo(f"{size:,} parameters, {len(tokenizer):,} tokens in the vocabulary, resumed at step {step}")
    started = time.monotonic() - before
    saved = logged = time.monotonic()
    logged_tokens = 0
    losses: list[tuple[float, float]] = []
    progress = before / (60 * minutes)
    while progress < 1:
        for batch in material.batches(stage_at(progress)):
            losses.append(learner.step(batch, schedule(progress)))
            step, tokens = step + 1, tokens + batch.ids.numel()
            logged_tokens += batch.ids.numel()
            now = time.monotonic()
            progress = (now - started) / (60 * minutes)
            if now - logged > 20:
                loss, right = (sum(column) / len(losses) for column in zip(*losses, strict=True))
                speed = logged_tokens / (now - logged)
                typer.echo(
                    f"{now - started:6.0f} s step {step} tokens {tokens / 1e6:.2f}M {speed:.0f}/s "
                    f"call loss {loss:.3f} accuracy {right:.3f}"
                )
                logged, logged_tokens, losses = now, 0, []
            if now - saved > 60 * save_every:
                save(learner.model, tokenizer, out)
                save_state(learner, state, step, tokens, now - started)
                typer.echo(f"saved; {report(learner)}")
                saved = logged = time.monotonic()
                logged_tokens = 0
            if progress >= 1:
                break
    save(learner.model, tokenizer, out)
    typer.echo(f"final after {step} steps and {tokens / 1e6:.2f}M tokens; {report(learner)}")


if __name__ == "__main__":
    typer.run(main)
