"""Continuous batching: pieces of decoding share forward passes, and join and leave between them.

A long prompt is fed in pieces beside parts that somebody watches token by token, so that it does not hold them; whole
beside others, for pieces cost more. It is one such prompt at a time: the next one finds it in the prefix cache.
"""

import time
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from tooldecoding.engines.engine import BranchId, Engine
from tooldecoding.engines.feed_pieces import cut, tokens_in_front
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.piece_size import PieceSize
from tooldecoding.engines.steps import Feeds, Steps

T = TypeVar("T")
Outcome: TypeAlias = T | Exception
"""The result of a piece of decoding, or the error that ended it."""


class _Part(Generic[T]):
    """A piece of decoding, and the feeds that it waits for."""

    def __init__(self, root: BranchId, steps: Steps[T], watched: bool) -> None:
        self.root = root
        self.watched = watched
        self.steps = steps
        self.feeds: Feeds = []

    def longest(self) -> int:
        """Most tokens that a feed has in front of those whose logits are wanted."""
        return max(map(tokens_in_front, self.feeds))

    def piece(self, size: int) -> Feeds:
        """Take the first ``size`` tokens of the longest feed, which has at least so many in front."""
        place = max(range(len(self.feeds)), key=lambda place: tokens_in_front(self.feeds[place]))
        piece, self.feeds[place] = cut(self.feeds[place], size)
        return [piece]


class RunningBatch(Generic[T]):
    """Runs pieces of decoding through an engine; each is named by its root branch.

    Parameters
    ----------
    engine : Engine
    clock : callable
        Returns seconds; the pieces of prompts are as long as passes have time.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.perf_counter) -> None:
        self.engine = engine
        self._clock = clock
        self._size = PieceSize()
        self._parts: dict[BranchId, _Part[T]] = {}
        self._ended: dict[BranchId, Outcome[T]] = {}

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def has_room(self) -> bool:
        """Whether the next pass can take a further prompt without holding the others."""
        if self.engine.chunk is None:
            return True
        owed = sum(part.longest() for part in self._parts.values() if part.longest() >= self.engine.chunk)
        return owed < max(self.engine.chunk, self._size.of(self.engine.chunk))

    def join(self, root: BranchId, steps: Steps[T], watched: bool = False) -> None:
        """Take part from the next forward pass on; ``watched`` says that somebody reads along token by token."""
        part = _Part(root, steps, watched)
        self._parts[root] = part
        self._resume(part, None)

    def leave(self, root: BranchId) -> None:
        """Give a piece of decoding up, in whatever state."""
        part = self._parts.pop(root, None)
        self._ended.pop(root, None)
        try:
            if part is not None:
                part.steps.close()
        finally:
            self.engine.close(root)

    def forward(self) -> dict[BranchId, Outcome[T]]:
        """Run one forward pass; returns what has ended. What an engine raises is raised here."""
        fed, piece = self._chosen()
        feeds = [feed for part in fed for feed in part.feeds]
        if feeds:
            answers = self._extend(feeds, piece)
            for part in fed:
                count = len(part.feeds)
                self._resume(part, answers[:count])
                answers = answers[count:]
        ended, self._ended = self._ended, {}
        return ended

    def _extend(self, feeds: Feeds, piece: Feeds) -> list[list[NextTokenLogits]]:
        """Return the answers to ``feeds``; notes what the pass took."""
        began = self._clock()
        answers = self.engine.extend([*piece, *feeds])[len(piece) :]
        seconds, chunk = self._clock() - began, self.engine.chunk
        whole = chunk is not None and any(tokens_in_front(feed) >= chunk for feed in feeds)
        if piece or (whole and len(feeds) > 1):
            self._size.note_mixed(seconds, is_full=bool(piece))
        elif not whole:
            self._size.note_plain(seconds)
        return answers

    def _chosen(self) -> tuple[list[_Part[T]], Feeds]:
        """Return who is fed in the next pass, and a piece of a prompt."""
        parts = list(self._parts.values())
        long = [part for part in parts if self._is_long(part)]
        if not long:
            return parts, []
        others = [part for part in parts if part not in long]
        if not any(part.watched for part in others):
            return [*others, long[0]], []
        assert self.engine.chunk is not None
        return others, long[0].piece(self._size.of(self.engine.chunk))

    def _is_long(self, part: _Part[T]) -> bool:
        chunk = self.engine.chunk
        return chunk is not None and part.longest() >= max(chunk, self._size.of(chunk))

    def _resume(self, part: _Part[T], answers: list[list[NextTokenLogits]] | None) -> None:
        try:
            part.feeds = next(part.steps) if answers is None else part.steps.send(answers)
        except StopIteration as stop:
            self._end(part, stop.value)
        except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
            self._end(part, error)

    def _end(self, part: _Part[T], outcome: Outcome[T]) -> None:
        del self._parts[part.root]
        self._ended[part.root] = outcome
        self.engine.close(part.root)
