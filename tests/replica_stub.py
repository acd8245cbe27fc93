"""Replicas that load no model: they do what a request's message says. And the process that serves with them."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response

from tooldecoding.errors import ModelError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.api_error import ApiError, json_response
from tooldecoding.server.event_stream import EventStream, event
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.routes import Routes, exposition

GO = "STUB_GO"
"""Names the file for which stubs wait."""


class Stub(Routes):
    """What it is told: ``hello``, ``wait`` until a file is there, ``stream`` with a wait in it, ``full``, ``die``."""

    is_ready = True

    def __init__(self, options: ServeCommand) -> None:
        super().__init__(options, Metrics())
        self._go = Path(os.environ[GO])

    def start(self) -> None:
        pass

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        yield

    async def _chat(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self._demand_model(body["model"])
        said = body["messages"][0]["content"]
        if said == "full":
            raise ApiError(429, "full", code="queue_full", headers={"Retry-After": "1"})
        if said == "die":
            os.abort()
        if said == "stream":
            return EventStream(self._events(), lambda: None)
        if said == "wait":
            await self._wait()
        found = {"pid": os.getpid(), "kept": self._options.max_value_tokens, "key": self._options.api_key}
        return json_response(found)

    async def _events(self) -> AsyncIterator[str]:
        yield event({"pid": os.getpid()})
        await self._wait()
        yield event({"more": True})
        yield "data: [DONE]\n\n"

    async def _wait(self) -> None:
        self.metrics.running.inc()
        try:
            while not self._go.exists():
                await asyncio.sleep(0.01)
        finally:
            self.metrics.running.dec()

    async def _health(self) -> Response:
        return json_response({})

    _ready = _health

    async def _metrics(self) -> Response:
        return exposition(b"")


def load(options: ServeCommand) -> Any:
    if options.model == "missing":
        raise ModelError("there is no model 'missing'")
    if options.model == "stub":
        return Stub(options)
    from tooldecoding.server.replicas.replica import load_server

    return load_server(options)


def main() -> None:
    """Run the command line with stubs."""
    from replica_stub import load  # by the name under which a replica finds it
    from tooldecoding.cli.app import main
    from tooldecoding.server.replicas import run

    run.run_replicas = partial(run.run_replicas, load=load)
    main()


if __name__ == "__main__":
    main()
