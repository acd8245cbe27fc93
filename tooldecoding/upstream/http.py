"""What all servers that are asked over HTTP have in common: retries, streams of events, clear errors."""

import asyncio
import json
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import httpx

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.server import Ask, Step, Upstream, shared_loop

_RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses behind which the same request may be answered."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 4.0
_LONGEST_LINE: Final = 1 << 22
"""Most characters of an event."""
_SHOWN: Final = 300
"""Most characters of a server's message that are shown."""


class Description(NamedTuple):
    """What a server says of its model.

    Attributes
    ----------
    source : str
        Folder, hub id or file.
    name : str
        By which requests ask for it.
    context : int or None
        Positions.
    """

    source: str
    name: str
    context: int | None


class HttpUpstream(Upstream):
    """A server that is asked over HTTP.

    Parameters
    ----------
    address : str
        As ``http://host:8000``.
    model : str
        Name of the model, as the server shows it.
    key : str, optional
        Sent as ``Authorization: Bearer``.
    timeout : float
        Seconds in which the next token must come.
    patience : float
        Seconds for which a server that is away, or too busy, is asked again.
    """

    path: str
    """Where tokens are asked for."""

    def __init__(
        self, address: str, model: str = "", key: str | None = None, timeout: float = 120.0, patience: float = 60.0
    ) -> None:
        self.address = address.rstrip("/")
        self.model = model
        self.loop = shared_loop()
        self._patience = patience
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._timeout = httpx.Timeout(timeout, connect=10.0, pool=None)
        self._http: httpx.AsyncClient | None = None

    @property
    def _client(self) -> httpx.AsyncClient:
        """The connections; in the loop alone."""
        if self._http is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
            self._http = httpx.AsyncClient(
                base_url=self.address, headers=self._headers, timeout=self._timeout, limits=limits, trust_env=False
            )
        return self._http

    @abstractmethod
    def _body(self, ask: Ask) -> dict[str, Any]:
        """Return the request for some tokens."""

    @abstractmethod
    def _steps(self, event: Mapping[str, Any], ask: Ask, seen: int) -> list[Step]:
        """Return the steps of an event behind so many others.

        KeyError, TypeError, ValueError or IndexError if it has another shape.
        """

    @abstractmethod
    async def describe(self) -> Description | None:
        """Return what the server says of its model; None if it is a server of another kind.

        UpstreamError if it has not the model that was asked for.
        """

    @abstractmethod
    async def tokens_of(self, text: str) -> list[int] | None:
        """Return the server's tokens of a text; None if it does not tell."""

    @abstractmethod
    async def demand_same(self) -> None:
        """UpstreamError if another model answers now than at the start."""

    async def go_on(self, ask: Ask) -> AsyncIterator[Step]:
        """See Upstream."""
        began, pause = self.loop.time(), _FIRST_PAUSE_S
        while True:
            wrote = False
            try:
                async for step in self._stream(ask):
                    wrote = True
                    yield step
                if not wrote:
                    raise TryAgain("it wrote nothing")
                return
            except (httpx.TransportError, TryAgain) as error:
                if wrote:
                    return  # what is missing is asked for again where it is needed
                if self.loop.time() - began > self._patience:
                    raise self._failed(str(error) or type(error).__name__) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
            await self._demand_same_if_there()

    async def _demand_same_if_there(self) -> None:
        with suppress(httpx.TransportError, TryAgain):
            await self.demand_same()

    async def _stream(self, ask: Ask) -> AsyncIterator[Step]:
        async with self._client.stream("POST", self.path, json=self._body(ask)) as response:
            if response.status_code in _RETRIED:
                raise TryAgain(f"status {response.status_code}")
            if response.status_code != 200:
                raise self._refused(response.status_code, (await response.aread()).decode(errors="replace"))
            seen = 0
            async for event in self._events(response):
                if "error" in event:
                    raise TryAgain(str(event["error"])[:_SHOWN])
                try:
                    steps = self._steps(event, ask, seen)
                except (KeyError, TypeError, ValueError, IndexError) as error:
                    shape = f"{type(error).__name__}: {error}"
                    raise self._failed(f"its answer has another shape than {self.kind} gives ({shape})") from None
                seen += len(steps)
                for step in steps:
                    yield step

    @staticmethod
    async def _events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        """Yield the objects of a stream of server-sent events."""
        async for line in response.aiter_lines():
            if len(line) > _LONGEST_LINE:
                raise TryAgain("an event is too long")
            name, _, data = line.partition(":")
            if name == "error":
                raise TryAgain(data[:_SHOWN])
            if name != "data" or data.strip() == "[DONE]":
                continue
            try:
                found = json.loads(data)
            except ValueError:
                raise TryAgain("an event is no JSON") from None
            if isinstance(found, dict):
                yield found

    async def get(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON that a path gives, or None if there is none such; httpx.TransportError if nobody answers."""
        response = await (self._client.get(path) if body is None else self._client.post(path, json=dict(body)))
        if response.status_code in (401, 403):
            raise self._refused(response.status_code, response.text)
        if response.status_code in _RETRIED:
            raise TryAgain(f"status {response.status_code}")
        try:
            return response.json() if response.status_code == 200 else None
        except ValueError:
            return None

    def _failed(self, why: str) -> UpstreamError:
        return UpstreamError(f"{self.kind} at {self.address} did not answer: {why:.{_SHOWN}}")

    def _refused(self, status: int, text: str) -> UpstreamError:
        if status in (401, 403) and "scale-out" not in text:
            return UpstreamError(f"{self.kind} at {self.address} wants a key: set TOOLDECODING_UPSTREAM_API_KEY")
        return UpstreamError(f"{self.kind} at {self.address} refused a request (status {status}): {text:.{_SHOWN}}")


class TryAgain(Exception):
    """The same request may be answered later."""
