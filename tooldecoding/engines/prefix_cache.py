"""The prefix cache: KV caches of earlier prompts, so that a prompt with the same prefix does not compute it again."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from tooldecoding.engines.engine import Usage

States = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, shape (heads, tokens, width)."""


S = TypeVar("S")
"""What is stored of a prompt: its states, or a number that stands for them."""


def _size(tokens: int, states: States) -> int:
    return sum(t.numel() * t.element_size() for pair in states for t in pair)


class PrefixCache(Generic[S]):
    """Keys and values of the latest prompts, found by their tokens. Threads may share it.

    Parameters
    ----------
    max_bytes : int
        Beyond this size the least recently used prompts are removed; 0 keeps nothing.
    size : callable
        Returns the bytes that a prompt of so many tokens takes with these states.
    discard : callable, optional
        Called with states that are not, or no longer, stored.

    Attributes
    ----------
    lock : threading.RLock
        Held while prompts are looked up, stored and removed. Who holds a lock of his own in ``discard`` takes this one.
    """

    SHORTEST = 16
    """Shorter common prefixes are not worth a copy."""

    def __init__(
        self,
        max_bytes: int,
        size: Callable[[int, S], int] = _size,  # type: ignore[assignment]  # of tensors
        discard: Callable[[S], object] = lambda _: None,
    ) -> None:
        self.max_bytes = max_bytes
        self._size = size
        self._discard = discard
        self.lock = threading.RLock()
        self._entries: OrderedDict[bytes, tuple[S, int]] = OrderedDict()
        self._bytes = 0

    def find(self, tokens: Sequence[int], most: int) -> tuple[int, S] | None:
        """Return how many first tokens a stored prompt has in common, at most ``most``, and its states.

        Of several, the longest. Too few are None.
        """
        wanted = np.asarray(tokens, dtype=np.int64)
        with self.lock:
            best, found = 0, b""
            for key in self._entries:
                known = np.frombuffer(key, dtype=np.int64)[: len(wanted)]
                differing = np.flatnonzero(known != wanted[: len(known)])
                common = int(differing[0]) if len(differing) else len(known)
                if common > best:
                    best, found = common, key
            best = min(best, most)
            if best < self.SHORTEST:
                return None
            self._entries.move_to_end(found)
            return best, self._entries[found][0]

    def knows(self, tokens: Sequence[int]) -> bool:
        """Whether these tokens are stored, or are a prefix of a stored prompt."""
        wanted = np.asarray(tokens, dtype=np.int64).tobytes()
        with self.lock:
            return any(key.startswith(wanted) for key in self._entries)

    def store(self, tokens: Sequence[int], states: S) -> None:
        """Store a prompt's keys and values. The caller must not write to them any more."""
        key = np.asarray(tokens, dtype=np.int64).tobytes()
        size = self._size(len(tokens), states)
        if size > self.max_bytes or len(tokens) < self.SHORTEST:
            self._discard(states)
            return
        with self.lock:
            for shorter in [k for k in self._entries if key.startswith(k)]:
                self._remove(shorter)
            self._entries[key] = states, size
            self._bytes += size
            while self._bytes > self.max_bytes:
                self.remove_oldest()

    def remove_oldest(self) -> bool:
        """Remove the least recently used prompt; returns whether there was one."""
        with self.lock:
            for oldest in self._entries:
                self._remove(oldest)
                return True
        return False

    def _remove(self, key: bytes) -> None:
        states, size = self._entries.pop(key)
        self._bytes -= size
        self._discard(states)

    def clear(self) -> None:
        """Remove all prompts. A decoder does this itself if the model's weights have changed."""
        with self.lock:
            while self.remove_oldest():
                pass


@dataclass(eq=False)
class CachedPrompt:
    """A prompt's cost, and its tokens until they are in the prefix cache.

    Attributes
    ----------
    prefixes : PrefixCache
    usage : Usage
    unstored : tuple of int
        The tokens, as they were announced.
    """

    prefixes: PrefixCache[Any] = field(default_factory=lambda: PrefixCache(0))
    usage: Usage = field(default_factory=Usage)
    unstored: tuple[int, ...] = ()

    def announce(self, tokens: Sequence[int]) -> tuple[int, Any] | None:
        """Note the tokens of the prompt before they are fed; returns what is known of them, but never all."""
        if not self.prefixes.max_bytes:
            return None
        self.unstored = tuple(tokens)
        prefix = self.prefixes.find(tokens, len(tokens) - 1)
        if prefix is not None:
            self.usage.reused_positions, _ = prefix
        return prefix


@dataclass(eq=False)
class CachedBranch:
    """A branch of a prompt, and whether all its tokens so far are those of the announced prompt."""

    prompt: CachedPrompt
    as_announced: bool = field(default=True, kw_only=True)

    def note(self, length: int, fed: Sequence[int], read: Callable[[int], Any]) -> None:
        """Note fed tokens; stores the prompt as soon as a branch that begins as announced has all of it.

        Parameters
        ----------
        length : int
            Tokens of the branch, with those.
        read : callable
            Copies the keys and values of so many of its first tokens.
        """
        prompt, tokens = self.prompt, self.prompt.unstored
        expected = tokens[length - len(fed) : length]
        self.as_announced &= tuple(fed[: len(expected)]) == expected
        if not self.as_announced or not tokens or length < len(tokens):
            return
        prompt.unstored = ()
        if not prompt.prefixes.knows(tokens):
            prompt.prefixes.store(tokens, read(len(tokens)))
