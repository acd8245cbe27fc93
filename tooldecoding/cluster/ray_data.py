"""Workers as the actors of Ray Data.

The groups of a whole run are one data set, so that each actor loads its model once: its rows are the numbers of
groups, which lie in Ray's object store and, what that cannot hold, on the disk. An actor that dies is started again
and its group decoded again, a bounded number of times. A group's results come back as soon as it is decoded.
"""

import logging
import pickle
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.cluster.connection import share_of
from tooldecoding.cluster.workers import Item, MakeGroupDecoder, MapGroups, OnModelLoaded, Pairs, Result
from tooldecoding.errors import ModelError
from tooldecoding.models.sources import identify

MOST_RETRIES: Final = 2
"""How often a group is decoded again whose worker died."""

_MOST_RESTARTS: Final = 4
"""How often one worker is started again in a run."""

_LONGEST: Final = 200
"""Maximum length of Ray's reasons."""

_OF_WORKERS: Final = ("version", "node")
"""What workers tell beside the identity of their model."""

Load = Callable[[str], tuple[PreTrainedModel, PreTrainedTokenizerBase]]


class RayWorkers:
    """The actors of a cluster that this process has joined.

    ConfigError if the cluster is too small.

    Parameters
    ----------
    load : callable
        Returns model and tokenizer, in a worker, for a device if the user names none.
    actors : int
    gpus : float or None
        GPUs of each; by default 1 if the cluster has one for each, else 0.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, load: Load, actors: int, gpus: float | None = None) -> None:
        self.tokenizer = tokenizer
        self._load = load
        self._actors = actors
        self._share = share_of(actors, gpus)
        self.device = "cuda" if self._share.gpus else "cpu"

    def start(self, make: MakeGroupDecoder[Item, Result]) -> MapGroups[Item, Result]:
        """As ``LocalWorker``; the actors live as long as they have groups, all of which are read first.

        ModelError: later, if workers cannot load the model, load different ones, or die too often.
        """

        def map_groups(groups: Iterable[Sequence[Item]], on_model_loaded: OnModelLoaded | None) -> Pairs[Item, Result]:
            stored = [ray.put(group) for group in groups]
            first: Mapping[str, str] = {}
            for answer in self._answers(make, stored) if stored else ():
                if isinstance(answer, str):
                    raise ModelError(f"a worker cannot load the model: {answer}")
                own, items, results = answer
                if not first:
                    first = own
                    if on_model_loaded is not None:
                        on_model_loaded({name: part for name, part in own.items() if name not in _OF_WORKERS})
                _demand_equal(first, own)
                yield items, results

        return map_groups

    def _answers(self, make: MakeGroupDecoder[Any, Any], groups: Sequence["ray.ObjectRef[Any]"]) -> Iterator[Any]:
        """Yield what the actors return for each group."""
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = 1  # a group's results do not wait for those of others
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        numbers = ray.data.from_items(list(range(len(groups))), override_num_blocks=len(groups))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # no other parameter bounds restarts and retries
            decoded = numbers.map_batches(
                _Worker,
                batch_size=1,
                fn_constructor_args=(make, self._load, self.device, groups),
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

    def __init__(
        self, make: MakeGroupDecoder[Any, Any], load: Load, device: str, groups: Sequence["ray.ObjectRef[Any]"]
    ) -> None:
        self._groups = groups
        self._error = ""
        try:
            model, tokenizer = load(device)
            self._decode = make(model, tokenizer)
        except ToolDecodingError as error:
            self._error = str(error)
            return
        of_worker = dict(zip(_OF_WORKERS, (version("tooldecoding"), socket.gethostname()), strict=True))
        self._own = identify(model, tokenizer) | of_worker

    def __call__(self, batch: Mapping[str, Any]) -> Iterator[dict[str, list[bytes]]]:
        """Yield, for each group: what tells this worker from others, the items, and their results.

        If the model could not be loaded: why.
        """
        if self._error:
            yield {"answer": [pickle.dumps(self._error)]}
            return
        for number in batch["item"]:
            items = ray.get(self._groups[int(number)])
            found = dict(self._decode(items))
            answer = self._own, items, [found[number] for number in range(len(items))]
            yield {"answer": [pickle.dumps(answer)]}


def _demand_equal(first: Mapping[str, str], other: Mapping[str, str]) -> None:
    """ModelError if two workers have other models or versions."""
    if parts := ", ".join(part for part in first if part != "node" and first[part] != other.get(part)):
        raise ModelError(
            f"the workers on {first['node']} and {other['node']} have loaded different models (other {parts}): the "
            "same files and one version of tooldecoding must lie on every node"
        )


def _reason(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:_LONGEST]
