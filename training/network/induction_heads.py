"""Initial weights that can copy already.

Most of what a call holds was said before, so the network must find the place where the last tokens stood and go on as
it went on there. Two kinds of heads do that together: one writes at each token which token stood before it, the other
looks for tokens behind an earlier occurrence of the present one and copies them. A small network needs a good part of a
short training to come upon that; here, some heads begin that way, all else at random, and training goes on from there.
"""

import torch
from torch import Tensor

from training.network.network import Block, Network

PEAK = 20.0
"""Attention score of the token before, in heads that look there."""
MATCH = 9.0
"""Attention score of a token behind an earlier occurrence of the present one, roughly."""
FAST_PAIRS = 4
"""Rotary pairs, from the fastest, that tell the token before from its neighbours."""
WRITTEN = 0.2
"""How large a head's output is at first, in terms of its normalised input."""


def wire(network: Network) -> None:
    """Set the first two heads of the first three blocks; a network without them, or of narrow heads, stays as it is."""
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
        first, *behind = network.stack[:3]
        for head, written in enumerate((one_back, two_back)):
            part = slice(head * width, (head + 1) * width)
            _look_back(first, part, shape.rope_base, constant, head + 1)
            _carry(first, part, token, written)
        rows = _slow_rows(width)
        half = len(rows) // 2
        for number, block in enumerate(behind):
            start = number * (width - len(rows))
            some = slice(start, start + len(rows))
            alone, paired = slice(0, width), slice(width, 2 * width)
            _match(block, alone, rows, token[some], one_back[some])
            present, previous = token[start : start + half], one_back[start : start + half]
            keys = torch.cat([one_back[start : start + half], two_back[start : start + half]])
            _match(block, paired, rows, torch.cat([present, previous]), keys)
            for head, part in enumerate((alone, paired)):
                drawn = copied.roll(-(2 * number + head) * width, 0)[:width]
                _carry(block, part, drawn, drawn)


def _orthogonal_to(vector: Tensor) -> Tensor:
    """Random orthonormal rows (width - 1, width), all orthogonal to a unit vector."""
    width = len(vector)
    drawn = torch.randn(width, width)
    drawn[:, 0] = vector
    rotation, _ = torch.linalg.qr(drawn)
    rows: Tensor = rotation.T[1:].contiguous()
    return rows


def _slow_rows(head_width: int) -> Tensor:
    """Rows of a head in the slower half of the rotary pairs."""
    pairs = head_width // 2
    slow = torch.arange(pairs // 2, pairs)
    return torch.cat([slow, slow + pairs])


def _look_back(block: Block, part: slice, rope_base: float, constant: Tensor, distance: int) -> None:
    """A head attends to the token at a distance before its own."""
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
    """A head attends to the tokens whose ``written`` part is what its own ``read`` part is."""
    width, size = part.stop - part.start, read.shape[1]
    strength = (3 * MATCH * width**0.5 / len(rows)) ** 0.5
    query, key = torch.zeros(width, size), torch.zeros(width, size)
    query[rows] = strength * read
    key[rows] = strength * written
    block.matrices["q"][part] = query
    block.matrices["k"][part] = key


def _carry(block: Block, part: slice, read: Tensor, written: Tensor) -> None:
    """A head writes into one part of the hidden state what it reads in another."""
    block.matrices["v"][part] = read * WRITTEN**0.5
    block.matrices["o"][:, part] = written.T * WRITTEN**0.5
