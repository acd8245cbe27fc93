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

from tooldecoding.engines.logits import NextTokenLogits, token_set
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.token_table import TokenTable

_NEGLIGIBLE: Final = math.log(20)
"""What is this much less likely than the likeliest text is not read to its end."""

AT_ONCE: Final = 4
"""So many texts are read beside each other at most: each takes a branch of the engine."""

_EXACT: Final = 8
"""Behind so many passes, a text counts as less likely for each token that was not read: by a nat, then two, …"""

Behind = dict[tuple[int, ...], NextTokenLogits]
"""The logits behind some tokens."""


class _Known(NamedTuple):
    """How likely a text is, as far as it was read.

    Attributes
    ----------
    tokens : tuple of int
        All tokens if the whole text was read; else those up to the first one behind which nothing was.
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
    rather too low than too high. Where very many texts are about as likely, both are estimates (``_EXACT``).

    Parameters
    ----------
    fed : FedTokens
        Of an engine that can drop tokens. The text that seems the likeliest at first stays tried.
    paths : sequence of tuple of int
        The tokens of each text behind the settled ones. None is the beginning of another.
    choices : sequence of int
        What each text stands for.
    """
    first = await fed.compute(candidates=[token_set(path[0] for path in paths)], exact=True)
    behind: Behind = {(): first}
    known = [_Known((), 0.0, False)] * len(paths)
    for passes in itertools.count():
        known = [_further(found, path, behind, table) for found, path in zip(known, paths, strict=True)]
        doubt = max(0, passes - _EXACT)
        guesses = [found.logprob - doubt * (len(p) - len(found.tokens)) for found, p in zip(known, paths, strict=True)]
        unread = _unread(known, guesses, paths, fed.engine.worth_a_pass)
        ahead = [paths[n][:-1] for n in unread]
        if not ahead:
            break
        # the last token counts with all that begin as it does
        next_tokens = [[*(token_set([token]) for token in paths[n][1:-1]), None][: len(paths[n]) - 1] for n in unread]
        for path, logits in zip(ahead, await fed.behind(ahead, True, next_tokens), strict=True):
            behind |= {path[: n + 1]: logits[n] for n in range(len(path))}
    highest = max(guesses)
    if not highest > -math.inf:  # nor if it is no number
        return 0, 0.0
    weights = {found.tokens: math.exp(guess - highest) for found, guess in zip(known, guesses, strict=True)}
    tokens_of: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for choice, found in zip(choices, known, strict=True):
        tokens_of[choice].add(found.tokens)
    weight_of = {choice: sum(map(weights.__getitem__, tokens)) for choice, tokens in tokens_of.items()}
    chosen = max(weight_of, key=weight_of.__getitem__)
    texts = [n for n, choice in enumerate(choices) if choice == chosen]
    return max(texts, key=lambda n: known[n].logprob), weight_of[chosen] / sum(weights.values())


def _further(found: _Known, path: tuple[int, ...], behind: Behind, table: TokenTable) -> _Known:
    """Return all that is known of a text. A token that goes beyond its end speaks for it: ``('`` for ``(``."""
    tokens, logprob, is_whole = found
    while not is_whole and (logits := behind.get(tokens)):
        token = path[len(tokens)]
        tokens = path[: len(tokens) + 1]
        is_whole = tokens == path
        low, high = table.stretch(table.text(token))
        logprob += logits.log_share(table.sorted_ids[low:high]) if is_whole else logits.logprob(token)
    return _Known(tokens, logprob, is_whole)


def _unread(known: Sequence[_Known], guesses: Sequence[float], paths: Sequence[Sequence[int]], most: int) -> list[int]:
    """Return the texts to read in the next pass: those that may be the likeliest, in about ``most`` positions."""
    least = max(guesses) - _NEGLIGIBLE
    open_ = sorted(
        (n for n, guess in enumerate(guesses) if guess > least and not known[n].is_whole), key=lambda n: -guesses[n]
    )
    ends = itertools.accumulate(len(paths[n]) for n in open_)
    return [n for n, end in zip(open_, ends, strict=True) if n == open_[0] or end <= most][:AT_ONCE]
