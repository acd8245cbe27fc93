"""Workers as the actors of Ray Data.

The groups of a whole run are one data set, so that each actor loads its model once: its rows are the numbers of
portions, which lie in Ray's object store and, what that cannot hold, on the disk. An actor that dies is started again
and its portion decoded again, a bounded number of times. A group's results come back as soon as it is decoded.
"""

import logging
import pickle
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Generic

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.cluster.resources import Share, share_of
from tooldecoding.cluster.task import About, I, R, Task, Workers
from tooldecoding.errors import ModelError
from tooldecoding.models.identity import identify
from tooldecoding.models.loading import load_quietly
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.options.ray_options import RayOptions

MOST_RETRIES: Final = 2
"""How often a portion is decoded again whose worker died."""

_MOST_RESTARTS: Final = 4
"""How often one worker is started again in a run."""

_WINDOW: Final = 64
"""Groups among which prompts that begin alike are brought together."""

_MOST_GROUPS: Final = 8
"""Groups of a portion: a worker decodes them one after another, with one prefix cache."""

_LONGEST: Final = 200
"""Maximum length of Ray's reasons."""

Load = Callable[[], tuple[PreTrainedModel, PreTrainedTokenizerBase]]


class There:
    """A cluster that this process has joined; each worker loads the model, this process only the tokenizer.

    Raises
    ------
    ConfigError
        If the cluster is too small.
    """

    def __init__(self, options: RayOptions, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self._actors = options.actors or 1
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        self._share = share_of(nodes, self._actors, options.gpus_per_actor)
        device = options.device
        if not device and not options.device_map:
            device = "cuda" if self._share.gpus else "cpu"
        self._load = partial(load_quietly, _absolute(options.model), **options.loading | {"device": device})
        self._device = str(device or options.device_map)

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return the workers; they start with ``spread``, and end with it."""
        return nullcontext(RayWorkers(task, self._load, self._actors, self._share, self._device))


class RayWorkers(Generic[I, R]):
    """Actors that decode one stream of groups.

    Parameters
    ----------
    task : Task
    load : callable
        Returns model and tokenizer, in a worker.
    actors : int
    share : Share
        What each gets of the cluster.
    device : str
    """

    def __init__(self, task: Task[I, R], load: Load, actors: int, share: Share, device: str = "cpu") -> None:
        self._task = task
        self._load = load
        self._actors = actors
        self._share = share
        self.about: About = {"device": device}

    def spread(
        self, groups: Iterable[Sequence[I]], ready: Callable[[About], None] = lambda about: None
    ) -> Iterator[tuple[Sequence[I], Sequence[R]]]:
        """Yield groups with their results, as they come; every item exactly once. Reads all groups first.

        Raises
        ------
        ModelError
            If workers cannot load the model, load different ones, or die too often.
        """
        portions = [ray.put(p) for p in _portions(groups, self._task.beginning, self._actors)]
        if not portions:
            return
        first: About | None = None
        for answer in self._answers(portions):
            if isinstance(answer, str):
                raise ModelError(f"a worker cannot load the model: {answer}")
            about, items, results = answer
            if first is None:
                first = about
                ready(about)
            _demand_equal(first, about)
            yield items, results

    def _answers(self, portions: Sequence["ray.ObjectRef[Any]"]) -> Iterator[Any]:
        """Yield what the actors return for each group."""
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = 1  # a group's results do not wait for those of others
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        numbers = ray.data.from_items(list(range(len(portions))), override_num_blocks=len(portions))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # no other parameter bounds restarts and retries
            decoded = numbers.map_batches(
                _Worker,
                batch_size=1,
                fn_constructor_args=(self._task, self._load, portions),
                compute=ray.data.ActorPoolStrategy(size=self._actors, max_tasks_in_flight_per_actor=2),
                num_cpus=self._share.cpus,
                num_gpus=self._share.gpus,
                max_restarts=_MOST_RESTARTS,
                max_task_retries=MOST_RETRIES,
            )
        try:
            for batch in decoded.iter_batches(batch_size=None, prefetch_batches=0):
                yield from map(pickle.loads, batch["answer"])
        except RayTaskError:
            raise  # a fault of ours, with the worker's traceback
        except RayError as error:
            raise ModelError(
                f"workers died too often ({_reason(error)}); the same command goes on behind the results that stand, "
                "and with a smaller --batch-size, or without --ray, it shows which row is at fault"
            ) from None


class _Worker:
    """What runs in an actor."""

    def __init__(self, task: Task[Any, Any], load: Load, portions: Sequence["ray.ObjectRef[Any]"]) -> None:
        self._portions = portions
        self._error = ""
        try:
            model, tokenizer = load()
            self._loaded = task.loaded(model, tokenizer)
        except ToolDecodingError as error:
            self._error = str(error)
            return
        about = self._loaded.about
        identity = about.get("identity") or identify(model, tokenizer)
        self._about = {**about, "identity": identity, "version": version("tooldecoding"), "node": socket.gethostname()}

    def __call__(self, batch: Mapping[str, Any]) -> Iterator[dict[str, list[bytes]]]:
        """Yield, for each group of the portions: what is worth knowing of this worker, the items, and their results.

        If the model could not be loaded: why.
        """
        if self._error:
            yield {"answer": [pickle.dumps(self._error)]}
            return
        for number in batch["item"]:
            for items in ray.get(self._portions[int(number)]):
                yield {"answer": [pickle.dumps((self._about, items, self._loaded.run(items)))]}


def _portions(groups: Iterable[Sequence[I]], beginning: Callable[[I], str], actors: int) -> Iterator[list[list[I]]]:
    """Yield lists of groups; items whose prompts begin alike follow one another within a window."""
    stream = iter(groups)
    while window := list(islice(stream, _WINDOW)):
        size = len(window[0])
        items = sorted(chain.from_iterable(window), key=beginning)
        sorted_groups = [items[start : start + size] for start in range(0, len(items), size)]
        share = max(1, min(_MOST_GROUPS, len(sorted_groups) // (4 * actors)))
        for start in range(0, len(sorted_groups), share):
            yield sorted_groups[start : start + share]


def _demand_equal(first: About, about: About) -> None:
    """ModelError if two workers have other versions or models."""
    nodes = f"the workers on {first['node']} and {about['node']}"
    if about["version"] != first["version"]:
        raise ModelError(f"{nodes} have tooldecoding {first['version']} and {about['version']}; install one version")
    own, other = first["identity"], about["identity"]
    if own != other:
        parts = ", ".join(part for part in own if own[part] != other.get(part))
        raise ModelError(f"{nodes} have loaded different models (other {parts}): the same files must lie on every node")


def _absolute(model: str) -> str:
    """Workers have another working directory."""
    return str(Path(model).resolve()) if model != REFERENCE_MODEL and Path(model).exists() else model


def _reason(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:_LONGEST]
