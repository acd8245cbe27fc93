"""Tree attention: each query sees its branch up to itself, and what a pass writes does not grow with the prompt."""

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import pytest
import torch

import tooldecoding.engines.tree_attention as tree_attention
from tiny_models import tiny_model
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.packed_row import PackedRow, RowBranch, RowFeed
from tooldecoding.engines.tree_attention import AttentionMasks, Mask

MODEL = tiny_model("gemma2", 300)
WINDOW = 24


@dataclass
class Row:
    """A row, and what its branches must see."""

    row: PackedRow = field(default_factory=PackedRow)
    branches: list[tuple[RowBranch, list[int], int]] = field(default_factory=list)
    """For each branch: its slots by position, and how many of the last it may drop."""


def change(row: Row, random: Random) -> None:
    """Fork, drop or release at random."""
    number = random.randint(0, len(row.branches) - 1)
    branch, slots, ahead = row.branches[number]
    kind = random.choice(["fork", "fork", "drop", "release"])
    if kind == "fork" and len(row.branches) < 6:
        row.branches.append((row.row.fork(branch), list(slots), ahead))
    elif kind == "drop" and ahead:
        count = random.randint(1, ahead)
        row.row.drop(branch, count)
        row.branches[number] = (branch, slots[:-count], ahead - count)
    elif kind == "release" and len(row.branches) > 1:
        row.row.release(branch)
        del row.branches[number]


@pytest.mark.parametrize("kept_bytes", [tree_attention.KEPT_BYTES, 0])
@pytest.mark.parametrize("seed", range(40))
def test_each_query_sees_its_branch_up_to_itself(seed: int, kept_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_attention, "KEPT_BYTES", kept_bytes)
    random = Random(seed)
    masks = AttentionMasks(MODEL)
    rows = [Row() for _ in range(random.randint(1, 3))]
    for row in rows:
        row.branches = [(row.row.root(), [], 0)]
    for turn in range(random.randint(2, 8)):
        some = random.sample(range(len(rows)), random.randint(1, len(rows)))
        passing = sorted(some if turn else range(len(rows)))
        feeds: list[list[RowFeed]] = []
        for i in passing:
            branches = rows[i].branches if random.random() < 0.5 else rows[i].branches[:1]
            sizes = [random.randint(1, 6 if turn else 40) for _ in branches]
            ahead = [random.randint(0, size - 1) for size in sizes]
            feeds.append([RowFeed(b[0], [7] * n, a) for b, n, a in zip(branches, sizes, ahead, strict=True)])
        width = max(sum(len(f.tokens) for f in parts) for parts in feeds)
        layouts = [rows[i].row.lay_out(parts, width) for i, parts in zip(passing, feeds, strict=True)]
        size = max(layout.visible.end for layout in layouts)
        found = masks(passing, len(rows), [layout.visible for layout in layouts], size)
        for place, (i, parts) in enumerate(zip(passing, feeds, strict=True)):
            query = 0
            for branch, tokens, ahead in parts:
                [number] = [n for n, known in enumerate(rows[i].branches) if known[0] is branch]
                slots = rows[i].branches[number][1]
                for _ in tokens:
                    slot = layouts[place].slots[query]
                    assert all(slot not in known[1] for known in rows[i].branches)
                    slots.append(slot)
                    assert layouts[place].positions[query] == len(slots) - 1
                    for kind, near in (("full_attention", slots), ("sliding_attention", slots[-WINDOW:])):
                        line = found[kind][place, 0, query]
                        assert torch.nonzero(line == 0).flatten().tolist() == sorted(near)
                        assert ((line == 0) | (line == torch.finfo(line.dtype).min)).all()
                    query += 1
                rows[i].branches[number] = (branch, slots, ahead)
            assert (found["sliding_attention"][place, 0] == 0).any(-1).all()  # padding also sees something
        for row in rows:
            for _ in range(random.randint(0, 3)):
                change(row, random)


class Written:
    """Counts the elements of masks that passes write."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.elements = 0
        write = Mask.write

        def counting(mask: Mask, *arguments: object) -> None:
            before = mask.values.clone()
            mask.values.fill_(0.5)
            write(mask, *arguments)  # type: ignore[arg-type]
            self.elements += int((mask.values != 0.5).sum())
            mask.values = torch.where(mask.values == 0.5, before, mask.values)

        patch.setattr(Mask, "write", counting)


@pytest.mark.parametrize("shape", ["llama", "gemma2"])
@pytest.mark.parametrize("orders", [1, 5])
def test_what_a_pass_writes_does_not_grow_with_the_prompt(
    shape: str, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LanguageModel(tiny_model(shape, 300))

    def work(prompt: int) -> list[int]:
        engine = PackedEngine(model)
        [root] = engine.open(1)
        engine.extend([Feed(root, [5 + i % 200 for i in range(prompt)])])
        branches = [root, *(engine.fork(root) for _ in range(orders - 1))]
        amounts = []
        for turn in range(12):
            engine.extend([Feed(b, [7 + turn] * (1 + turn % 3), turn % 2) for b in branches[: turn % 4 + 1]])
            amounts.append(written.elements)
            for b in branches[: turn % 4 + 1]:
                engine.drop(b, turn % 2)
            assert all(len(branch.in_row.own) < 40 for branch in engine._branches.values())
        return [after - before for before, after in pairwise(amounts)]

    written = Written(monkeypatch)
    short = work(60)
    assert short == work(1500)
    assert 0 < max(short) < 60 * orders * 12
