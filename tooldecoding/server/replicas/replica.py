"""One replica: a model behind the same application as on one machine."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from prometheus_client.metrics_core import Metric
from ray import serve

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.guard import Asgi
from tooldecoding.server.json_log import begin_log, log
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.replicas.asgi_call import call
from tooldecoding.server.replicas.known import NAMES
from tooldecoding.server.replicas.message import Asked, Head


class Served(Protocol):
    """A loaded model and its application."""

    metrics: Metrics

    @property
    def is_ready(self) -> bool:
        """Whether requests are taken."""

    def app(self) -> Asgi:
        """Return the application."""

    def start(self) -> None:
        """Begin to take requests."""


Load = Callable[[ServeCommand], Served]
"""Loads the model that the options name; it is pickled by its name."""


def load_server(options: ServeCommand) -> Served:
    """Load a model; ModelError if that fails."""
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly
    from tooldecoding.server.app import Server

    model, tokenizer = load_quietly(options.model, **options.loading)
    decoder = ToolDecoder(model, tokenizer, options.strategy, options, options.prompt_cache_mb)
    return Server(decoder, options)


class Replica:
    """What Ray Serve runs in each replica. Ray calls its methods by their names.

    Parameters
    ----------
    options : ServeCommand
    load : callable
    """

    def __init__(self, options: ServeCommand, load: Load) -> None:
        begin_log()
        self._names = [*options.model_names, options.model]
        self._name = serve.get_replica_context().replica_id.unique_id
        self._served = load(options)
        self._app = self._served.app()
        self._served.start()
        log("ready", logging.INFO, model=options.model, replica=self._name)

    async def answer(self, asked: Asked) -> AsyncIterator[Head | bytes]:
        """Yield the parts of an answer."""
        async for part in call(self._app, asked, self._name):
            yield part

    async def figures(self) -> tuple[str, list[Metric]]:
        """Return the replica's name and its figures."""
        return self._name, self._served.metrics.families()

    async def check_health(self) -> None:
        """Raise an error if the replica cannot go on: Ray Serve replaces it."""
        if not self._served.is_ready:
            raise RuntimeError("no requests are taken any more")

    def record_replica_metadata(self) -> dict[str, Any]:
        """Return what the router knows of the replica."""
        return {NAMES: self._names}
