"""Await what functions return, whether or not an event loop runs already: in a loop of its own, which lasts."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple

_NESTED: ContextVar[bool] = ContextVar("_NESTED", default=False)
"""Whether the loop that lasts waits for what runs here, and so can run nothing for it."""


class _Outcome(NamedTuple):
    result: Any
    interrupt: BaseException | None
    """What would end the loop, and not only the function."""


class _Loop:
    """An event loop in a thread. What one call leaves open, such as a client's connections, the next one finds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """Return what an awaitable gives, or raise what it raises. Its context is that of the caller."""
        if _NESTED.get() or threading.current_thread() is self._thread:  # what is awaited here runs an agent itself
            context = copy_context()
            context.run(_NESTED.set, True)
            with ThreadPoolExecutor(1) as pool:
                return _result(pool.submit(context.run, asyncio.run, _outcome(awaitable)).result())
        future = asyncio.run_coroutine_threadsafe(_outcome(awaitable), self._running())
        try:
            return _result(future.result())
        finally:
            future.cancel()  # where the wait was interrupted, as by Ctrl-C

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():  # as in a forked process
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="tooldecoding-await", daemon=True)
                self._thread.start()
            return self._loop


_LOOP = _Loop()


def settled(result: Any) -> Any:
    """Return a result, awaited for as long as it can be, or raise what that raises."""
    while inspect.isawaitable(result):
        result = _LOOP.run(result)
    return result


def collected(items: AsyncIterator[Any], most: int) -> list[Any]:
    """Return the first items of an asynchronous iterator, at most so many."""

    async def collect() -> list[Any]:
        found: list[Any] = []
        async for item in items:
            found.append(item)
            if len(found) >= most:
                break
        return found

    return [*_LOOP.run(collect())]


async def _outcome(awaitable: Awaitable[Any]) -> _Outcome:
    try:
        return _Outcome(await awaitable, None)
    except (KeyboardInterrupt, SystemExit) as interrupt:
        return _Outcome(None, interrupt)


def _result(outcome: _Outcome) -> Any:
    if outcome.interrupt is not None:
        raise outcome.interrupt
    return outcome.result
