"""Tree attention: each query sees its branch up to itself, and what a pass writes does not grow with the prompt."""

from itertools import pairwise

import pytest
import torch

from tiny_models import tiny_model
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.tree_attention import Mask


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
