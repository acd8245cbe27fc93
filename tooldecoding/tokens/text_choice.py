"""Which of some texts, each weighed as a whole: the choice of a tool.

The likeliest token at each step may lead to a text that the model does not want, past one that it wants::

    settled [    texts  get_time(  get_news(  weather(
        get      0.5     then  _time(  0.02,  _news(  0.01      get_time(  0.01,  get_news(  0.005
        weather  0.3     then  (       0.9                      weather(   0.27  is taken

A text is read ahead in the tokenizer's own tokens. A pass reads those that may be the likeliest, as far as they are
known: a text is at most as likely as its beginning. Where the model is sure, that is one text.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.token_table import TokenTable

_NEGLIGIBLE: Final = math.log(20)
"""What is this much less likely than the likeliest text is not read to its end."""

Behind = dict[tuple[int, ...], NextTokenLogits]
"""The logits behind some tokens."""


class _Known(NamedTuple):
    """How likely a text is, as far as it was read.

    Attributes
    ----------
    tokens : tuple of int
        All tokens if the whole text is known; else those up to the first one behind which nothing is.
    logprob : float
        Their natural log-probability: no less than that of the whole text.
    is_whole : bool
    """

    tokens: tuple[int, ...]
    logprob: float
    is_whole: bool


async def likeliest_text(
    fed: FedTokens, table: TokenTable, paths: Sequence[tuple[int, ...]], choices: Sequence[int]
) -> tuple[int, float]:
    """Return the number of the likeliest text, and the probability of its choice among all choices, in [0, 1].

    Texts of one choice count together. What was not read to its end counts with its beginning: the probability is
    rather too low than too high.

    Parameters
    ----------
    fed : FedTokens
        Of an engine that can drop tokens. The text that seems the likeliest at first stays tried.
    paths : sequence of tuple of int
        The tokens of each text behind the settled ones. None is the beginning of another.
    choices : sequence of int
        What each text stands for.
    """
    behind: Behind = {(): await fed.compute()}
    while True:
        known = [_known(path, behind, table) for path in paths]
        ahead = [paths[n][:-1] for n in _unread(known, paths, fed.engine.worth_a_pass)]
        if not ahead:
            break
        for path, logits in zip(ahead, await fed.behind(ahead), strict=True):
            behind |= {path[: n + 1]: logits[n] for n in range(len(path))}
    highest = max(found.logprob for found in known)
    if highest == -math.inf:
        return 0, 0.0
    weights = {found.tokens: math.exp(found.logprob - highest) for found in known}
    tokens_of: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for choice, found in zip(choices, known, strict=True):
        tokens_of[choice].add(found.tokens)
    weight_of = {choice: sum(map(weights.__getitem__, tokens)) for choice, tokens in tokens_of.items()}
    chosen = max(weight_of, key=weight_of.__getitem__)
    texts = [n for n, choice in enumerate(choices) if choice == chosen]
    return max(texts, key=lambda n: known[n].logprob), weight_of[chosen] / sum(weights.values())


def _known(path: tuple[int, ...], behind: Behind, table: TokenTable) -> _Known:
    """Return what is known of a text. A token that goes beyond its end speaks for it: ``('`` for ``(``."""
    logprob = 0.0
    for size, token in enumerate(path[:-1]):
        if path[:size] not in behind:
            return _Known(path[:size], logprob, False)
        logprob += behind[path[:size]].logprob(token)
    if path[:-1] not in behind:
        return _Known(path[:-1], logprob, False)
    low, high = table.stretch(table.text(path[-1]))
    return _Known(path, logprob + behind[path[:-1]].log_share(table.sorted_ids[low:high]), True)


def _unread(known: Sequence[_Known], paths: Sequence[Sequence[int]], most: int) -> list[int]:
    """Return the texts to read in the next pass: those that may be the likeliest, in about ``most`` positions."""
    whole = max((found.logprob for found in known if found.is_whole), default=-math.inf)
    open_ = [n for n, found in enumerate(known) if not found.is_whole]
    likeliest = max([whole, *(known[n].logprob for n in open_)])
    open_ = sorted((n for n in open_ if known[n].logprob > likeliest - _NEGLIGIBLE), key=lambda n: -known[n].logprob)
    ends = itertools.accumulate(len(paths[n]) for n in open_)
    return [n for n, end in zip(open_, ends, strict=True) if n == open_[0] or end <= most]
