"""Copying drills: the short exercises that the curriculum starts with.

A transformer learns to copy far sooner from short texts that are mostly copies than from long prompts where
few tokens are. Two kinds: repeated random token ids, and statements recalled by key in the form of a call.
"""

from random import Random

from tooldecoding.call_format import Call
from tooldecoding.training import words as w
from tooldecoding.training.dialogue import CALL_PREFIX, Segment, render_call
from tooldecoding.training.values import KINDS, pseudo_word


def repeated_ids(rng: Random, first: int, vocabulary: int) -> tuple[list[int], list[bool]]:
    """Random ids from ``first`` on, then the same once or twice more; the repetitions are to be learned."""
    length, times = rng.randint(4, 48), rng.randint(2, 3)
    alphabet = range(first, vocabulary) if rng.random() < 0.6 else rng.sample(range(first, vocabulary), 12)
    block = [rng.choice(alphabet) for _ in range(length)]
    return block * times, [False] * length + [True] * length * (times - 1)


def _key(rng: Random) -> str:
    words = [rng.choice(w.NOUNS) if rng.random() < 0.6 else pseudo_word(rng) for _ in range(rng.choice([1, 1, 2]))]
    return "_".join(words)


def recall(rng: Random) -> list[Segment]:
    """``User: key value, …`` then calls with the same keys and values, in other orders."""
    out: list[Segment] = []
    before = ""
    for _ in range(rng.randint(1, 3)):
        pairs = {}
        for _ in range(rng.randint(1, 4)):
            said, value = rng.choice(KINDS).sample(rng)
            pairs[_key(rng)] = said if rng.random() < 0.9 else value
        link = rng.choice([" ", " is ", ": ", " = "])
        told = ", ".join(f"{key.replace('_', ' ')}{link}{value}" for key, value in pairs.items())
        name = "".join(part.capitalize() for part in _key(rng).split("_"))
        for repetition in range(rng.choice([1, 1, 2])):
            keys = list(pairs)
            rng.shuffle(keys)
            if repetition == 0:
                before += f"User: {name}, {told}\n"
            call = render_call(Call(name, pairs), keys) + "\n"
            out += [Segment(before + CALL_PREFIX, False), Segment(call, True)]
            before = ""
    return out
