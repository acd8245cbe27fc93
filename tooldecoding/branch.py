"""One growing token sequence: injected text, tokens that the model chooses, and the boundary between them.

Text whose last token could still merge with what follows is held back (``pending``): the next token must
begin with it. So every token is one that the tokenizer would make, and what is determined costs no pass of
its own: it is fed together with the held token. That one, and what a draft expects behind it, is only tried: scores
come back before and after each tried token, and those that the branch does not take after all are dropped.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from tooldecoding.accept import Accept, Anything, Sieve, likeliest_first
from tooldecoding.engine import Engine, Feed
from tooldecoding.errors import TokenizerError
from tooldecoding.scores import Scores
from tooldecoding.steps import Steps
from tooldecoding.token_table import TokenTable, is_characters
from tooldecoding.token_trie import TokenTrie

Draft = Callable[[], str]
"""The text that is expected behind what is written, empty if none is."""


Label = Literal["forced", "constrained", "free"]
_CONTEXT_BYTES = 128
WORTH_A_PASS = 32
"""Token positions that are rather saved than a forward pass."""


Tally = Counter[Label]
"""How the tokens of a prompt's calls came about."""


class Pick(NamedTuple):
    """A chosen token: its id, its log-probability, and the text it adds behind the held text."""

    token: int
    logprob: float
    piece: bytes


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
    pending : bytes
        Text behind them whose tokens are not settled.
    draft : Draft or None
        Says what is to be tried; the tokens that are chosen do not depend on it.
    draft_tokens : int
        Most tokens that are tried behind the held one.
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
        sure, last = list(prompt_ids[:-1]), prompt_ids[-1]
        held = bool(sure) and not table.is_special(last)
        if not held:
            sure.append(last)
        self.ids: list[int] = []
        self.length = len(sure)
        self.pending = table.join([last]) if held else b""
        self._pending_token: int | None = last if held else None
        self._pending_label: Label = "forced"
        self._context = table.join(sure[-_CONTEXT_BYTES:])[-_CONTEXT_BYTES:]
        self.draft: Draft | None = None
        self.draft_tokens = 0
        self._unfed = sure[engine.reuse(handle, sure) :]
        self._scores: Scores | None = None
        self._ahead: list[tuple[int, Scores]] = []
        """Tried tokens behind the settled ones, which all are fed then, and the scores behind each."""

    def forks(self, count: int, ways: int | None = None) -> Steps[list["Branch"]]:
        """This branch and ``count - 1`` more that go on from here, in the end ``ways`` (by default ``count``).

        A long stretch that is not computed yet, such as the prompt, is computed once before they part; a
        short one costs less in each of them than a forward pass of its own.
        """
        if ((ways or count) - 1) * len(self._unfed) > WORTH_A_PASS:
            yield from self._known_scores()
        return [self, *(self._fork() for _ in range(count - 1))]

    def _fork(self) -> "Branch":
        child = object.__new__(Branch)
        child.__dict__.update(self.__dict__)
        child.ids, child._unfed, child._ahead = list(self.ids), list(self._unfed), list(self._ahead)
        child.handle = self._engine.fork(self.handle)
        return child

    def release(self) -> None:
        """Declare that this branch is finished."""
        self._engine.release(self.handle)

    def write(self, text: str) -> None:
        """Inject text; its last token stays pending."""
        if not text:
            return
        self._settle_part_of_character()
        label = self._pending_label if self.pending else "forced"
        *sure, last = self._table.encode_after(self._context, self.pending + text.encode())
        for token in sure:
            self._take(token, label)
            label = "forced"
        self._hold(last, label)

    def settle(self) -> None:
        """Make the pending text final as it stands."""
        if self._pending_token is not None:
            self._take(self._pending_token, self._pending_label)
        elif self.pending:
            for token in self._table.encode_after(self._context, self.pending):
                self._take(token, self._pending_label)
        self.pending, self._pending_token = b"", None

    def _drop_tried(self) -> None:
        """Forget the tokens that were tried and not taken."""
        if self._ahead:
            self._engine.drop(self.handle, len(self._ahead))
            self._ahead = []

    def trim(self, size: int) -> None:
        """Take back the last ``size`` bytes of the pending text."""
        if size:
            self.pending, self._pending_token = self.pending[:-size], None

    def next_token(self, accept: Accept, label: Label) -> Steps[Pick]:
        """Let the model choose the likeliest token whose text behind the held one is accepted; it becomes pending."""
        while True:
            pick = yield from self._continue_pending(accept, label)
            if pick.piece:
                return pick

    def _continue_pending(self, accept: Accept, label: Label) -> Steps[Pick]:
        """As ``next_token``; with an empty piece where the model keeps the held text as it is, now settled."""
        scores = yield from self._known_scores(try_held=True)
        pick = self._best(scores, accept)
        if pick.piece:
            self.pending += pick.piece
            self._pending_token, self._pending_label = pick.token, label
        else:
            self.settle()
        return pick

    def _best(self, scores: Scores, accept: Accept) -> Pick:
        sieve, skip = Sieve(accept), len(self.pending)
        for token in likeliest_first(scores, accept, self._table, self.pending):
            text = self._table.join([token])
            piece = text[skip:]
            if (
                text.startswith(self.pending)
                and (sieve(piece) if piece else skip)
                and (not skip or self._is_tokenizers_own(token, text))
            ):
                return Pick(token, scores.logprob(token), piece)
        raise TokenizerError(f"no token of {self._table.name} can follow {self._context!r} + {self.pending!r}")

    def _is_tokenizers_own(self, token: int, text: bytes) -> bool:
        """Whether a token that may cross a boundary is one that the tokenizer makes of its text here."""
        if token == self._pending_token:
            return True
        return is_characters(text) and self._table.encode_after(self._context, text) == (token,)

    def free_token(self) -> Steps[bytes]:
        """Let the model write any token, which becomes pending; returns its text, empty for a special token.

        White space at the end of the prompt is written anew, merged with what follows it.
        """
        if self.pending and not self.pending.strip() and not self.ids:
            pick = yield from self._continue_pending(Anything(), "free")
            if pick.piece:
                return pick.piece
        self.settle()
        scores = yield from self._known_scores()
        token = scores.best
        if not self._table.is_special(token):
            self._hold(token, "free")
        return self.pending

    def choose(self, alternatives: Sequence[str]) -> Steps[tuple[int, list[float]]]:
        """Let the model choose among texts, none of which is the beginning of another.

        Returns the number of the chosen one, and the log-probabilities of the tokens chosen for it. Where
        the tokens so far leave only one alternative, its rest is injected.
        """
        self._settle_part_of_character()
        sequences = [self._table.encode_after(self._context, self.pending + a.encode()) for a in alternatives]
        node = TokenTrie.of(sequences)
        label = self._pending_label if self.pending else "forced"
        self.pending, self._pending_token = b"", None
        logprobs: list[float] = []
        depth = 0
        while len(node.alternatives) > 1:
            if len(node.children) == 1:
                [edge] = node.children
            else:
                edge_of = self._edges(node, [sequences[number][depth:] for number in node.alternatives])
                # a token that ends its alternative stays held: what else may stand there is read from all scores
                ends = any(child.is_leaf for child in node.children.values())
                scores = yield from self._known_scores(among=None if ends else list(edge_of))
                token, logprob = scores.best_among(list(edge_of))
                edge = edge_of[token]
                logprobs.append(logprob)
                label = "constrained"
            node = node.children[edge]
            if len(node.alternatives) > 1:
                self._take(edge, label)
                label = "forced"
                depth += 1
        [chosen] = node.alternatives
        *sure, last = sequences[chosen][depth:]
        for token in sure:
            self._take(token, label)
            label = "forced"
        self._hold(last, label)
        return chosen, logprobs

    def _edges(self, node: TokenTrie, rests: Sequence[Sequence[int]]) -> dict[int, int]:
        """Token -> child. A token that writes the whole rest of an alternative, or more, stands for it, too."""
        edge_of: dict[int, int] = {}
        for rest in rests:
            edge_of.update(dict.fromkeys(self._table.with_prefix(self._table.join(rest)).tolist(), rest[0]))
        edge_of.update({edge: edge for edge in node.children})
        return edge_of

    def _known_scores(self, try_held: bool = False, among: Sequence[int] | None = None) -> Steps[Scores]:
        """Scores behind the settled tokens; feeds those that are not fed yet, and with them what is to be tried."""
        if self._scores is None:
            tried = self._tried() if try_held and self._engine.can_drop else []
            feed = Feed(self.handle, [*self._unfed, *tried], len(tried), None if tried else among)
            [[scores, *behind]] = yield [feed]
            self._ahead = list(zip(tried, behind, strict=True))
            self._unfed = []
            if feed.among is not None:
                return scores
            self._scores = scores
        return self._scores

    def _tried(self) -> list[int]:
        """The held token and those of the draft behind it."""
        held = [] if self._pending_token is None else [self._pending_token]
        if self.draft is None or not self.draft_tokens or (self.pending and not held):
            return held
        expected = self.draft().encode()
        if not expected:
            return held
        try:
            tokens = list(self._table.encode_after(self._context, self.pending + expected))
        except TokenizerError:  # the prompt may hold what the tokenizer cannot write
            return held
        most = len(held) + self.draft_tokens
        if self._most is not None:
            most = max(len(held), min(most, self._most - self.length))
        return tokens[:most] if tokens[: len(held)] == held else held

    def _settle_part_of_character(self) -> None:
        if not is_characters(self.pending):
            self.settle()

    def _hold(self, token: int, label: Label) -> None:
        self.pending = self._table.join([token])
        self._pending_token, self._pending_label = token, label

    def _take(self, token: int, label: Label) -> None:
        self.ids.append(token)
        self.length += 1
        self._context = (self._context + self._table.join([token]))[-_CONTEXT_BYTES:]
        if self._ahead and self._ahead[0][0] == token:
            _, self._scores = self._ahead.pop(0)
        else:
            self._drop_tried()
            self._unfed.append(token)
            self._scores = None
        self._tally[label] += 1
