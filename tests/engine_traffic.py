"""Random traffic through one engine: prompts join and leave, branches fork, drop and end; all logits are checked."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch

from tooldecoding.engines.engine import BranchId, Engine, Feed, Usage

SHARED = [5 + i * 11 % 190 for i in range(40)]
"""Some prompts begin with this."""


@dataclass
class Guest:
    """A prompt that runs.

    Attributes
    ----------
    unfed : list of int
        Tokens of the prompt that are still to be fed.
    branches : dict
        For each live branch its tokens, and how many of the last it may drop.
    positions, passes : int
        What it must have cost.
    """

    root: BranchId
    usage: Usage
    unfed: list[int]
    branches: dict[BranchId, tuple[list[int], int]] = field(default_factory=dict)
    positions: int = 0
    passes: int = 0


class Traffic:
    """Drives an engine at random and compares its logits with those of each branch alone.

    Parameters
    ----------
    longest : int
        Longest prompt.
    most : int
        So many prompts run at most.
    checked : bool
        Whether logits are compared.
    """

    def __init__(
        self, engine: Engine, model: Any, seed: int, longest: int = 90, most: int = 6, checked: bool = True
    ) -> None:
        self.engine = engine
        self.random = Random(seed)
        self.guests: list[Guest] = []
        self.left: list[BranchId] = []
        self.joined = self.reused = 0
        self._model = model
        self._longest = longest
        self._most = most
        self._checked = checked

    def run(self, steps: int) -> None:
        """Let prompts join and leave between so many passes."""
        for _ in range(steps):
            if len(self.guests) < self._most and self.random.random() < 0.6:
                self.join(self.random.randint(1, 3))
            self.step()
            for guest in list(self.guests):
                self._change(guest)

    def join(self, count: int) -> None:
        """Open prompts. Some share a prefix."""
        for root in self.engine.open(count):
            start = SHARED[: self.random.choice([0, 25, 40])]
            size = self.random.choice([1, 2, 5, 20, self._longest])
            prompt = [*start, *(self.random.randint(5, 199) for _ in range(self.random.randint(1, size)))]
            usage = self.engine.usage(root)
            known = self.engine.reuse(root, prompt)
            assert known < len(prompt)
            self.guests.append(Guest(root, usage, prompt[known:], {root: (prompt[:known], 0)}))
            self.joined += 1
            self.reused += known

    def step(self) -> None:
        """Feed some of the prompts in one pass."""
        feeds = [feed for guest in self.guests if self.random.random() < 0.8 for feed in self._feeds(guest)]
        if feeds:
            self._pass(feeds)

    def _feeds(self, guest: Guest) -> list[Feed]:
        if guest.unfed:
            size = self.random.choice([1, 3, 7, 200]) if self.engine.chunk else len(guest.unfed)
            piece, guest.unfed = guest.unfed[:size], guest.unfed[size:]
            return [Feed(guest.root, piece)]
        some = self.random.sample(list(guest.branches), self.random.randint(1, len(guest.branches)))
        feeds = []
        for branch in some:
            tokens = [self.random.randint(5, 199) for _ in range(self.random.randint(1, 4))]
            feeds.append(Feed(branch, tokens, self.random.randint(0, len(tokens)) if self.engine.can_drop else 0))
        return [feed._replace(ahead=min(feed.ahead, len(feed.tokens) - 1)) for feed in feeds]

    def _pass(self, feeds: list[Feed]) -> None:
        answers = self.engine.extend(feeds)
        passing = []
        for feed, found in zip(feeds, answers, strict=True):
            [guest] = [g for g in self.guests if feed.branch in g.branches]
            tokens = [*guest.branches[feed.branch][0], *feed.tokens]
            guest.branches[feed.branch] = tokens, feed.ahead
            if self.engine.can_drop:
                guest.passes += guest not in passing
            else:
                guest.passes += len(feed.tokens) if guest.positions else 1
            guest.positions += len(feed.tokens)
            passing.append(guest)
            assert len(found) == feed.ahead + 1
            if self._checked:
                self._compare(tokens, torch.stack([logits.logits for logits in found]))
        for guest in passing:
            assert (guest.usage.positions, guest.usage.forward_passes) == (guest.positions, guest.passes)

    def _compare(self, tokens: list[int], found: torch.Tensor) -> None:
        with torch.inference_mode():
            alone = self._model(torch.tensor([tokens])).logits[0, -len(found) :].float()
        torch.testing.assert_close(found.cpu(), alone, atol=1e-4, rtol=1e-4)

    def _change(self, guest: Guest) -> None:
        """Fork, drop, release or close at random; close again what was closed."""
        if guest.unfed:
            kinds = ["close"] + ["stay"] * 9
        else:
            kinds = ["fork", "fork", "drop", "drop", "release", "release", "close", "stay", "stay"]
        branch = self.random.choice(list(guest.branches))
        tokens, ahead = guest.branches[branch]
        match self.random.choice(kinds):
            case "fork" if len(guest.branches) < 5:
                guest.branches[self.engine.fork(branch)] = list(tokens), ahead
            case "drop" if ahead:
                count = self.random.randint(1, ahead)
                self.engine.drop(branch, count)
                guest.branches[branch] = tokens[:-count], ahead - count
            case "release":
                self.engine.release(branch)
                del guest.branches[branch]
                if not guest.branches:
                    self._leave(guest)
            case "close":
                self.engine.close(guest.root)
                self._leave(guest)
        if self.left:
            self.engine.close(self.random.choice(self.left[-20:]))

    def _leave(self, guest: Guest) -> None:
        self.guests.remove(guest)
        self.left.append(guest.root)
