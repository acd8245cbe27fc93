"""What the engine has read of a branch: settled tokens are fed when logits are needed, tried ones along with them.

Tried tokens are speculative: they are likely to come next, and one forward pass gives the logits behind each of them.
They stay as long as the tokens that are settled agree with them. The first one that differs drops the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tooldecoding.decoding.decode_loop import Logits
from tooldecoding.engines.engine import BranchId, Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.tokens.token_table import shared_length

_PROMPT: Final = 64
"""So many tokens that are not computed are a prompt."""


@dataclass
class FedTokens:
    """The tokens of one branch of an engine.

    Attributes
    ----------
    branch_id : int
        The engine's handle of the branch.
    unfed : list of int
        Settled tokens that the engine has not read yet.
    logits : NextTokenLogits or None
        Logits behind the settled tokens; None if they are not computed yet.
    tried : list of (int, NextTokenLogits)
        Tokens read behind the settled ones, and the logits behind each. None are left when ``unfed`` has a token.
    """

    engine: Engine
    branch_id: BranchId
    unfed: list[int]
    logits: NextTokenLogits | None = None
    tried: list[tuple[int, NextTokenLogits]] = field(default_factory=list)

    def fork(self) -> "FedTokens":
        """Return a new branch that has read the same tokens."""
        return FedTokens(self.engine, self.engine.fork(self.branch_id), list(self.unfed), self.logits, list(self.tried))

    def rewound(self, settled: Sequence[int], instead: Sequence[int]) -> "FedTokens":
        """Return a new branch that will read other tokens; those at the front of both are not computed again.

        Parameters
        ----------
        settled : sequence of int
            All settled tokens of this branch.
        instead : sequence of int
            What the new branch reads in their place.
        """
        fed = self.fork()
        read = [*settled[: len(settled) - len(self.unfed)], *(token for token, _ in self.tried)]
        common = shared_length(read, instead[:-1])
        if common < len(read):
            self.engine.drop(fed.branch_id, len(read) - common)
        fed.unfed, fed.logits, fed.tried = list(instead[common:]), None, []
        return fed

    def settle(self, token: int) -> None:
        """Append a token; the logits behind it are known if it was tried."""
        if self.tried and self.tried[0][0] == token:
            _, self.logits = self.tried.pop(0)
            return
        if self.tried:
            self.engine.drop(self.branch_id, len(self.tried))
            self.tried = []
        self.unfed.append(token)
        self.logits = None

    async def compute(
        self, try_next: Sequence[int] = (), candidates: Sequence[Tokens] | None = None, exact: bool = False
    ) -> NextTokenLogits:
        """Return the logits behind the settled tokens; costs a forward pass if they are not known.

        Parameters
        ----------
        try_next : sequence of int
            Tokens to feed speculatively, if there is a pass and the engine can drop tokens.
        candidates : sequence of ndarrays of int64, optional
            The tokens that matter behind the settled tokens, and behind each of ``try_next``.
        exact : bool
            Whether the logits of all of them matter, and not only the likeliest.
        """
        if self.logits is None:
            tried = try_next if self.engine.can_roll_back else ()
            if self.engine.goes_on_alone:  # but for a prompt's last token, it comes to what is likely by itself
                tried = tried[: len(self.unfed) >= _PROMPT]
            matter = None if exact and not self.engine.goes_on_alone else candidates and candidates[: len(tried) + 1]
            feed = Feed(self.branch_id, [*self.unfed, *tried], len(tried), matter, exact)
            [[self.logits, *behind]] = await Logits([feed])
            self.tried = list(zip(tried, behind, strict=True))
            self.unfed = []
        elif candidates is not None and not self.logits.tells(candidates[0], exact):
            await self.ask(candidates[0], exact)
        return self.logits

    async def ask(self, candidates: Tokens, exact: bool = False) -> NextTokenLogits:
        """Return the logits behind the settled tokens, which are known, with those of the likeliest of some tokens.

        Costs nothing where an engine tells all logits at once. ``exact``: as in ``compute``.
        """
        asked = self._fork_untried() if self.tried else self.branch_id
        try:
            [[self.logits]] = await Logits([Feed(asked, (), 0, [candidates], exact)])
        finally:
            if asked != self.branch_id:
                self.engine.release(asked)
        return self.logits

    async def behind(
        self,
        paths: Sequence[Sequence[int]],
        try_first: bool = False,
        candidates: Sequence[Sequence[Tokens | None]] | None = None,
    ) -> list[list[NextTokenLogits]]:
        """Return the logits behind each token of some paths, any of which may be settled next.

        Costs a forward pass if one of the paths was not tried; nothing is settled. An engine that cannot drop tokens
        returns the logits behind the last token of a path alone.

        ``try_first``: whether the first path is tried, if none is; the engine must be able to drop tokens.
        ``candidates``: for each token of each path, the tokens behind it whose logits matter, each of them.
        """
        tried = [token for token, _ in self.tried]
        logits = [logits for _, logits in self.tried]
        known = {n: logits[: len(path)] for n, path in enumerate(paths) if tried[: len(path)] == [*path]}
        unknown = [n for n in range(len(paths)) if n not in known]
        stays = try_first and not tried
        forks = {n: self._fork_untried() for n in unknown[stays:]}
        matter = {n: candidates[n] for n in unknown} if candidates is not None and self.engine.goes_on_alone else {}
        feeds = [
            Feed(forks.get(n, self.branch_id), paths[n], len(paths[n]), matter.get(n), n in matter) for n in unknown
        ]
        if feeds:
            try:
                answers = await Logits(feeds)
            finally:
                for fork in forks.values():
                    self.engine.release(fork)
            known |= dict(zip(unknown, answers, strict=True))
            if stays:
                self.tried = list(zip(paths[unknown[0]], answers[0], strict=True))
        return [known[number] for number in range(len(paths))]

    async def after(self, paths: Sequence[Sequence[int]]) -> list[NextTokenLogits]:
        """Return the logits behind the last token of some paths, as ``behind``."""
        return [found[-1] for found in await self.behind(paths)]

    def _fork_untried(self) -> BranchId:
        """Return a branch of the engine that has read the settled tokens alone."""
        fork = self.engine.fork(self.branch_id)
        if self.tried:
            self.engine.drop(fork, len(self.tried))
        return fork
