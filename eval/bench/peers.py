"""Other libraries as constraints of ``generate``: greedy decoding under their token masks.

They are optional (``pip install 'tooldecoding[bench]'``). Each gets the grammar that the methods of ``eval`` have, with
keys in documentation order, since none of them knows orders.
"""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

import numpy as np
import torch
from transformers import LogitsProcessor

from eval.bench.methods import Constraint
from eval.bench.workload import Workload
from eval.errors import FAILURES, EvalError, failure
from eval.methods.call_grammar import Grammar, call_grammar
from eval.methods.peers import Matcher, Peer, end_tokens, load_peer, unpacked
from tooldecoding.cli.extras import how_to_install
from tooldecoding.formats.pythonic import API_BANK
from tooldecoding.tokens.token_table import TokenTable


def constraint_of(name: str, table: TokenTable, workload: Workload) -> Constraint | str:
    """Prepare a library for the workload's tool, or return why it cannot be measured."""
    try:
        about = f"version {version(name)}"
        start = perf_counter()
        peer = load_peer(name, table)
        prepared = perf_counter()
        grammar = call_grammar(API_BANK.start(0), [workload.tool], API_BANK, 1, table.special)
        peer(grammar)
        seconds = {"tokenizer": prepared - start, "tools": perf_counter() - prepared}
        calls = [admitted_path(name, peer(grammar), task.call_ids, table) for task in workload.tasks]
    except PackageNotFoundError:
        return f"not installed; {how_to_install('bench')}"
    except (*FAILURES, EvalError) as error:
        return failure(error)
    if more := sum(map(len, calls)) - sum(len(task.call_ids) for task in workload.tasks):
        about += f"; it refused tokens that begin the wanted text, which was written in {more} tokens more"
    return Constraint(lambda: _Masks(peer, grammar, table), seconds, calls, about)


class _Masks(LogitsProcessor):
    """Lets each row write what its matcher allows; anything behind the end of the call."""

    def __init__(self, peer: Peer, grammar: Grammar, table: TokenTable) -> None:
        self._peer = peer
        self._grammar = grammar
        self._vocabulary = len(table.texts)
        self._ends = end_tokens(table)
        self._matchers: dict[int, Matcher] = {}
        self._begun = False

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the logits with those of other tokens at minus infinity."""
        if not self._begun:
            self._begun = True
            self._matchers = {row: self._peer(self._grammar) for row in range(len(input_ids))}
        else:
            for row, matcher in self._matchers.items():
                matcher.take(int(input_ids[row, -1]))
        for row, matcher in list(self._matchers.items()):
            allowed = unpacked(matcher.allowed(), self._vocabulary)
            if np.delete(allowed, self._ends).any():
                scores[row].masked_fill_(~torch.from_numpy(allowed).to(scores.device), -torch.inf)
            else:
                del self._matchers[row]
        return scores


def admitted_path(name: str, matcher: Matcher, call: Sequence[int], table: TokenTable) -> list[int]:
    """Return the tokens with which a library lets a call be written.

    These are the tokenizer's own tokens. If the library refuses one of them, the longest token that it admits is used.

    Raises
    ------
    EvalError
        If it admits no fitting token.
    """
    path, text, written, wanted = list[int](), table.join(call), b"", list(call)
    while written != text:
        allowed = unpacked(matcher.allowed(), len(table.texts))
        token, rest = wanted.pop(0), text[len(written) :]
        if not allowed[token]:
            fitting = [t for t in allowed.nonzero()[0].tolist() if table.texts[t] and rest.startswith(table.text(t))]
            if not fitting:
                raise EvalError(f"{name} does not admit the wanted call: nothing can follow {written.decode()!r}")
            token = max(fitting, key=lambda t: len(table.text(t)))
            wanted = list(table.encode_after(written + table.text(token), rest[len(table.text(token)) :]))
        matcher.take(token)
        path.append(token)
        written += table.text(token)
    return path
