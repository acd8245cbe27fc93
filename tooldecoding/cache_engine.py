"""Branches of attention models, either all in one row per prompt (packed) or in one row each (batched)."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from transformers import DynamicCache, PreTrainedModel

from tooldecoding.engine import Feed, Scores, Usage

Layout = Literal["packed", "batched"]
"""Which branches share a row of the cache: those of a prompt, or none."""


@dataclass
class _Branch:
    prompt: int
    length: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Cache slots [start, end) of this branch's own row that it sees, in the sequence of their positions."""


class CacheEngine:
    """Decode branches with a KV cache.

    ``packed``: every prompt is one row; all its branches lie one behind the other in it, and a 4-D mask
    lets each see the prompt and itself alone. The prompt's cache exists once.
    ``batched``: every branch is one row; forking repeats the parent's row. A 2-D mask hides padding.

    Parameters
    ----------
    model : PreTrainedModel
        A causal LM; with ``packed`` one that takes 4-D attention masks and position ids.
    """

    can_drop = True

    def __init__(self, model: PreTrainedModel, layout: Layout) -> None:
        self._model = model
        self._packed = layout == "packed"
        self._accepted = inspect.signature(model.forward).parameters
        config = model.config.get_text_config()
        self._layer_types = set(getattr(config, "layer_types", None) or ())
        self._window: int | None = getattr(config, "sliding_window", None)
        if self._layer_types and "sliding_attention" not in self._layer_types:
            self._window = None
        self._four_d = self._packed or self._window is not None
        self._branches: dict[int, _Branch] = {}
        self._usages: list[Usage] = []
        self._rows: list[int] = []
        self._row_of: dict[int, int] = {}
        self._cache: DynamicCache | None = None
        self._slot_positions = torch.zeros((0, 0), dtype=torch.long)
        self._next = 0

    def open(self, count: int) -> list[int]:
        """Begin ``count`` prompts; see Engine."""
        roots = []
        for _ in range(count):
            self._usages.append(Usage())
            roots.append(self._add(_Branch(len(self._usages) - 1)))
        return roots

    def fork(self, branch: int) -> int:
        """See Engine."""
        parent = self._branches[branch]
        child = self._add(replace(parent, spans=list(parent.spans)))
        if branch in self._row_of:
            self._row_of[child] = self._row_of[branch]
        return child

    def _add(self, branch: _Branch) -> int:
        self._next += 1
        self._branches[self._next] = branch
        return self._next

    def release(self, branch: int) -> None:
        """See Engine."""
        del self._branches[branch]
        self._row_of.pop(branch, None)

    def drop(self, branch: int) -> None:
        """See Engine."""
        held = self._branches[branch]
        start, end = held.spans.pop()
        if end - 1 > start:
            held.spans.append((start, end - 1))
        held.length -= 1

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._usages[self._branches[branch].prompt]

    @torch.inference_mode()
    def extend(self, feeds: Sequence[Feed]) -> list[tuple[Scores, Scores | None]]:
        """See Engine."""
        self._arrange_rows()
        device = self._model.device
        before = self._slot_positions.shape[1]
        rows: list[list[int]] = [[] for _ in self._rows]
        positions: list[list[int]] = [[] for _ in self._rows]
        starts = []
        for feed in feeds:
            branch, row = self._branches[feed.branch], self._row_of[feed.branch]
            starts.append(len(rows[row]))
            rows[row].extend(feed.tokens)
            positions[row].extend(range(branch.length, branch.length + len(feed.tokens)))
        width = max(len(r) for r in rows)
        input_ids = torch.tensor([r + [0] * (width - len(r)) for r in rows], device=device)
        position_ids = torch.tensor([p + [0] * (width - len(p)) for p in positions], device=device)
        self._slot_positions = torch.cat([self._slot_positions.to(device), position_ids], dim=1)
        arguments = {
            "input_ids": input_ids,
            "attention_mask": self._mask(feeds, starts, before, width),
            "past_key_values": self._cache,
            "use_cache": True,
        }
        if "position_ids" in self._accepted:
            arguments["position_ids"] = position_ids
        wanted = [_wanted(feed, start) for feed, start in zip(feeds, starts, strict=True)]
        keep = sorted({p for ps in wanted for p in ps})
        if "logits_to_keep" in self._accepted:
            arguments["logits_to_keep"] = torch.tensor(keep, device=device)
        else:
            keep = list(range(width))
        output = self._model(**arguments)
        self._cache = output.past_key_values
        place = {position: i for i, position in enumerate(keep)}
        scores: list[tuple[Scores, Scores | None]] = []
        for feed, start, at in zip(feeds, starts, wanted, strict=True):
            self._record(feed, before + start)
            logits = output.logits[self._row_of[feed.branch]]
            found = [Scores(logits[place[p]].float()) for p in at]
            scores.append((found[0], found[1] if feed.held else None))
        self._count(feeds)
        return scores

    def _arrange_rows(self) -> None:
        """Give every live branch (batched) or prompt (packed) its row, and drop the rows of finished ones."""
        keys = {b: branch.prompt if self._packed else b for b, branch in self._branches.items()}
        wanted = list(dict.fromkeys(keys.values()))
        if self._cache is None:
            self._cache = DynamicCache()
            self._slot_positions = torch.zeros((len(wanted), 0), dtype=torch.long)
        elif wanted != self._rows:
            first = {keys[b]: self._row_of[b] for b in reversed(self._branches) if b in self._row_of}
            source = torch.tensor([first[k] for k in wanted], device=self._model.device)
            self._cache.reorder_cache(source)
            self._slot_positions = self._slot_positions[source.to(self._slot_positions.device)]
        self._rows = wanted
        self._row_of = {b: wanted.index(k) for b, k in keys.items()}

    def _mask(self, feeds: Sequence[Feed], starts: list[int], before: int, width: int) -> Any:
        alone = before == 0 and len(feeds) == len({self._row_of[f.branch] for f in feeds})
        if alone or not self._four_d:
            return self._padding_mask(feeds, before, width)
        device = self._model.device
        seen = torch.zeros((len(self._rows), width, before + width), dtype=torch.bool, device=device)
        seen[:, range(width), range(before, before + width)] = True  # padding sees itself, so that no row is empty
        for feed, start in zip(feeds, starts, strict=True):
            row, end = self._row_of[feed.branch], start + len(feed.tokens)
            for low, high in self._branches[feed.branch].spans:
                seen[row, start:end, low:high] = True
            size = len(feed.tokens)
            causal = torch.ones((size, size), dtype=torch.bool, device=device).tril()
            seen[row, start:end, before + start : before + end] = causal
        full = self._additive(seen)
        if self._window is None:
            return full
        distance = self._slot_positions[:, before:, None] - self._slot_positions[:, None, :]
        windowed = self._additive(seen & (distance < self._window))
        if not self._layer_types:
            return windowed
        return {"full_attention": full, "sliding_attention": windowed}

    def _additive(self, seen: torch.Tensor) -> torch.Tensor:
        """0 where attention is allowed, the lowest number elsewhere; shape (rows, 1, queries, slots)."""
        lowest = torch.finfo(self._model.dtype).min
        mask = torch.zeros(seen.shape, dtype=self._model.dtype, device=seen.device)
        return mask.masked_fill_(~seen, lowest)[:, None]

    def _padding_mask(self, feeds: Sequence[Feed], before: int, width: int) -> torch.Tensor:
        """Shape (rows, slots): 1 for the tokens of the row's branch, 0 for padding and dropped tokens."""
        mask = torch.zeros((len(self._rows), before + width), dtype=torch.long, device=self._model.device)
        if before:
            for handle, row in self._row_of.items():
                for low, high in self._branches[handle].spans:
                    mask[row, low:high] = 1
        for feed in feeds:
            mask[self._row_of[feed.branch], before : before + len(feed.tokens)] = 1
        return mask

    def _record(self, feed: Feed, slot: int) -> None:
        branch = self._branches[feed.branch]
        branch.length += len(feed.tokens)
        start, end = slot, slot + len(feed.tokens)
        if branch.spans and branch.spans[-1][1] == start:
            start, _ = branch.spans.pop()
        branch.spans.append((start, end))

    def _count(self, feeds: Sequence[Feed]) -> None:
        bytes_per_row = _cache_bytes(self._cache) // len(self._rows)
        for prompt in {self._branches[f.branch].prompt for f in feeds}:
            usage = self._usages[prompt]
            usage.forward_passes += 1
            usage.positions += sum(len(f.tokens) for f in feeds if self._branches[f.branch].prompt == prompt)
            rows = {self._row_of[b] for b, branch in self._branches.items() if branch.prompt == prompt}
            usage.cache_bytes = max(usage.cache_bytes, bytes_per_row * len(rows))


def _wanted(feed: Feed, start: int) -> list[int]:
    """Positions within the pass whose scores are wanted."""
    last = start + len(feed.tokens) - 1
    return [last - 1, last] if feed.held else [last]


def _cache_bytes(cache: DynamicCache | None) -> int:
    layers = cache.layers if cache is not None else []
    tensors = [t for layer in layers for t in (getattr(layer, "keys", None), getattr(layer, "values", None))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
