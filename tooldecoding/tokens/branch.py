"""One growing token sequence: text is injected, and the model chooses tokens.

``pending`` explains the boundary between the two, ``fed_tokens`` what the engine has read, and
``tooldecoding.scheduler`` how the coroutines here get their logits.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from tooldecoding.engines.engine import Engine
from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.errors import TokenizerError
from tooldecoding.tokens.contest import Permitted, in_choice, in_value, likeliest_outcome, likeliest_start, log_weight
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.likeliest import Accept, likeliest
from tooldecoding.tokens.pending import Pending
from tooldecoding.tokens.token_table import TokenTable, is_characters
from tooldecoding.tokens.trie import Trie, TrieNode

Draft = Callable[[], str]
"""Returns the text that is expected behind the pending text; empty if there is no guess."""

Choose = Callable[[NextTokenLogits, Sequence[int]], int]
"""Chooses the next token behind the tokens of the branch that follow the prompt."""

Label = Literal["forced", "constrained", "free"]
WORTH_A_PASS = 32
"""Saving this many token positions is worth one more forward pass."""
_CONTEXT_TOKENS = 64
"""Tokens of the prompt's end that serve as context when the text behind it is tokenised."""


Tally = Counter[Label]
"""How many tokens of a prompt's calls were forced, chosen under constraint, or written freely."""


class Pick(NamedTuple):
    """The token that the model chose: its id, the text it adds behind the pending text, and the logits it came from."""

    token: int
    piece: bytes
    logits: NextTokenLogits

    @property
    def logprob(self) -> float:
        """Natural log-probability of the token in the whole vocabulary."""
        return self.logits.logprob(self.token)


class Beginning(NamedTuple):
    """What a branch will write next: text that is injected, and what is expected behind it."""

    text: bytes
    draft: str


@dataclass
class Branch:
    """A token sequence in the making; ``Branch.behind`` starts one behind a prompt.

    Attributes
    ----------
    fed : FedTokens
        The settled tokens as the engine reads them.
    tally : Counter
        Counts settled tokens by label; shared by all branches of a prompt.
    context : int or None
        Positions of the model. No draft tokens are tried beyond it.
    length : int
        Settled tokens, including the prompt's.
    pending : Pending
        Text behind the settled tokens that is determined but not yet tokenised.
    ids : list of int
        Settled tokens behind the prompt.
    labels : list of Label
        The label of each.
    draft : Draft or None
        Gives the expected text for speculative decoding. It never changes which tokens are chosen.
    draft_tokens : int
        Limit of draft tokens behind the pending text.
    decided : {"forced", "constrained", "free"}
        Label of the token that is settled next: what was decided where the pending text begins.
    """

    table: TokenTable
    fed: FedTokens
    tally: Tally
    context: int | None
    length: int
    pending: Pending
    ids: list[int] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    draft: Draft | None = None
    draft_tokens: int = 0
    decided: Label = "forced"

    @classmethod
    def behind(
        cls,
        prompt_ids: Sequence[int],
        engine: Engine,
        branch_id: int,
        table: TokenTable,
        tally: Tally,
        context: int | None,
    ) -> "Branch":
        """Start a branch behind a prompt.

        The prompt's last token becomes pending text, so that the model can choose a longer token instead.
        """
        settled, last = list(prompt_ids[:-1]), table.join(prompt_ids[-1:])
        if not settled or not last or not is_characters(last) or table.is_special(prompt_ids[-1]):
            settled, last = list(prompt_ids), b""
        unfed = settled[engine.reuse(branch_id, settled) :]
        pending = Pending(b"").behind(table.join(settled[-_CONTEXT_TOKENS:])).plus(last)
        return cls(table, FedTokens(engine, branch_id, unfed), tally, context, len(settled), pending)

    async def forks(self, count: int, ways: int | None = None, beginning: Beginning | None = None) -> list["Branch"]:
        """Return this branch and ``count - 1`` copies; ``ways`` is how many there will be in the end.

        Tokens that are not computed yet are computed once before the fork if that saves positions worth a pass, as
        for a long prompt. Otherwise each branch computes them itself.

        Parameters
        ----------
        beginning : Beginning, optional
            What this branch will write. It is tried in the pass before the fork, which then costs this branch nothing.
        """
        self._settle_sure()
        loses_none = count > 1 and beginning is not None and self.fed.engine.can_drop
        if loses_none or ((ways or count) - 1) * len(self.fed.unfed) > WORTH_A_PASS:
            await self.fed.compute(() if beginning is None else self._tried(beginning))
        copies = (
            replace(self, ids=list(self.ids), labels=list(self.labels), fed=self.fed.fork(), decided="forced")
            for _ in range(count - 1)  # choices count once
        )
        return [self, *copies]

    @property
    def can_escort(self) -> bool:
        """Whether copies of this branch that only write drafts for it are likely to save more than they cost."""
        engine = self.fed.engine
        return self.draft_tokens > 0 and engine.can_drop and engine.has_spare_positions

    @property
    def room(self) -> int | None:
        """How many tokens fit in the context behind the settled ones; None if it has no limit."""
        return None if self.context is None else self.context - self.length

    @property
    def room_behind(self) -> int | None:
        """The room behind the pending text, of which each byte may become a token."""
        return None if self.room is None else self.room - len(self.pending.text)

    @property
    def all_ids(self) -> tuple[int, ...]:
        """Tokens behind the prompt, including the tokenizer's tokens of the pending text."""
        return (*self.ids, *self.pending.tokens(self.table))

    @property
    def all_labels(self) -> tuple[Label, ...]:
        """The label of each of ``all_ids``."""
        rest: list[Label] = ["forced"] * (len(self.pending.tokens(self.table)) - 1)
        return (*self.labels, self.decided, *rest) if self.pending.text else tuple(self.labels)

    def release(self) -> None:
        """Tell the engine that this branch does not go on."""
        self.fed.engine.release(self.fed.branch_id)

    def end(self) -> None:
        """Settle the pending text, and release the branch."""
        self.settle()
        self.release()

    def write(self, text: str | bytes) -> None:
        """Inject text."""
        self.pending = self.pending.plus(text.encode() if isinstance(text, str) else text)

    def take_back(self, text: str) -> None:
        """Remove a text from the end of the pending text."""
        if not self.pending.text.endswith(text.encode()):
            raise RuntimeError(f"{text!r} is settled and cannot be taken back")
        self.pending = self.pending._replace(text=self.pending.text.removesuffix(text.encode()))

    def settle(self) -> None:
        """Settle the pending text in the tokenizer's own tokens."""
        for token in self.pending.tokens(self.table):
            self._settle(token)

    def take(self, pick: Pick, label: Label) -> None:
        """Settle a token that the model has chosen."""
        self._decide(label)
        self._settle(pick.token)

    def keep(self, piece: bytes, label: Label) -> None:
        """Keep a part of the text that the model has chosen; it is tokenised later."""
        self._decide(label)
        self.write(piece)

    async def next_token(self, accept: Accept) -> Pick:
        """Return the likeliest token whose text behind the pending text is accepted.

        Settles the tokens in which the model writes the pending text. The caller decides what is used of the returned
        token: ``take`` all of it or ``keep`` a part.

        Raises
        ------
        TokenizerError
            If the vocabulary has no such token.
        """
        self._settle_sure()
        while True:
            own = self.pending.tokens(self.table)
            logits = await self.fed.compute(self._expected(own) if self.fed.logits is None else ())
            token = likeliest(logits, accept, self.table, self.pending.text)
            if token is None:
                known = f"{self.pending.context!r} + {self.pending.text!r}"
                raise TokenizerError("no token of the model can go on with the call", f": {self.table.name}, {known}")
            text = self.pending.text
            if token not in own[:1] and len(self.table.text(token)) < len(text):
                may = in_value(accept, self.table, text)
                if not (await self._outweighs(token, own[0], text, logits, may)):
                    token = likeliest(logits, accept, self.table, text, only=own[0])
                    assert token is not None
            if self.table.text(token) == text and self.fed.engine.can_drop:
                token = await self._or_longer(token, accept, logits)
            piece = self._piece(token)
            if piece:
                return Pick(token, piece, logits)
            if token != own[0]:
                self._decide("constrained")
            self._settle(token)

    async def compute(self, expected: str = "") -> NextTokenLogits:
        """Return the logits behind the settled tokens; the pending ones are tried, with a text that is likely next."""
        self._settle_sure()
        return await self.fed.compute(self.pending.tokens(self.table, expected.encode()))

    async def free_token(self, choose: Choose | None = None) -> Pick:
        """Return the next token without any constraint; a special token without a character has an empty piece.

        Parameters
        ----------
        choose : Choose, optional
            By default the likeliest token is taken.
        """
        self.settle()
        logits = await self.fed.compute(self._expected(()) if self.fed.logits is None else ())
        token = choose(logits, self.ids) if choose else logits.best
        return Pick(token, self.table.texts[token] or b"", logits)

    async def choose(self, trie: Trie, as_written: bool = False) -> tuple[int, list[float]]:
        """Let the model choose one of the texts of a trie, and write it.

        Parameters
        ----------
        as_written : bool
            Whether each token is the likeliest one, as the model writes freely, but for one that ends with the pending
            text; else the likeliest outcome is chosen wherever one token on offer begins with another.

        Returns the number of the text, and the log-probability of each deciding token among those on offer.
        """
        place = trie.all
        logprobs: list[float] = []
        while not trie.is_decided(place):
            for token in self.pending.sure(self.table, trie.shared(place)):
                place = trie.narrowed(place, self._piece(token))
                self._settle(token)
            own = self.pending.tokens(self.table, trie.shared(place))
            logits = await self.fed.compute(own, self._on_offer(trie, place, own))
            token, logprob = await self._chosen(trie, place, logits, as_written)
            narrowed = trie.narrowed(place, self._piece(token))
            if narrowed.left < place.left:
                logprobs.append(logprob)
                self._decide("constrained")
            elif (token,) != own[:1]:
                self._decide("constrained")
            if trie.is_decided(narrowed):
                place = narrowed._replace(written=place.written)
            else:
                self._settle(token)
                place = narrowed
        self.write(trie.rest(place))
        return trie.number(place), logprobs

    async def _chosen(
        self, trie: Trie, place: TrieNode, logits: NextTokenLogits, as_written: bool
    ) -> tuple[int, float]:
        """Return the token by which the model chooses, and its log-probability among those on offer."""
        text = self.pending.text
        offered, may = trie.tokens(text, place), in_choice(trie, place, text)
        while True:
            token, logprob = logits.best_among(offered)
            written = self.table.text(token)
            if len(written) >= len(text):
                break
            determined = text + trie.shared(place)
            own = self.pending.tokens(self.table, determined[len(text) :])[0]
            if token == own or (await self._outweighs(token, own, determined, logits, may)):
                return token, logprob
            offered = offered[offered != token]
        node = trie.narrowed(place, self._piece(token))
        weighed = self.fed.engine.can_drop and not trie.is_decided(node) and (not as_written or written == text)
        low, high = self.table.stretch(written)
        if weighed and len(np.intersect1d(offered, self.table.sorted_ids[low:high])) > 1:  # others begin with it
            [[behind]] = await self.fed.behind([(token,)])
            token = likeliest_outcome(trie, place, text, self.table, token, offered, logits, behind, as_written)
            logprob = logits.logprob(token) - math.log(logits.share(offered))
        return token, logprob

    async def _or_longer(self, token: int, accept: Accept, logits: NextTokenLogits) -> int:
        """Return a token that writes the pending text, or a longer one that begins the likeliest text.

        They are compared where the model would not go on as it may, or in bytes with which the longer one begins.
        """
        text = self.pending.text
        if not self.table.goes_beyond(text):
            return token
        [[behind]] = await self.fed.behind([(token,)])
        best = self.table.texts[behind.best]
        if best and accept(best) is not None:
            likewise = self.table.beginnings(text + best)[-1]
            if len(self.table.text(likewise)) <= len(text):
                return token
        return likeliest_start(token, text, accept, self.table, logits, behind)

    async def _outweighs(
        self, token: int, own: int, determined: bytes, logits: NextTokenLogits, may: Permitted
    ) -> bool:
        """Whether a token is likelier than the tokenizer's own, each with what is permitted behind it.

        Where the engine cannot drop tokens, no token is.

        Parameters
        ----------
        determined : bytes
            Text behind the settled tokens that is written whatever is chosen; both are compared up to its end.
        """
        if not self.fed.engine.can_drop:
            return False
        paths = []
        for first in (token, own):
            begun = self.pending.behind(self.table.text(first))
            rest = begun._replace(text=determined[len(self.table.text(first)) :])
            paths.append((first, *rest.tokens(self.table)))
        behind = await self.fed.behind(paths)
        weights = [log_weight(logits, path, found, self.table, may) for path, found in zip(paths, behind, strict=True)]
        return weights[0] > weights[1]

    def _on_offer(self, trie: Trie, place: TrieNode, tried: Sequence[int]) -> list[Tokens]:
        """Return the tokens that the trie admits here, and behind each tried token."""
        text = self.pending.text
        offers = [trie.tokens(text, place)]
        for token in tried:
            written = self.table.text(token)
            place, text = trie.narrowed(place, written[len(text) :]), text[len(written) :]
            offers.append(trie.tokens(text, place))
        return offers

    def _piece(self, token: int) -> bytes:
        """Return what a token adds behind the pending text."""
        return self.table.text(token)[len(self.pending.text) :]

    def _decide(self, label: Label) -> None:
        """Note that the model decides here; the first decision at a place gives the label."""
        if self.decided == "forced":
            self.decided = label

    def _settle_sure(self) -> None:
        for token in self.pending.sure(self.table):
            self._settle(token)

    def _expected(self, own: tuple[int, ...]) -> tuple[int, ...]:
        """Return the tokens to try: the pending text's own tokens, and the draft's behind them."""
        if self.draft is None or not self.draft_tokens:
            return own
        return self._drafted(self.pending, own, self.draft(), self.room)

    def _tried(self, beginning: Beginning) -> tuple[int, ...]:
        """Return the tokens that this branch would feed once it has written a beginning."""
        pending = self.pending.plus(beginning.text)
        sure = pending.sure(self.table)
        for token in sure:
            pending = pending.behind(self.table.text(token))
        room = None if self.room is None else self.room - len(sure)
        return (*sure, *self._drafted(pending, pending.tokens(self.table), beginning.draft, room))

    def _drafted(self, pending: Pending, own: tuple[int, ...], draft: str, room: int | None) -> tuple[int, ...]:
        """Return ``own``, the tokens of pending text, with those of a draft behind it."""
        if not draft:
            return own
        try:
            tokens = pending.tokens(self.table, draft.encode())
        except TokenizerError:  # the prompt may hold characters that the tokenizer cannot write
            return own
        most = len(own) + self.draft_tokens
        if room is not None:
            most = max(len(own), min(most, room))
        return tokens[:most] if tokens[: len(own)] == own else own

    def _settle(self, token: int) -> None:
        self.ids.append(token)
        self.labels.append(self.decided)
        self.length += 1
        self.pending = self.pending.behind(self.table.text(token))
        self.fed.settle(token)
        self.tally[self.decided] += 1
        self.decided = "forced"
