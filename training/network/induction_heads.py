"""Initial weights with induction heads, so that the network copies from the start.

Most of a call was said before it. The network has to find the place where the last tokens occurred and to continue as
the text did there. Two kinds of heads do that together: a previous-token head writes into each token which token came
before it, and an induction head attends to the tokens after earlier occurrences of the current one and copies them. A
small network spends much of a short training on discovering this. Here some heads begin that way, everything else is
random, and training continues from there.
"""

import torch
from torch import Tensor

from training.network.network import Block, Network

PEAK = 20.0
"""Attention score of the token that a previous-token head looks at."""
MATCH = 9.0
"""Approximate attention score of a token after an earlier occurrence of the current one."""
FAST_PAIRS = 4
"""How many of the fastest rotary pairs tell the previous token from its neighbours."""
WRITTEN = 0.2
"""Initial scale of a head's output relative to its normalised input."""


def add_induction_heads(network: Network) -> None:
    """Set two previous-token heads in the first block, and two induction heads in each of the next two blocks.

    One induction head of a block compares the current token, the other the current and the previous one. A network
    with fewer blocks or heads, or with narrow heads, is left as it is.
    """
    shape = network.shape
    width = shape.head_width
    if shape.layers < 3 or shape.heads < 2 or shape.width <= 3 * width or width < 32:
        return
    with torch.no_grad():
        constant = network.embedding.constant.detach() / network.embedding.constant.norm()
        basis = _orthogonal_to(constant)
        token, one_back, two_back = basis[:width], basis[width : 2 * width], basis[2 * width : 3 * width]
        copied = _orthogonal_to(constant)
        for block in network.stack:
            block.matrices["o"] *= 0.1
            block.matrices["down"] *= 0.1
        first, *later = network.stack[:3]
        for head, written in enumerate((one_back, two_back)):
            part = slice(head * width, (head + 1) * width)
            _look_back(first, part, shape.rope_base, constant, head + 1)
            _copy(first, part, token, written)
        rows = _slow_rows(width)
        half = len(rows) // 2
        for number, block in enumerate(later):
            start = number * (width - len(rows))
            some, first_half = slice(start, start + len(rows)), slice(start, start + half)
            _match(block, slice(0, width), rows, token[some], one_back[some])
            current, previous = token[first_half], one_back[first_half]
            keys = torch.cat([one_back[first_half], two_back[first_half]])
            _match(block, slice(width, 2 * width), rows, torch.cat([current, previous]), keys)
            for head in (0, 1):
                drawn = copied.roll(-(2 * number + head) * width, 0)[:width]
                _copy(block, slice(head * width, (head + 1) * width), drawn, drawn)


def _orthogonal_to(vector: Tensor) -> Tensor:
    """Draw orthonormal rows (width - 1, width), all orthogonal to a unit vector."""
    width = len(vector)
    drawn = torch.randn(width, width)
    drawn[:, 0] = vector
    rotation, _ = torch.linalg.qr(drawn)
    rows: Tensor = rotation.T[1:].contiguous()
    return rows


def _slow_rows(head_width: int) -> Tensor:
    """Return the rows of a head that belong to the slower half of the rotary pairs."""
    pairs = head_width // 2
    slow = torch.arange(pairs // 2, pairs)
    return torch.cat([slow, slow + pairs])


def _look_back(block: Block, part: slice, rope_base: float, constant: Tensor, distance: int) -> None:
    """Make a head attend to the token ``distance`` before the current one."""
    width = part.stop - part.start
    pairs = width // 2
    strength = (PEAK * width**0.5 / (len(constant) / 2) / FAST_PAIRS) ** 0.5
    query, key = torch.zeros(width, len(constant)), torch.zeros(width, len(constant))
    for pair in range(FAST_PAIRS):
        angle = torch.tensor(distance * rope_base ** (-2 * pair / width))
        query[pair] = strength * constant
        key[pair] = strength * angle.cos() * constant
        key[pair + pairs] = strength * angle.sin() * constant
    block.matrices["q"][part] = query
    block.matrices["k"][part] = key


def _match(block: Block, part: slice, rows: Tensor, read: Tensor, written: Tensor) -> None:
    """Make a head attend to the tokens whose ``written`` part equals the ``read`` part of the current one."""
    width, size = part.stop - part.start, read.shape[1]
    strength = (3 * MATCH * width**0.5 / len(rows)) ** 0.5
    query, key = torch.zeros(width, size), torch.zeros(width, size)
    query[rows] = strength * read
    key[rows] = strength * written
    block.matrices["q"][part] = query
    block.matrices["k"][part] = key


def _copy(block: Block, part: slice, read: Tensor, written: Tensor) -> None:
    """Make a head copy the ``read`` part of the hidden state into the ``written`` part."""
    block.matrices["v"][part] = read * WRITTEN**0.5
    block.matrices["o"][:, part] = written.T * WRITTEN**0.5
