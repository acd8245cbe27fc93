"""Which token now: the choice of one token behind the settled ones, in a value or among texts.

It is the likeliest permitted token (*greedy*), but where this says little of what the model wants. Then it is weighed
together with what may follow it; where the engine cannot drop tokens, nothing is weighed.

**It leaves determined bytes pending.** A model that likes ``=`` may want ``=None``, which is not permitted. Were ``=``
settled, the likeliest token with a quote might be ``',``, and a comma that nobody wants begins the value. So a token
that is not the tokenizer's own (*canonical*) one must outweigh it (``beats_canonical_token``)::

    settled [f(e    pending ='      then T or d
        =     0.6    behind it:   T  0.9,  '  0.00001,  'd  0.0001        0.6 · 0.00011 = 0.00007
        ='    0.3    behind it:   T  0.7,  d  0.1                         0.3 · 0.8     = 0.24    is taken

The short token wins where a permitted text is really cut that way: ``=`` and ``'s``, if the vocabulary has it.

**Longer tokens begin with it**, and the model would not go on behind it as it may. The text is chosen that is likeliest
by all these tokens together, byte by byte, and the token that begins it (``prefer_longer_token``)::

    settled [f(a    pending =[      then ' and text, or ]
        =[    0.5    behind it:   x  0.4,  ',  0.15,  ]  0.3              '  0.2 + 0.5 · 0.15 = 0.275
        =['   0.2                                                         ]        0.5 · 0.3  = 0.15
    behind the quote, =[' ends with 0.2, and a comma has 0.075: the text is ' and the token =['

In a value only a token that writes just the pending text is compared with longer ones; in a choice any may be.
"""

import bisect
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np

from tooldecoding.engines.logits import NextTokenLogits, Tokens, token_set
from tooldecoding.errors import TokenizerError
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.pending import Pending
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.trie import TrieNode

_WEIGHED: Final = 32
"""So many of the likeliest tokens are weighed at a place of a choice."""
_CHECKED: Final = 64
"""So many of the likeliest tokens of a value are checked one by one for their share; of the others their first byte."""
_BLIND: Final = 8
"""After this many refused tokens, the search drops all tokens whose first byte is impossible."""
_ASKED: Final = 16
"""So often a server is asked for the likeliest of the tokens that may be permitted; then any permitted one is taken."""
_LOWEST: Final = np.finfo(np.float32).min
"""Below it are tokens that the search has dropped."""

Likely = Sequence[tuple[int, float]]
"""Tokens with their probabilities."""


class Accept(Protocol):
    """Decides which text may come next."""

    def __call__(self, piece: bytes) -> object | None:
        """Return None if a piece, never empty, is refused. The beginnings of an accepted piece are accepted."""

    def first_bytes(self) -> frozenset[int]:
        """Return the first bytes of accepted pieces, possibly with some others."""


class _Path(NamedTuple):
    """One or two tokens: their text behind the pending one, the first of them, and their probability."""

    text: bytes
    first: int
    probability: float


@dataclass
class TokenChoice(ABC):
    """The context of one choice.

    Attributes
    ----------
    fed : FedTokens
        The settled tokens as the engine reads them.
    pending : Pending
        Determined text behind them.
    logits : NextTokenLogits
        Behind the settled tokens.
    """

    fed: FedTokens
    pending: Pending
    logits: NextTokenLogits

    @property
    def table(self) -> TokenTable:
        """The texts of the tokens."""
        return self.pending.table

    @property
    def _determined(self) -> Pending:
        """The pending text, with what is written behind it whatever is chosen."""
        return self.pending

    @abstractmethod
    def _permitted(self, logits: NextTokenLogits, written: bytes) -> float:
        """Return the probability of all permitted tokens, by the logits behind a part of the pending text or more."""

    def _is_decided(self, piece: bytes) -> bool:
        """Whether nothing is left to choose behind a piece that follows the pending text."""
        return False

    async def beats_canonical_token(self, token: int) -> bool:
        """Whether a token that leaves bytes pending is canonical, or likelier than that with what may follow each.

        Both are compared up to the same byte, the end of the determined text.
        """
        canonical = self._determined.tokens()[0]
        if token == canonical or not self.fed.engine.can_roll_back:
            return token == canonical
        paths = [(first, *self._determined.behind(first).tokens()) for first in (token, canonical)]
        weight, canonical_weight = map(self.log_weight, paths, await self.fed.behind(paths))
        return weight > canonical_weight

    def log_weight(self, path: Sequence[int], behind: Sequence[NextTokenLogits]) -> float:
        """Return the natural log-probability of a token together with what is permitted behind it: log(p[0] · s[0]).

        What is permitted behind ``path[i]`` counts in full, but the next token of the path with what follows it::

            s[n] = permitted behind path[n], the last one
            s[i] = permitted behind path[i] - p[i + 1] · (1 - s[i + 1])

        Parameters
        ----------
        path : sequence of int
            The token, and the canonical ones of the determined bytes behind it; p are their probabilities.
        behind : sequence of NextTokenLogits
            Behind each of them.
        """
        written = self.table.join(path)
        share = self._permitted(behind[-1], written)
        for token, before in zip(path[:0:-1], behind[-2::-1], strict=True):
            written = written[: -len(self.table.text(token))]
            share = max(0.0, self._permitted(before, written) - math.exp(before.logprob(token)) * (1 - share))
        return self.logits.logprob(path[0]) + (math.log(share) if share else -math.inf)

    def likeliest_start(self, token: int, further: Likely, others: Likely, ends_count: bool) -> int:
        """Return the token that begins the likeliest text, found byte by byte.

        Parameters
        ----------
        further, others : list of (int, float)
            Tokens that may follow ``token``, and tokens that may stand in its place.
        ends_count : bool
            What follows behind the end of such a text is not known. Whether the end is chosen where it outweighs each
            further byte; else a text that goes on is.
        """
        share, begun = math.exp(self.logits.logprob(token)), self.pending.piece(token)
        paths = [_Path(self.pending.piece(other), other, probability) for other, probability in others]
        paths += [_Path(begun + self.table.text(t), token, share * probability) for t, probability in further]
        text = b""
        while paths and not self._is_decided(text):
            weights: dict[bytes, float] = defaultdict(float)
            for path in paths:
                goes_on = len(path.text) > len(text)
                weights[path.text[: len(text) + 1]] += path.probability * (goes_on or ends_count)
            likeliest = max(weights, key=weights.__getitem__)
            if likeliest == text:
                break
            text = likeliest
            paths = [path for path in paths if path.text.startswith(text)]
        firsts: dict[int, float] = defaultdict(float)
        for path in paths:
            firsts[path.first] += path.probability
        return max(firsts, key=firsts.__getitem__, default=token)


@dataclass
class TrieChoice(TokenChoice):
    """Among the texts of a trie, at a node that leaves a choice.

    A token may go beyond the end of a text, and then speaks for it. Models that would never write ``)`` alone end so::

        settled [f(a=1    texts  )   , hour=   , unit=        )  0.01   )]  0.5   ,  0.3        )] chooses the text )

    ``as_written`` is explained at ``Branch.choose``.
    """

    node: TrieNode
    as_written: bool

    @property
    def _determined(self) -> Pending:
        return self.pending.plus(self.node.shared)

    def _permitted(self, logits: NextTokenLogits, written: bytes) -> float:
        node, rest = self.node.narrowed(written[len(self.pending.text) :]), self.pending.text[len(written) :]
        return logits.share(node.tokens(rest)) if rest or node.rest else 1.0

    def _is_decided(self, piece: bytes) -> bool:
        return self.node.narrowed(piece).is_decided

    async def token(self) -> tuple[int, float]:
        """Return the chosen token, and its log-probability among those on offer."""
        offered = self.node.tokens(self.pending.text)
        token, logprob = self.logits.best_among(offered)
        while len(self.table.text(token)) < len(self.pending.text):
            if await self.beats_canonical_token(token):
                return token, logprob
            offered = offered[offered != token]
            token, logprob = self.logits.best_among(offered)
        chosen = await self.prefer_longer_token(token, offered)
        if chosen is not None:
            return chosen, self.logits.logprob(chosen) - math.log(self.logits.share(offered))
        return token, logprob

    async def prefer_longer_token(self, token: int, offered: Tokens) -> int | None:
        """Return the token of the likeliest outcome; None if there is nothing to weigh.

        No key is likely behind ``F``, and none behind ``B`` but in one token::

            settled [f(  texts  Fi=  Fo=  Buy=  Bus=      F  0.3   B  0.2   Buy  0.02
                behind F:  x  0.9,  i  0.001              F… 0.3 · 0.001   against   B… 0.2 + 0.02
                                                          B ends, and Buy goes on: Buy is taken
        """
        written, piece = self.table.text(token), self.pending.piece(token)
        weighed = self.fed.engine.can_roll_back and not self._is_decided(piece) and not (self.as_written and piece)
        low, high = self.table.stretch(written)
        if not weighed or len(np.intersect1d(offered, self.table.sorted_ids[low:high])) < 2:
            return None
        [[behind]] = await self.fed.behind([(token,)])
        permitted = self.node.narrowed(piece).tokens(b"")
        if behind.best in permitted:
            return token  # this is what the model writes freely
        others = [(other, share) for other, share in self.logits.likeliest_among(offered, _WEIGHED) if other != token]
        return self.likeliest_start(token, behind.likeliest_among(permitted, _WEIGHED), others, self.as_written)


@dataclass
class ValueChoice(TokenChoice):
    """In a value: the text behind the pending text must be accepted."""

    accept: Accept

    def _permitted(self, logits: NextTokenLogits, written: bytes) -> float:
        """Of the tokens that are not among the likeliest, those whose first byte behind the text is possible count."""
        rest = self.pending.text[len(written) :]
        tokens = np.concatenate([np.array(self.table.beginnings(rest), np.int64), self._possible_beyond(rest)])
        values, size = logits.values[tokens], len(rest)
        highest = np.argpartition(values, -_CHECKED)[-_CHECKED:] if len(tokens) > _CHECKED else range(len(tokens))
        pieces = ((n, self.table.text(int(tokens[n]))[size:]) for n in highest)
        return logits.share(np.delete(tokens, [n for n, piece in pieces if piece and self.accept(piece) is None]))

    async def token(self) -> int:
        """Return the chosen token; TokenizerError if the vocabulary has none that is permitted."""
        text, token = self.pending.text, self.greedy()
        for _ in range(_ASKED):
            if token is None or self.logits.knows(token):
                break
            self.logits = await self.fed.ask(self._not_known())
            token = self.greedy()
        is_shorter = token is not None and len(self.table.text(token)) < len(text)
        if token is not None and is_shorter and not await self.beats_canonical_token(token):
            token = self.greedy(only=self.pending.tokens()[0])
        if token is None:
            known = f"{self.pending.context!r} + {text!r}"
            raise TokenizerError("no token of the model can go on with the call", f": {self.table.name}, {known}")
        if self.table.text(token) == text and self.fed.engine.can_roll_back and self.table.goes_beyond(text):
            return await self.prefer_longer_token(token)
        return token

    def _not_known(self) -> Tokens:
        """Return the tokens that may be permitted and of which no logit is known."""
        text = self.pending.text
        tokens = np.concatenate([np.array(self.table.beginnings(text), np.int64), self._possible_beyond(text)])
        return token_set(token for token in tokens.tolist() if not self.logits.knows(token))

    def greedy(self, only: int | None = None) -> int | None:
        """Return the likeliest token, if any, that writes a part of the pending text, or all and an accepted piece.

        ``only``: the only token that may leave bytes unwritten; by default each may.
        """
        best, text = self.logits.best, self.pending.text
        written = self.table.texts[best]
        if written and written.startswith(text) and (written == text or self.accept(written[len(text) :]) is not None):
            return best
        if written and text.startswith(written) and only in (None, best):
            return best
        beginnings = self.table.beginnings(text)
        if only is not None:
            beginnings = [t for t in beginnings if t == only or len(self.table.text(t)) == len(text)]
        beyond = self._likeliest_beyond()
        found = beginnings if beyond is None else [*beginnings, beyond]
        return max(found, key=self.logits.values.__getitem__, default=None)

    def _likeliest_beyond(self) -> int | None:
        """Return the likeliest token that writes all of the pending text and an accepted piece, without checking each.

        Tokens are sorted by their bytes, so those with the same beginning are neighbours. One refusal drops all that
        share the shortest refused beginning: where a number is written, ``"ab`` takes all tokens with a quote along.
        """
        text = self.pending.text
        first, last = self.table.stretch(text)
        first = bisect.bisect_right(self.table.sorted_texts, text, first, last)  # not the pending text itself
        ids, refused = self.table.sorted_ids[first:last], 0
        values = np.maximum(self.logits.values[ids], _LOWEST)
        while len(ids) and values[place := int(values.argmax())] >= _LOWEST:
            piece = self.table.sorted_texts[first + place][len(text) :]
            if self.accept(piece) is not None:
                return int(ids[place])
            refused += 1
            shorter = range(1, len(piece))
            size = 1 + bisect.bisect_left(shorter, True, key=lambda size: self.accept(piece[:size]) is None)
            low, high = self.table.stretch(text + piece[:size])
            values[low - first : high - first] = -np.inf
            if refused == _BLIND:
                left, values = values, np.full_like(values, -np.inf)
                for low, high in self._possible_stretches(text):
                    values[low - first : high - first] = left[low - first : high - first]
        return None

    async def prefer_longer_token(self, token: int) -> int:
        """Return a token that writes just the pending text, or a longer one that begins the likeliest text.

        They are compared where the model would not go on as it may, or in bytes with which the longer one begins.
        """
        text = self.pending.text
        [[behind]] = await self.fed.behind([(token,)])
        best = self.table.texts[behind.best]
        if best and self.accept(best) is not None and not self.pending.piece(self.table.beginnings(text + best)[-1]):
            return token
        further, longer = self._accepted_beyond(behind, b""), self._accepted_beyond(self.logits, text)
        return self.likeliest_start(token, further, longer, ends_count=True)

    def _accepted_beyond(self, logits: NextTokenLogits, text: bytes) -> Likely:
        """Return likely tokens that write all of a pending text and an accepted piece."""
        found, size = logits.likeliest_among(self._possible_beyond(text), _CHECKED), len(text)
        return [(token, share) for token, share in found if self.accept(self.table.text(token)[size:]) is not None]

    def _possible_beyond(self, text: bytes) -> Tokens:
        """Return the tokens that write all of a pending text and a first byte that may follow."""
        ids = self.table.sorted_ids
        return np.concatenate([np.empty(0, np.int64), *(ids[low:high] for low, high in self._possible_stretches(text))])

    def _possible_stretches(self, text: bytes) -> list[tuple[int, int]]:
        """Return the ranges of these tokens in the table's sorted texts."""
        return [self.table.stretch(text + bytes([byte])) for byte in sorted(self.accept.first_bytes())]
