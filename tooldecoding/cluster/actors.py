"""Workers as Ray actors."""

import socket
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final, Generic

import ray
from ray.exceptions import RayError, RaySystemError, RayTaskError

from lookup.errors import ToolDecodingError
from tooldecoding.cluster.crew import Died, Finished, Ready
from tooldecoding.cluster.model_source import ModelSource
from tooldecoding.cluster.packing import Packed, Packer, Unpacker
from tooldecoding.cluster.resources import Share
from tooldecoding.cluster.task import I, Loaded, R, Task
from tooldecoding.errors import ModelError

_PATIENCE_S: Final = 120.0
"""Seconds to wait for a place in the cluster while nothing else runs."""

_LONGEST: Final = 200
"""Maximum length of Ray's reasons."""


class Worker:
    """What runs in an actor; it decodes one group at a time."""

    def __init__(self) -> None:
        self._unpacker = Unpacker()
        self._loaded: Loaded[Any, Any] | None = None

    def load(self, task: Packed, source: ModelSource, threads: int) -> Mapping[str, Any] | str:
        """Load the model; return what the driver shall know, or why it cannot be loaded."""
        try:
            model, tokenizer = source.load(threads)
            self._loaded = self._unpacker.unpack(task).loaded(model, tokenizer)
        except ToolDecodingError as error:
            return str(error)
        about = self._loaded.about
        identity = about.get("identity") or source.identity(model, tokenizer)
        return {**about, "identity": identity, "version": version("tooldecoding"), "node": socket.gethostname()}

    def run(self, packed: Packed) -> Sequence[Any]:
        """Return the results of a group."""
        if self._loaded is None:
            raise RuntimeError("the model is not loaded")
        return self._loaded.run(self._unpacker.unpack(packed))


class ActorPool(Generic[I, R]):
    """A ``Pool`` of actors; see there. An actor is never restarted by Ray: the crew replaces it.

    Parameters
    ----------
    task : Task
    source : ModelSource
    share : Share
        What each actor gets of the cluster.
    """

    def __init__(self, task: Task[I, R], source: ModelSource, share: Share) -> None:
        self._packer = Packer()
        self._load = self._packer.pack(task), source, share.cpus
        self._share = share
        self._class = ray.remote(
            num_cpus=share.cpus,
            num_gpus=share.gpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )(Worker)
        self._actors: list[Any] = []
        self._placed: dict[Any, int] = {}
        self._futures: dict[Any, tuple[int, str]] = {}

    def start(self) -> int:
        """Begin to start another actor."""
        number = len(self._actors)
        actor = self._class.remote()
        self._actors.append(actor)
        self._placed[actor.__ray_ready__.remote()] = number
        self._futures[actor.load.remote(*self._load)] = number, "load"
        return number

    def run(self, worker: int, items: Sequence[I]) -> None:
        """Begin a group."""
        future = self._actors[worker].run.remote(self._packer.pack(items))
        self._futures[future] = worker, "run"

    def wait(self) -> list[Ready | Finished[R] | Died]:
        """Wait until something has happened."""
        while True:
            self._note_placed()
            waits_for_place = len(self._placed) == len(self._futures)
            done, _ = ray.wait(list(self._futures), timeout=_PATIENCE_S if waits_for_place else 1.0)
            if done:
                return [self._event(future) for future in done]
            if waits_for_place and not self._note_placed():
                raise ModelError(
                    f"the cluster had no room for a worker ({self._share}) within {_PATIENCE_S:.0f} s; "
                    "the same command goes on when there is room"
                )

    def _note_placed(self) -> bool:
        """Forget the actors that have begun to run; return whether there were any."""
        if not self._placed:
            return False
        placed, _ = ray.wait(list(self._placed), num_returns=len(self._placed), timeout=0)
        for future in placed:
            del self._placed[future]
        return bool(placed)

    def _event(self, future: Any) -> Ready | Finished[R] | Died:
        worker, kind = self._futures.pop(future)
        try:
            value = ray.get(future)
        except RayTaskError as error:
            self._end(worker)
            if isinstance(error.cause, RaySystemError):
                raise ModelError(
                    f"a worker cannot read its task: {_reason(error)}; install one version on all nodes"
                ) from None
            raise error.as_instanceof_cause() from None  # a fault of ours, with the worker's traceback
        except RayError as error:
            self._end(worker)
            return Died(worker, _reason(error))
        if kind == "run":
            return Finished(worker, value)
        if isinstance(value, str):
            raise ModelError(f"a worker cannot load the model: {value}")
        return Ready(worker, value)

    def _end(self, worker: int) -> None:
        ray.kill(self._actors[worker])

    def stop(self) -> None:
        """End all actors."""
        for worker in range(len(self._actors)):
            self._end(worker)
        self._futures.clear()


def _reason(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:_LONGEST]
