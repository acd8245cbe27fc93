"""One growing token sequence: text is injected, and the model chooses tokens.

``pending`` explains the boundary between the two, ``fed_tokens`` what the engine has read, and
``tooldecoding.decoding.decode_loop`` how the coroutines here get their logits.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from tooldecoding.engines.engine import Engine
from tooldecoding.engines.logits import NextTokenLogits, Tokens, token_set
from tooldecoding.errors import TokenizerError
from tooldecoding.tokens.fed_tokens import FedTokens
from tooldecoding.tokens.pending import CONTEXT_BYTES, Pending
from tooldecoding.tokens.text_choice import likeliest_text
from tooldecoding.tokens.token_choice import Accept, TrieChoice, ValueChoice
from tooldecoding.tokens.token_table import TokenTable, is_characters, shared_length
from tooldecoding.tokens.trie import Trie

Draft = Callable[[], str]
"""Returns the text that is expected behind the pending text; empty if there is no guess."""

Choose = Callable[[NextTokenLogits, Sequence[int]], int]
"""Chooses the next token behind the tokens of the branch that follow the prompt."""

Label = Literal["forced", "constrained", "free"]
_CONTEXT_TOKENS = 64
"""Tokens of the prompt's end that serve as context when the text behind it is tokenised."""


Tally = Counter[Label]
"""How many tokens of a prompt's calls were forced, chosen under constraint, or written freely."""


class Pick(NamedTuple):
    """The token that the model chose: its id, the text it adds behind the pending text, and the logits it came from."""

    token: int
    piece: bytes
    logits: NextTokenLogits


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
        settled, pending = _settled(prompt_ids, table)
        unfed = settled[engine.reuse(branch_id, settled) :]
        return cls(FedTokens(engine, branch_id, unfed), tally, context, len(settled), pending)

    def unread(self) -> "Branch":
        """Return a branch behind the same prompt, of which nothing is computed; this one has written nothing yet."""
        return replace(self, ids=[], labels=[], fed=self.fed.fork())

    def at(self, prompt_ids: Sequence[int], other_ids: Sequence[int]) -> "Branch":
        """Return a branch behind another prompt; this one is ``unread`` and goes."""
        settled, pending = _settled(other_ids, self.table)
        fed = self.fed.rewound(_settled(prompt_ids, self.table)[0], settled)
        self.release()
        return Branch(fed, self.tally, self.context, len(settled), pending)

    async def forks(self, count: int, beginning: Beginning | None = None) -> list["Branch"]:
        """Return this branch and ``count - 1`` copies.

        Tokens that are not computed yet are computed once before the fork if that saves positions worth a pass, as
        for a long prompt. Otherwise each branch computes them itself.

        ``beginning``: what this branch will write. It is tried in the pass before the fork, which then costs this
        branch nothing.
        """
        self._settle(*self.pending.sure())
        loses_none = count > 1 and beginning is not None and self.fed.engine.can_roll_back
        if loses_none or (count - 1) * len(self.fed.unfed) > self.fed.engine.worth_a_pass:
            await self.fed.compute(() if beginning is None else self._tried(beginning))
        copies = (
            replace(self, ids=list(self.ids), labels=list(self.labels), fed=self.fed.fork(), decided="forced")
            for _ in range(count - 1)  # choices count once
        )
        return [self, *copies]

    def behind_another(
        self, prompt_ids: Sequence[int], other_ids: Sequence[int], blank: FedTokens | None = None
    ) -> "Branch":
        """Return a branch that has written the same behind another prompt, which ends with the same token.

        ``blank``: what has not been fed yet, if the engine cannot drop tokens.
        """
        settled = self.length - len(self.ids)  # the last token of a prompt may be pending, and is so again
        instead = [*other_ids[: len(other_ids) - len(prompt_ids) + settled], *self.ids]
        source, read = (self.fed, [*prompt_ids[:settled], *self.ids]) if blank is None else (blank, blank.unfed)
        fed = source.rewound(read, instead)
        behind = replace(self, ids=list(self.ids), labels=list(self.labels), fed=fed, length=len(instead))
        self.decided = "forced"  # choices count once
        return behind

    @property
    def table(self) -> TokenTable:
        """The tokens and their texts."""
        return self.pending.table

    @property
    def can_escort(self) -> bool:
        """Whether copies of this branch that only write drafts for it are likely to save more than they cost."""
        engine = self.fed.engine
        return self.draft_tokens > 0 and engine.can_roll_back and engine.has_spare_positions

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
        return (*self.ids, *self.pending.tokens())

    @property
    def all_labels(self) -> tuple[Label, ...]:
        """The label of each of ``all_ids``."""
        rest: list[Label] = ["forced"] * (len(self.pending.tokens()) - 1)
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
        self._settle(*self.pending.tokens())

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

        TokenizerError if the vocabulary has no such token.
        """
        self._settle(*self.pending.sure())
        while True:
            logits = await self._logits()
            token = await ValueChoice(self.fed, self.pending, logits, accept).token()
            piece = self.pending.piece(token)
            if piece:
                return Pick(token, piece, logits)
            if token != self.pending.tokens()[0]:
                self._decide("constrained")
            self._settle(token)

    async def compute(self, expected: str = "") -> NextTokenLogits:
        """Return the logits behind the settled tokens; the pending ones are tried, with a text that is likely next."""
        self._settle(*self.pending.sure())
        return await self.fed.compute(self.pending.tokens(expected.encode()))

    async def free_token(self, choose: Choose | None = None, only: Tokens | None = None) -> Pick:
        """Return the next token without any constraint; a special token without a character has an empty piece.

        ``choose``: by default the likeliest token is taken. ``only``: the tokens that may come; by default all.
        """
        self.settle()
        logits = await self._logits()
        if only is not None:
            told = logits if logits.tells(only) else await self.fed.ask(only)
            logits = told.only(only)
        token = choose(logits, self.ids) if choose else logits.best
        return Pick(token, self.table.texts[token] or b"", logits)

    async def choose(self, trie: Trie, as_written: bool = False) -> tuple[int, list[float]]:
        """Let the model choose one of the texts of a trie, and write it.

        ``as_written``: whether each token is the likeliest one, as the model writes freely, but for one that ends with
        the pending text; else the likeliest outcome is chosen wherever one token on offer begins with another.

        Returns the number of the text, and the log-probability of each deciding token among those on offer.
        """
        node = trie.node()
        logprobs: list[float] = []
        while not node.is_decided:
            for token in self.pending.sure(node.shared):
                node = node.narrowed(self.pending.piece(token))
                self._settle(token)
            own = self.pending.tokens(node.shared)
            logits = await self.fed.compute(own, node.tokens_along(self.pending.text, own))
            token, logprob = await TrieChoice(self.fed, self.pending, logits, node, as_written).token()
            narrowed = node.narrowed(self.pending.piece(token))
            if narrowed.left < node.left:
                logprobs.append(logprob)
            if narrowed.left < node.left or (token,) != own[:1]:
                self._decide("constrained")
            if narrowed.is_decided:
                node = narrowed._replace(written=node.written)
            else:
                self._settle(token)
                node = narrowed
        self.write(node.rest)
        return node.number, logprobs

    async def choose_text(self, trie: Trie, sizes: Sequence[int]) -> tuple[int, float]:
        """Let the model choose one of the texts of a trie by the probability of the whole text, and write it.

        Where the engine cannot drop tokens, it is chosen token by token, as ``choose`` does.

        Returns the number of the text, and the probability of what it stands for among all that is on offer.

        Parameters
        ----------
        sizes : sequence of int
            So many bytes of each text, by its number, are weighed; they are no beginning of another text.
        """
        node = trie.node()
        paths: dict[int, tuple[int, ...]] = {}
        for place, number in enumerate(trie.numbers):
            with suppress(TokenizerError):  # what this tokenizer cannot write is not chosen
                paths[place] = self.pending.tokens(trie.texts[place][: sizes[number]])
        if node.is_decided or not self.fed.engine.can_roll_back or len(paths) < 2:
            number, logprobs = await self.choose(trie)
            return number, math.exp(min(0.0, sum(logprobs)))
        shared = shared_length(min(paths.values()), max(paths.values()))
        for token in next(iter(paths.values()))[:shared]:
            node = node.narrowed(self.pending.piece(token))
            self._settle(token)
        behind = [path[shared:] for path in paths.values()]
        chosen, probability = await likeliest_text(self.fed, self.table, behind, [trie.choices[p] for p in paths])
        place = list(paths)[chosen]
        self._decide("constrained")
        self.write(trie.texts[place][node.written :])
        return trie.numbers[place], probability

    async def logprobs(self, texts: Sequence[str]) -> list[float]:
        """Return the natural log-probability of each text behind the pending one, in the tokenizer's own tokens.

        Nothing is written. The engine must be able to drop tokens.
        """
        paths = [self.pending.tokens(text.encode()) for text in texts]
        first = await self.fed.compute(candidates=[token_set(path[0] for path in paths)], exact=True)
        next_tokens = [[token_set([token]) for token in path[1:]] for path in paths]
        behind = await self.fed.behind([path[:-1] for path in paths], candidates=next_tokens)
        pairs = zip(paths, behind, strict=True)
        return [sum(map(NextTokenLogits.logprob, (first, *known), path)) for path, known in pairs]

    def _decide(self, label: Label) -> None:
        """Note that the model decides here; the first decision at a place gives the label."""
        if self.decided == "forced":
            self.decided = label

    async def _logits(self) -> NextTokenLogits:
        """Return the logits behind the settled tokens; if that takes a pass, pending text and draft are tried in it."""
        if self.fed.logits is not None:
            return await self.fed.compute()
        draft = self.draft() if self.draft is not None and self.draft_tokens else ""
        return await self.fed.compute(self._drafted(self.pending, draft, self.room))

    def _tried(self, beginning: Beginning) -> tuple[int, ...]:
        """Return the tokens that this branch would feed once it has written a beginning."""
        pending = self.pending.plus(beginning.text)
        sure = pending.sure()
        for token in sure:
            pending = pending.behind(token)
        room = None if self.room is None else self.room - len(sure)
        return (*sure, *self._drafted(pending, beginning.draft, room))

    def _drafted(self, pending: Pending, draft: str, room: int | None) -> tuple[int, ...]:
        """Return the tokenizer's own tokens of pending text, with those of a draft behind it."""
        own = pending.tokens()
        try:
            tokens = pending.tokens(draft.encode())
        except TokenizerError:  # the prompt may hold characters that the tokenizer cannot write
            return own
        most = len(own) + self.draft_tokens
        if room is not None:
            most = max(len(own), min(most, room))
        return tokens[:most] if tokens[: len(own)] == own else own

    def _settle(self, *tokens: int) -> None:
        for token in tokens:
            self.ids.append(token)
            self.labels.append(self.decided)
            self.length += 1
            self.pending = self.pending.behind(token)
            self.fed.settle(token)
            self.tally[self.decided] += 1
            self.decided = "forced"


def _settled(prompt_ids: Sequence[int], table: TokenTable) -> tuple[list[int], Pending]:
    """Return the settled tokens of a prompt, and its last token as pending text unless that stands for no text."""
    settled, last = list(prompt_ids[:-1]), table.join(prompt_ids[-1:])
    if not settled or not last or not is_characters(last) or table.is_special(prompt_ids[-1]):
        settled, last = list(prompt_ids), b""
    return settled, Pending(table, table.join(settled[-_CONTEXT_TOKENS:])[-CONTEXT_BYTES:], last)
