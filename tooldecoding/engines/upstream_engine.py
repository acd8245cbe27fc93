"""Engine on a server that goes on by itself: what it writes is verified token by token, and taken as far as it fits.

The server is asked to go on behind a prefix, and its tokens stream in with the likeliest ones at each place. They are
kept in a trie, and whoever asks for the logits behind some tokens of it gets them from there. The decoder takes the
likeliest permitted token at each place, so as long as the server's own are permitted, nothing is asked again::

    prefix      … {"name": "get_weather", "arguments": {"city": "
    streams in  Rome  ",  Ġ"  days  ":  Ġ  3  }}       all of it permitted: one request for the whole rest of the call
                Rome  ",  Ġ"  unit  …                  days is injected here: a request behind … "days": goes on

A request that nobody follows any more is cancelled. Which tokens are computed twice is a matter of the server's prefix
cache. Prompts are fed at the server side by side, and each goes on when its own answer is there.
"""

import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import Final

from tooldecoding.engines.engine import BranchId, BranchTable, Engine, Feed, Need, Usage
from tooldecoding.engines.known_logits import KnownLogits
from tooldecoding.engines.logits import NextTokenLogits, Tokens, token_set
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.server import Ask, Step, Upstream

_AHEAD: Final = 512
"""The server is told to go on for so many tokens at most."""
_UNREAD: Final = 8
"""It is stopped if it has written so many that nobody has asked for."""
_PATIENCE: Final = (4, 16)
"""Least and most tokens for which the server is waited for where it may come by, instead of asking it again."""
_MEASURED: Final = 32
"""So many of the latest times are remembered."""
_WAIT_S: Final = 0.05
"""So long news are waited for at a time."""
_GUIDED: Final = 16
"""A path of at most so many tokens that is read for its logits is written by the server under guidance."""


class _Node:
    """A token sequence: the parent's, and one token more.

    Attributes
    ----------
    logits : KnownLogits or None
        What is known of the next token.
    going : _Stream or None
        The request that will tell the next token.
    asking : bool
        Whether a request for the logits of single tokens is under way.
    error : Exception or None
        Why there are no logits.
    """

    __slots__ = ("asking", "children", "depth", "error", "going", "logits", "parent", "token")

    def __init__(self, parent: "_Node | None" = None, token: int = -1) -> None:
        self.parent = parent
        self.token = token
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.children: dict[int, _Node] = {}
        self.logits: KnownLogits | None = None
        self.going: _Stream | None = None
        self.asking = False
        self.error: Exception | None = None

    def child(self, token: int) -> "_Node":
        """Return the node of one token more."""
        found = self.children.get(token)
        if found is None:
            found = self.children[token] = _Node(self, token)
        return found

    def up(self) -> "Iterator[_Node]":
        """Yield this node, its parent, and so on."""
        node: _Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def tokens(self) -> list[int]:
        """Return all its tokens."""
        return [node.token for node in self.up() if node.parent is not None][::-1]

    def above(self, depth: int) -> "_Node":
        """Return its ancestor of a depth, at most its own."""
        return next(node for node in self.up() if node.depth == depth)


@dataclass(eq=False)
class _Prompt:
    """What all branches of a prompt share."""

    usage: Usage = field(default_factory=Usage)
    branches: "set[_Branch]" = field(default_factory=set)
    streams: "set[_Stream]" = field(default_factory=set)


@dataclass(eq=False)
class _Branch:
    prompt: _Prompt
    node: _Node


@dataclass(eq=False)
class _Stream:
    """A request under way.

    Attributes
    ----------
    start, head : _Node
        Where it began, and whose next token comes next.
    asked : ndarray of int64, optional
        The tokens whose logits it is to tell, in place of going on.
    reach : int
        Depth of the first node in front of which it stops.
    is_exact : bool
        Whether it is to tell all of them, and not only the likeliest.
    is_free : bool
        Whether the server takes the likeliest token of all.
    """

    prompt: _Prompt
    start: _Node
    head: _Node
    asked: Tokens | None
    reach: int
    is_exact: bool
    is_free: bool
    began: float
    has_told: bool = False
    cancel: Callable[[], None] = lambda: None


@dataclass(eq=False)
class _Wanted:
    """A feed, and the nodes behind which it wants the logits."""

    feed: Feed
    prompt: _Prompt
    nodes: list[_Node]

    @property
    def is_tried(self) -> bool:
        """Whether all tokens are tried: nothing is likely to go on behind them."""
        return self.feed.speculative == len(self.feed.tokens) > 0

    def goes_on_from(self, node: _Node) -> bool:
        """Whether the branch is likely to go on behind a node: behind all that is likely to come next."""
        return node is self.nodes[-1] and not self.is_tried


class UpstreamEngine(Engine):
    """See Engine. A pass is a request, and positions are those that the server is known to compute.

    Parameters
    ----------
    server : Upstream
    vocabulary : int
        Tokens of the model.
    """

    can_roll_back = True
    has_spare_positions = False
    chunk: int | None = None
    goes_on_alone = True

    def __init__(self, server: Upstream, vocabulary: int) -> None:
        self._server = server
        self._vocabulary = vocabulary
        self._branches: BranchTable[_Branch] = BranchTable()
        self._wanted: dict[int, _Wanted] = {}
        self._news: SimpleQueue[tuple[_Stream, Step | Exception | None]] = SimpleQueue()
        self._first_token: deque[float] = deque([0.2], _MEASURED)
        self._next_token: deque[float] = deque([0.05], _MEASURED)

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine. The server keeps the cache."""
        return 0.0

    @property
    def allocated_bytes(self) -> int:
        """See Engine."""
        return 0

    def open(self, count: int) -> list[BranchId]:
        """See Engine."""
        return [self._add(_Branch(_Prompt(), _Node())) for _ in range(count)]

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine."""
        return self._add(replace(self._branches[branch]), branch)

    def _add(self, branch: _Branch, parent: BranchId | None = None) -> BranchId:
        branch.prompt.branches.add(branch)
        return self._branches.add(branch, parent)

    def release(self, branch: BranchId) -> None:
        """See Engine. What the server writes for it alone is cancelled."""
        released = self._branches.remove(branch)
        prompt = released.prompt
        prompt.branches.discard(released)
        self._wanted = {key: wanted for key, wanted in self._wanted.items() if wanted.feed.branch != branch}
        self._cancel_useless(prompt)

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        dropping = self._branches[branch]
        dropping.node = dropping.node.above(dropping.node.depth - count)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine; UpstreamError if the server cannot be asked."""
        found: list[list[NextTokenLogits] | None] = [None] * len(feeds)
        while missing := [n for n, answer in enumerate(found) if answer is None]:
            for n, answer in zip(missing, self.answered([feeds[n] for n in missing]), strict=True):
                if isinstance(answer, Exception):
                    raise answer
                found[n] = answer
        return [answer for answer in found if answer is not None]

    def answered(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits] | Exception | None]:
        """See Engine. Waits for news for a twentieth of a second, if nothing is there."""
        for feed in feeds:
            if id(feed) not in self._wanted:
                self._wanted[id(feed)] = self._fed(feed)
        for prompt in {self._wanted[id(feed)].prompt for feed in feeds}:
            self._cancel_useless(prompt)
        self._take_news(0.0)
        found = self._found(feeds)
        if not any(found):
            self._take_news(_WAIT_S)
            found = self._found(feeds)
        for feed, answer in zip(feeds, found, strict=True):
            if answer is not None:
                del self._wanted[id(feed)]
        return found

    def _fed(self, feed: Feed) -> _Wanted:
        """Append the tokens of a feed to its branch."""
        branch = self._branches[feed.branch]
        nodes = [branch.node]
        for token in feed.tokens:
            nodes.append(nodes[-1].child(token))
        branch.node = nodes[-1]
        if branch.prompt.usage.forward_passes == 0:
            branch.prompt.usage.positions += len(feed.tokens)
        return _Wanted(feed, branch.prompt, nodes[-feed.answers :])

    def _found(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits] | Exception | None]:
        """Return the answers that are there, and ask the server for what is missing and does not come by itself."""
        found: list[list[NextTokenLogits] | Exception | None] = []
        missing: dict[_Node, tuple[_Wanted, set[int]]] = {}
        for feed in feeds:
            wanted = self._wanted[id(feed)]
            error = next((node.error for node in wanted.nodes if node.error is not None), None)
            if error is not None:
                found.append(error)
                continue
            answers: list[NextTokenLogits] = []
            for n, node in enumerate(wanted.nodes):
                candidates = None if feed.candidates is None else feed.candidates[n]
                if self._is_answered(node, candidates, feed.exact):
                    assert node.logits is not None
                    answers.append(node.logits)
                    continue
                if node.asking or self._is_coming(node):
                    continue
                if node.logits is not None and candidates is not None:
                    known = node.logits.known if feed.exact else {}
                    missing.setdefault(node, (wanted, set()))[1].update(set(candidates.tolist()).difference(known))
                elif feed.exact and candidates is not None and wanted.is_tried and self._server.restricts:
                    self._guide(wanted, n)
                else:
                    self._begin(wanted.prompt, node, Ask(node.tokens(), _AHEAD if wanted.goes_on_from(node) else 1))
            found.append(answers if len(answers) == len(wanted.nodes) else None)
        for node, (wanted, tokens) in missing.items():
            self._ask(wanted.prompt, node, token_set(tokens))
        return found

    @staticmethod
    def _is_answered(node: _Node, candidates: Tokens | None, exact: bool) -> bool:
        if node.logits is None:
            return False
        if candidates is None:
            return node.logits.is_ranked
        return node.logits.tells(candidates, exact)

    def _is_coming(self, node: _Node) -> bool:
        """Whether a request is about to tell the logits behind a node, or is likely to."""
        patience = self._patience
        for ancestor in takewhile(lambda each: node.depth - each.depth <= max(patience, _GUIDED), node.up()):
            going, distance = ancestor.going, node.depth - ancestor.depth
            if going is not None and node.depth < going.reach and (distance <= patience or not going.is_free):
                return True  # where the server is guided, it was asked for just this
            if ancestor is not node and ancestor.logits is not None and ancestor.logits.is_ranked:
                return False  # the request has gone another way
        return False

    @property
    def _patience(self) -> int:
        """How many tokens the server writes in the time that a new request takes."""
        least, most = _PATIENCE
        ratio = statistics.median(self._first_token) / max(statistics.median(self._next_token), 1e-4)
        return max(least, min(most, round(ratio)))

    def _ask(self, prompt: _Prompt, node: _Node, tokens: Tokens) -> None:
        """Ask for the logits of some tokens; of many, for that of the likeliest of them."""
        node.asking = True
        ids = tokens.tolist()
        if len(ids) <= self._server.most_exact:
            self._begin(prompt, node, Ask(node.tokens(), 1, exact=ids), asked=tokens)
        else:
            self._begin(prompt, node, Ask(node.tokens(), 1, allowed=ids), asked=tokens)

    def _guide(self, wanted: _Wanted, first: int) -> None:
        """Ask for the logits of the tokens of a path, which the server writes because it may write no others."""
        assert wanted.feed.candidates is not None
        coming = takewhile(lambda tokens: tokens is not None, wanted.feed.candidates[first : first + _GUIDED])
        path = [int(tokens[0]) for tokens in coming if tokens is not None]
        node = wanted.nodes[first]
        is_last = first + len(path) < len(wanted.nodes)  # behind it, the likeliest tokens are wanted
        ask = Ask(node.tokens(), len(path) + is_last, allowed=sorted(set(path)))
        self._begin(wanted.prompt, node, ask)

    def _begin(self, prompt: _Prompt, node: _Node, ask: Ask, asked: Tokens | None = None) -> None:
        stream = _Stream(
            prompt, node, node, asked, node.depth + ask.most, bool(ask.exact), not ask.allowed, time.perf_counter()
        )
        prompt.streams.add(stream)
        prompt.usage.forward_passes += 1
        if asked is None:
            node.going = stream
        stream.cancel = self._server.spawn(self._follow(stream, ask))

    async def _follow(self, stream: _Stream, ask: Ask) -> None:
        """Pass on what the server tells; in the event loop of the server."""
        try:
            async with aclosing(self._server.go_on(ask)) as steps:  # type: ignore[type-var]
                async for step in steps:
                    self._news.put((stream, step))
            self._news.put((stream, None))
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is awaited
            self._news.put((stream, error))

    def _take_news(self, seconds: float) -> None:
        """Take what has come; wait for something for so long."""
        try:
            self._take(*self._news.get(timeout=seconds) if seconds else self._news.get_nowait())
            while True:
                self._take(*self._news.get_nowait())
        except Empty:
            pass

    def _take(self, stream: _Stream, news: Step | Exception | None) -> None:
        if stream not in stream.prompt.streams:
            return  # cancelled
        node = stream.head
        if isinstance(news, Step):
            self._time(stream)
            stream.has_told = True
            stream.prompt.usage.positions += 1
            logits = node.logits or KnownLogits({}, self._vocabulary)
            key = None if stream.asked is None else KnownLogits.key(stream.asked)
            others = [logprob for token, logprob in news.logprobs.items() if token != news.token or stream.is_free]
            least = min(others, default=math.inf) if not stream.is_exact else math.inf
            node.logits = logits.plus(news.logprobs, least, key)
            if stream.asked is not None:
                node.asking = False
                if stream.is_exact and not node.logits.tells(stream.asked, exact=True):
                    node.error = UpstreamError(f"{self._server.kind} does not tell the log-probabilities asked for")
                return
            node.going = None
            stream.head = node.child(news.token)
            if stream.head.going is not None or stream.head.logits is not None:
                self._end(stream)  # another one is there, or was
            else:
                stream.head.going = stream
                if (stream.head.depth - stream.start.depth) % _UNREAD == 0:
                    self._cancel_useless(stream.prompt)
            return
        node.error = news
        if news is None and not stream.has_told:  # else it would be asked again for ever
            node.error = UpstreamError(f"{self._server.kind} at {self._server.address} wrote nothing")
        self._end(stream)

    def _time(self, stream: _Stream) -> None:
        """Note how long a token took."""
        now = time.perf_counter()
        (self._first_token if stream.head is stream.start else self._next_token).append(now - stream.began)
        stream.began = now

    def _end(self, stream: _Stream) -> None:
        """Forget a request; it is cancelled if it has not ended."""
        stream.prompt.streams.discard(stream)
        if stream.head.going is stream:
            stream.head.going = None
        if stream.asked is not None:
            stream.head.asking = False
        stream.cancel()

    def _cancel_useless(self, prompt: _Prompt) -> None:
        """Cancel the requests on whose way no branch is."""
        if not prompt.streams:
            return
        nodes = {branch.node for branch in prompt.branches}
        wanted = {node for each in self._wanted.values() if each.prompt is prompt for node in each.nodes}
        for stream in list(prompt.streams):
            if stream.head not in wanted and not any(self._follows(node, stream) for node in nodes):
                self._end(stream)

    def _follows(self, node: _Node, stream: _Stream) -> bool:
        """Whether a node is on the way of a request and not far behind, or so near in front that it is waited for."""
        if node.depth < max(stream.start.depth, stream.head.depth - _UNREAD):
            return False
        if node.depth > stream.head.depth:
            far = node.depth - stream.head.depth > self._patience
            return not far and node.above(stream.head.depth) is stream.head
        return stream.head.above(node.depth) is node

    def __del__(self) -> None:
        for prompt in {branch.prompt for branch in getattr(self, "_branches", {}).values()}:
            for stream in prompt.streams:
                stream.cancel()


class UpstreamFactory:
    """Makes the engines of a server; see ``EngineFactory``.

    Parameters
    ----------
    server : Upstream
    vocabulary : int
    """

    strategy: Final = "packed"
    recurrent: Final = False

    def __init__(self, server: Upstream, vocabulary: int) -> None:
        self._server = server
        self._vocabulary = vocabulary
        self.prompts: PrefixCache[None] = PrefixCache(0)
        self.reason = f"{server.kind} at {server.address} runs the model, and is asked for tokens"

    def __call__(self) -> UpstreamEngine:
        """Return a new engine without branches."""
        return UpstreamEngine(self._server, self._vocabulary)
