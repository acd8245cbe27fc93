"""Engine on llama.cpp: branches are sequences that share the cells of one KV cache, and one pass feeds many of them.

A fork marks the cells of its parent as its own, too, so that it costs nothing; a cell is free when no sequence has it.
"""

import ctypes
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, Final, NamedTuple
from weakref import WeakMethod, finalize

import numpy as np
import torch

from tooldecoding.engines.engine import BranchId, BranchTable, Engine, Feed, Need
from tooldecoding.engines.logits import LogitRows, NextTokenLogits
from tooldecoding.engines.prefix_cache import CachedBranch, CachedPrompt, PrefixCache
from tooldecoding.errors import ModelError
from tooldecoding.models.llama_cpp import LlamaCppModel, last_messages, library
from tooldecoding.options import Strategy

_MOST_SEQUENCES: Final = 256
"""llama.cpp's own limit."""
_FIRST_POSITIONS: Final = 2048
"""Size of a cache before it grows."""
_BATCH: Final = 2048
"""Most tokens of a pass."""
_OWN: Final = 8
"""The last tokens of a prompt are always computed, so many at least, and in groups of so many: for fewer rows llama.cpp
rounds in another way (by up to 0.3 in a logit of a Q4_K_M file), and an answer would depend on what came before."""
_GIVEN_BACK: Final = -1
"""The sequence of a branch whose engine is gone."""
_FULL: Final = 1
"""What ``llama_decode`` returns if there are too few free cells; nothing is changed then."""
_TIMED: Final = (1, 9, 1, 9, 1)
"""Positions of the passes that are timed, behind one that brings the weights into memory."""


class _Token(NamedTuple):
    """A token of a pass, in which sequence, and whether its logits are wanted."""

    id: int
    sequence: int
    position: int
    wanted: bool


class SequenceCache:
    """The KV cache of a model: numbered sequences of tokens. Engines share it, one pass at a time.

    It doubles when a pass finds no room: what is in it is copied to a larger one.

    Attributes
    ----------
    lock : threading.RLock
        Held by an engine while it works. It is that of ``prefixes``, which frees the sequences that it removes.
    prefixes : PrefixCache
        Sequences of earlier prompts.
    context : int
        llama.cpp's context.
    abandoned : deque of int
        Sequences of engines that are gone; they are freed before the next one is taken. Needs no lock.
    """

    def __init__(self, model: LlamaCppModel, prompt_cache_bytes: int) -> None:
        self.bytes_per_position = size = model.bytes_per_position
        free = WeakMethod(self.free)  # no cycle: memory is back at once
        self.prefixes: PrefixCache[int] = PrefixCache(
            prompt_cache_bytes, lambda tokens, _: tokens * size, lambda sequence: (now := free()) and now(sequence)
        )
        self.lock = self.prefixes.lock
        self.abandoned: deque[int] = deque()
        self._model = model
        self._llama = library()
        self._positions = _FIRST_POSITIONS
        self._use(model.new_context(self._positions, _MOST_SEQUENCES, _BATCH))
        self._free = list(range(_MOST_SEQUENCES - 1, -1, -1))
        self._batch = self._llama.llama_batch_init(_BATCH, 0, 1)
        finalize(self, self._llama.llama_batch_free, self._batch).atexit = False

    @property
    def _memory(self) -> Any:
        return self._llama.llama_get_memory(self.context)

    def new(self, copied: int | None = None, length: int = -1) -> int:
        """Return the number of an empty sequence, or of a copy of the first tokens of another.

        ModelError if llama.cpp can have no more sequences.
        """
        while self.abandoned:
            self.free(self.abandoned.popleft())
        if not self._free and not self.prefixes.remove_oldest():
            raise ModelError(
                f"llama.cpp has at most {_MOST_SEQUENCES} sequences at a time, one for each order of each prompt; "
                "decode fewer prompts together (--batch-size), or fewer orders"
            )
        sequence = self._free.pop()
        if copied is not None:
            self.copy(copied, sequence, length)
        return sequence

    def copy(self, source: int, target: int, length: int) -> None:
        """Give an empty sequence the first tokens of another; all of them if ``length`` is -1."""
        self._llama.llama_memory_seq_cp(self._memory, source, target, 0, length)

    def cut(self, sequence: int, length: int) -> None:
        """Remove the tokens of a sequence from position ``length`` on."""
        if not self._llama.llama_memory_seq_rm(self._memory, sequence, length, -1):
            raise RuntimeError(f"llama.cpp cannot remove tokens of sequence {sequence}")

    def free(self, sequence: int) -> None:
        """Remove a sequence."""
        with self.lock:
            self.cut(sequence, 0)
            self._free.append(sequence)

    def compute(self, tokens: Sequence[_Token]) -> LogitRows:
        """Run a pass; returns the logits of the wanted tokens, shape (wanted, vocabulary).

        ModelError if there is no memory left, or llama.cpp fails.
        """
        batch = self._batch
        ids, positions, wanted_at = batch.token, batch.pos, batch.logits
        counts, sequences = batch.n_seq_id, batch.seq_id  # each token has a list of sequences, here of one
        batch.n_tokens = len(tokens)
        for place, token in enumerate(tokens):
            ids[place], positions[place], wanted_at[place] = token.id, token.position, token.wanted
            counts[place], sequences[place][0] = 1, token.sequence
        while (state := self._llama.llama_decode(self.context, batch)) == _FULL:
            self._grow()
        if state:
            raise ModelError(f"llama.cpp could not compute a pass (code {state}): {last_messages()}")
        wanted = sum(token.wanted for token in tokens)
        vocabulary = self._model.config.get_text_config().vocab_size
        if not wanted:
            return LogitRows(torch.empty((0, vocabulary)))
        rows = np.ctypeslib.as_array(self._llama.llama_get_logits(self.context), (wanted, vocabulary))
        return LogitRows(torch.from_numpy(rows.copy()))  # the next pass writes over them

    def _grow(self) -> None:
        """Move all to a cache of twice the size."""
        llama, old = self._llama, self.context
        size = llama.llama_state_get_size(old)
        state = (ctypes.c_uint8 * size)()
        written = llama.llama_state_get_data(old, state, size)
        larger = self._model.new_context(2 * self._positions, _MOST_SEQUENCES, _BATCH)
        if not written or llama.llama_state_set_data(larger, state, written) != written:
            self._model.free_context(larger)
            raise ModelError(f"llama.cpp could not move its KV cache: {last_messages()}")
        free_old = self._free_context
        self._use(larger)
        self._positions *= 2
        free_old()

    def _use(self, context: int) -> None:
        self.context = context
        # the method holds the model, which must outlive its contexts
        self._free_context = finalize(self, self._model.free_context, context)
        self._free_context.atexit = False  # a thread may still use it then


@dataclass(eq=False)
class _Branch(CachedBranch):
    sequence: int
    length: int = 0


class LlamaCppEngine(Engine):
    """See Engine.

    Parameters
    ----------
    cache : SequenceCache
        Of the model; its other engines use it, too.
    worth_a_pass : int
        See Engine.
    """

    can_roll_back = True
    has_spare_positions = False
    """A position costs nearly as much as a pass."""
    chunk: int | None = _BATCH // 4

    def __init__(self, cache: SequenceCache, worth_a_pass: int) -> None:
        self._cache = cache
        self._bytes = cache.bytes_per_position
        self.worth_a_pass = worth_a_pass
        self._branches: BranchTable[_Branch] = BranchTable()

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine; infinity for more sequences than llama.cpp has."""
        if sum(1 + need.branches for need in needs) > _MOST_SEQUENCES:  # no branch only writes drafts
            return math.inf
        return self._bytes * sum(need.shared + (need.branches + need.drafts) * need.each for need in needs)

    @property
    def allocated_bytes(self) -> int:
        """See Engine. Without cells that are free: the next prompts take them."""
        return sum(prompt.usage.cache_bytes for prompt in {branch.prompt for branch in tuple(self._branches.values())})

    def open(self, count: int) -> list[BranchId]:
        """See Engine; ModelError if llama.cpp can have no more sequences."""
        opened: list[BranchId] = []
        try:
            for _ in range(count):
                with self._cache.lock:
                    branch = _Branch(CachedPrompt(self._cache.prefixes), self._cache.new())
                opened.append(self._branches.add(branch))
        except ModelError:
            for root in opened:
                self.close(root)
            raise
        return opened

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        """See Engine."""
        root = self._branches[branch]
        with self._cache.lock:
            prefix = root.prompt.announce(tokens)
            if prefix is None:
                return 0
            known, kept = prefix
            root.length = root.prompt.usage.reused_positions = max(0, min(known, len(tokens) - _OWN)) // _OWN * _OWN
            if root.length:
                self._cache.copy(kept, root.sequence, root.length)
        return root.length

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine; ModelError if llama.cpp can have no more sequences."""
        parent = self._branches[branch]
        with self._cache.lock:
            return self._branches.add(replace(parent, sequence=self._cache.new(parent.sequence)), branch)

    def release(self, branch: BranchId) -> None:
        """See Engine."""
        sequence = self._branches.remove(branch).sequence
        if sequence != _GIVEN_BACK:  # decoding that ends behind its engine
            self._cache.free(sequence)

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        dropping = self._branches[branch]
        dropping.length -= count
        with self._cache.lock:
            self._cache.cut(dropping.sequence, dropping.length)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. One pass, but of at most 2,048 tokens; ModelError if there is no memory left."""
        fed = [self._branches[feed.branch] for feed in feeds]
        tokens = [token for feed, branch in zip(feeds, fed, strict=True) for token in _tokens_of(feed, branch)]
        prompt_of = {branch.sequence: branch.prompt for branch in fed}
        logits: list[NextTokenLogits] = []
        with self._cache.lock:
            for start in range(0, len(tokens), _BATCH):
                part = tokens[start : start + _BATCH]
                rows = self._cache.compute(part)
                logits += [NextTokenLogits(rows, row) for row in range(len(rows.logits))]
                for token in part:
                    prompt_of[token.sequence].usage.positions += 1
                for prompt in {prompt_of[token.sequence] for token in part}:
                    prompt.usage.forward_passes += 1
            for feed, branch in zip(feeds, fed, strict=True):
                self._note(feed, branch)
        left = iter(logits)
        return [list(islice(left, feed.answers)) for feed in feeds]

    def _note(self, feed: Feed, branch: _Branch) -> None:
        """Note what a branch got, and keep its prompt as soon as all of it is computed."""
        branch.length += len(feed.tokens)
        with suppress(ModelError):  # there is no sequence left: it is only not kept
            branch.note(branch.length, feed.tokens, lambda length: self._cache.new(branch.sequence, length))
        usage = branch.prompt.usage
        usage.cache_bytes = self._bytes * (usage.reused_positions + usage.positions)  # with what was dropped

    def __del__(self) -> None:
        for branch in getattr(self, "_branches", {}).values():  # nobody has closed them
            self._cache.abandoned.append(branch.sequence)
            branch.sequence = _GIVEN_BACK


def _tokens_of(feed: Feed, branch: _Branch) -> Iterator[_Token]:
    sure = len(feed.tokens) - feed.answers
    for number, position in zip(range(len(feed.tokens)), count(branch.length)):
        yield _Token(feed.tokens[number], branch.sequence, position, number >= sure)


class LlamaCppFactory:
    """Makes the engines of a GGUF file's model; see ``EngineFactory``.

    ModelError if ``batched`` is asked for, or there is no memory for the KV cache.

    Parameters
    ----------
    model : LlamaCppModel
    strategy : {"auto", "packed", "batched"}
    prompt_cache_bytes : int
        Memory of the prefix cache.
    """

    strategy: Final = "packed"
    recurrent: Final = False

    def __init__(self, model: LlamaCppModel, strategy: Strategy, prompt_cache_bytes: int = 0) -> None:
        if strategy == "batched":
            raise ModelError(
                "the engine llama.cpp packs all branches into one pass; use packed or auto, or --engine transformers"
            )
        self._cache = SequenceCache(model, prompt_cache_bytes)
        self.prompts = self._cache.prefixes
        self._worth = _worth_a_pass(self._cache)
        self.reason = f"llama.cpp runs the file as it is; a pass by itself costs as much as {self._worth} positions"

    def __call__(self) -> LlamaCppEngine:
        """Return a new engine without branches."""
        return LlamaCppEngine(self._cache, self._worth)


def _worth_a_pass(cache: SequenceCache) -> int:
    """Return how many positions cost as much as a pass by itself, by the time of a few; at most 32."""
    sequence = cache.new()
    seconds: dict[int, list[float]] = {}
    cache.compute([_Token(0, sequence, 0, True)])
    for size in _TIMED:
        start = time.perf_counter()
        cache.compute([_Token(0, sequence, 1 + n, False) for n in range(size - 1)] + [_Token(0, sequence, size, True)])
        seconds.setdefault(size, []).append(time.perf_counter() - start)
        cache.cut(sequence, 1)
    cache.free(sequence)
    few, many = sorted(seconds)
    position = max((min(seconds[many]) - min(seconds[few])) / (many - few), 1e-9)
    return max(0, min(round(min(seconds[few]) / position - 1), Engine.worth_a_pass))
