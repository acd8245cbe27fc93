"""One growing token sequence: injected text, and tokens that the model chooses (see ``pending`` for their boundary).

What is determined, and what a draft expects behind it, is *tried*: fed together with the settled tokens, so that
scores come back behind each tried token, too. Those that the model does not take are dropped.
"""

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.engines.steps import Steps
from tooldecoding.errors import TokenizerError
from tooldecoding.tokens.likeliest import Accept, likeliest
from tooldecoding.tokens.pending import Pending
from tooldecoding.tokens.token_table import TokenTable, is_characters
from tooldecoding.tokens.trie import Trie, TrieNode

Draft = Callable[[], str]
"""The text that is expected behind what is written, empty if none is."""

Label = Literal["forced", "constrained", "free"]
WORTH_A_PASS = 32
"""Token positions that are rather saved than a forward pass."""
_CONTEXT_TOKENS = 64
"""Of the prompt, by which the text behind it is tokenised."""


Tally = Counter[Label]
"""How the tokens of a prompt's calls came about."""


class Pick(NamedTuple):
    """A token that the model wants: its id, the text it adds behind the pending text, and the scores it is of."""

    token: int
    piece: bytes
    scores: NextTokenLogits

    @property
    def logprob(self) -> float:
        """Its natural log-probability in the whole vocabulary."""
        return self.scores.logprob(self.token)


class Branch:
    """A sequence in the making.

    Parameters
    ----------
    context : int, optional
        Tokens beyond it are not tried: the model has no positions for them.

    Attributes
    ----------
    ids : list of int
        Tokens since the prompt that are settled.
    pending : Pending
        Text behind them that is determined.
    draft : Draft or None
        Says what is to be tried; the tokens that are chosen do not depend on it.
    draft_tokens : int
        Most tokens that are tried behind the pending text.
    """

    def __init__(
        self,
        engine: Engine,
        table: TokenTable,
        handle: int,
        prompt_ids: Sequence[int],
        tally: Tally,
        context: int | None = None,
    ) -> None:
        self._engine = engine
        self._most = context
        self._table = table
        self._tally = tally
        self.handle = handle
        settled, last = list(prompt_ids[:-1]), table.join(prompt_ids[-1:])
        if not settled or not last or not is_characters(last):
            settled, last = list(prompt_ids), b""
        self.ids: list[int] = []
        self.length = len(settled)
        self.pending = Pending(b"").behind(table.join(settled[-_CONTEXT_TOKENS:])).plus(last)
        self.draft: Draft | None = None
        self.draft_tokens = 0
        self._asked: Label = "forced"
        """What was decided at the place where the pending text begins."""
        self._unfed = settled[engine.reuse(handle, settled) :]
        self._scores: NextTokenLogits | None = None
        self._ahead: list[tuple[int, NextTokenLogits]] = []
        """Tried tokens behind the settled ones, which all are fed then, and the scores behind each."""

    def forks(self, count: int, ways: int | None = None) -> Steps[list["Branch"]]:
        """This branch and ``count - 1`` more that go on from here, in the end ``ways`` (by default ``count``).

        A long stretch that is not computed yet, such as the prompt, is computed once before they part; a
        short one costs less in each of them than a forward pass of its own.
        """
        self._settle_sure()
        if ((ways or count) - 1) * len(self._unfed) > WORTH_A_PASS:
            yield from self._compute()
        return [self, *(self._fork() for _ in range(count - 1))]

    def _fork(self) -> "Branch":
        child = copy.copy(self)
        child.ids, child._unfed, child._ahead = list(self.ids), list(self._unfed), list(self._ahead)
        child.handle = self._engine.fork(self.handle)
        child._asked = "forced"  # what is shared counts once
        return child

    @property
    def all_ids(self) -> tuple[int, ...]:
        """Tokens since the prompt, those of the pending text as the tokenizer writes it among them."""
        return (*self.ids, *self.pending.tokens(self._table))

    def release(self) -> None:
        """Declare that this branch goes on no more."""
        self._engine.release(self.handle)

    def end(self) -> None:
        """Settle what is pending, and release the branch."""
        self.settle()
        self.release()

    def write(self, text: str | bytes) -> None:
        """Inject text: it is determined from now on."""
        self.pending = self.pending.plus(text.encode() if isinstance(text, str) else text)

    def settle(self) -> None:
        """Settle the pending text as it stands, in the tokenizer's own tokens."""
        for token in self.pending.tokens(self._table):
            self._take(token)

    def take(self, pick: Pick, label: Label) -> None:
        """Settle a token that the model has picked."""
        self._ask(label)
        self._take(pick.token)

    def keep(self, piece: bytes, label: Label) -> None:
        """Determine a part of what a pick adds; which token writes it is open still."""
        self._ask(label)
        self.write(piece)

    def next_token(self, accept: Accept) -> Steps[Pick]:
        """The likeliest token whose text behind the pending text is accepted.

        The tokens in which the model writes the pending text are settled; ``take`` or ``keep`` what goes beyond.

        Raises
        ------
        TokenizerError
            If the vocabulary has no such token.
        """
        self._settle_sure()
        while True:
            own = self.pending.tokens(self._table)
            scores = yield from self._compute(self._expected(own) if self._scores is None else ())
            token = likeliest(scores, accept, self._table, self.pending.text)
            if token is None:
                known = f"{self.pending.context!r} + {self.pending.text!r}"
                raise TokenizerError(f"no token of {self._table.name} can follow {known}")
            piece = self._piece(token)
            if piece:
                return Pick(token, piece, scores)
            if token != own[0]:
                self._ask("constrained")
            self._take(token)

    def free_token(self) -> Steps[Pick]:
        """The model's likeliest token, whatever it is: special tokens too, with an empty piece."""
        self.settle()
        scores = yield from self._compute(self._expected(()) if self._scores is None else ())
        return Pick(scores.best, self._table.texts[scores.best] or b"", scores)

    def choose(self, choices: Trie) -> Steps[tuple[int, list[float]]]:
        """Let the model choose among texts, one of which is determined then.

        Returns its number, and the log-probabilities, among the tokens on offer, of those that decided.
        """
        place = choices.all
        logprobs: list[float] = []
        while place.left > 1:
            for token in self.pending.sure(self._table, choices.shared(place)):
                place = choices.narrowed(place, self._piece(token))
                self._take(token)
            own = self.pending.tokens(self._table, choices.shared(place))
            scores = yield from self._compute(own, self._on_offer(choices, place, own))
            token, logprob = scores.best_among(choices.tokens(self.pending.text, place))
            narrowed = choices.narrowed(place, self._piece(token))
            if narrowed.left < place.left:
                logprobs.append(logprob)
                self._ask("constrained")
            elif (token,) != own[:1]:
                self._ask("constrained")
            if narrowed.left == 1:
                place = narrowed._replace(written=place.written)
            else:
                self._take(token)
                place = narrowed
        self.write(choices.rest(place))
        return choices.number(place), logprobs

    def _on_offer(self, choices: Trie, place: TrieNode, tried: Sequence[int]) -> list[Tokens]:
        """The tokens that may be chosen here, and behind each of the tried ones."""
        text = self.pending.text
        offers = [choices.tokens(text, place)]
        for token in tried:
            written = self._table.join([token])
            place, text = choices.narrowed(place, written[len(text) :]), text[len(written) :]
            offers.append(choices.tokens(text, place))
        return offers

    def _piece(self, token: int) -> bytes:
        """What a token adds behind the pending text."""
        return self._table.join([token])[len(self.pending.text) :]

    def _ask(self, label: Label) -> None:
        """Note that the model decides at this place; whatever is decided here costs one forward pass."""
        if self._asked == "forced":
            self._asked = label

    def _settle_sure(self) -> None:
        for token in self.pending.sure(self._table):
            self._take(token)

    def _expected(self, own: tuple[int, ...]) -> tuple[int, ...]:
        """What is tried: the pending text's own tokens, and those of the draft behind it."""
        if self.draft is None or not self.draft_tokens or not (expected := self.draft().encode()):
            return own
        try:
            tokens = self.pending.tokens(self._table, expected)
        except TokenizerError:  # the prompt may hold what the tokenizer cannot write
            return own
        most = len(own) + self.draft_tokens
        if self._most is not None:
            most = max(len(own), min(most, self._most - self.length))
        return tokens[:most] if tokens[: len(own)] == own else own

    def _compute(self, tried: Sequence[int] = (), among: Sequence[Tokens] | None = None) -> Steps[NextTokenLogits]:
        """Scores behind the settled tokens, which are fed as far as they are not yet; what may come next is tried."""
        if self._scores is None:
            tried = tried if self._engine.can_drop else ()
            feed = Feed(self.handle, [*self._unfed, *tried], len(tried), among and among[: len(tried) + 1])
            [[self._scores, *behind]] = yield [feed]
            self._ahead = list(zip(tried, behind, strict=True))
            self._unfed = []
        return self._scores

    def _take(self, token: int) -> None:
        """Settle a token."""
        self.ids.append(token)
        self.length += 1
        self.pending = self.pending.behind(self._table.join([token]))
        if self._ahead and self._ahead[0][0] == token:
            _, self._scores = self._ahead.pop(0)
        else:
            if self._ahead:
                self._engine.drop(self.handle, len(self._ahead))
                self._ahead = []
            self._unfed.append(token)
            self._scores = None
        self._tally[self._asked] += 1
        self._asked = "forced"
