"""Valid texts with small faults."""

import random
import re

_PIECE = re.compile(r"<[^<>\n]{1,40}>|\[[A-Z_]{4,}\]|\w+|\s|.", re.DOTALL)
_CHARACTERS = [*"\"'{}[](),:;=<>|/\\\n\t -.0159e", "é", "\u2028", "\ud800", "\x00", "\xa0"]
_WORDS = [
    "true", "false", "null", "None", "True", "NaN", "-Infinity", "1e999", "01", "1.", "--1", "functions.", '"id": ',
    '"a": 1, ', '"name": "f", ', "a=1, ", "<think>", "</think>", "<|im_end|>", "<tool_call>", "\n</tool_call>",
    "{}", "f", "json",
]  # fmt: skip


def mutate(text: str, draw: random.Random) -> str:
    """A text with one to three pieces (marks, words, characters) deleted, inserted, replaced, moved or cut off."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        pieces = _PIECE.findall(text)
        if draw.random() < 0.3:
            pieces = list(text)
        text = "".join(_changed(pieces, draw))
    return text


def _changed(pieces: list[str], draw: random.Random) -> list[str]:
    if not pieces:
        return pieces
    one, other = draw.randrange(len(pieces)), draw.randrange(len(pieces))
    start, stop = min(one, other), max(one, other) + 1
    foreign = draw.choice([draw.choice(_CHARACTERS), draw.choice(_WORDS), pieces[other]])
    match draw.randrange(8):
        case 0:
            return pieces[:one] + pieces[one + 1 :]
        case 1 | 2:
            return [*pieces[:one], foreign, *pieces[one:]]
        case 3:
            return [*pieces[:one], foreign, *pieces[one + 1 :]]
        case 4:
            pieces[one], pieces[other] = pieces[other], pieces[one]
            return pieces
        case 5:
            return pieces[:one]
        case 6:  # once more
            return pieces[:stop] + pieces[start:]
        case _:
            return pieces[:start] + pieces[stop:]
