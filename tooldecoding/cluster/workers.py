"""The workers of a command: this process, or actors in a Ray cluster."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.cluster.local_worker import LocalWorker
from tooldecoding.models.loading import Tell, load_quietly, load_tokenizer, quiet
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.options.model_options import RayOptions

if TYPE_CHECKING:
    from tooldecoding.cluster.ray_data import RayWorkers

Workers: TypeAlias = "LocalWorker | RayWorkers"


@contextmanager
def workers_of(options: RayOptions, tell: Tell) -> Iterator[Workers]:
    """Return the workers that the options name; a cluster is left, or ended, with the block.

    ``tell``: as ``load_quietly`` takes it.

    ToolDecodingError if the model cannot be loaded, or there is no such cluster.
    """
    if options.ray is None:
        yield LocalWorker(*load_quietly(options.model, tell=tell, **options.loading))
        return
    from tooldecoding.cluster.connection import connected
    from tooldecoding.cluster.ray_data import RayWorkers

    with quiet(options.model, options.trust_remote_code, tell):
        tokenizer = load_tokenizer(options.model, options.trust_remote_code, revision=options.revision)
    with connected(options.ray):
        model = options.model
        if model != REFERENCE_MODEL and Path(model).exists():
            model = str(Path(model).resolve())  # workers have another working directory
        load = partial(_load, model, options.loading)
        yield RayWorkers(tokenizer, load, options.actors or 1, options.gpus_per_actor)


def _load(model: str, arguments: Mapping[str, Any], device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in a worker; on the device that it got, unless the arguments name another place."""
    if not arguments["device"] and not arguments["device_map"]:
        arguments = {**arguments, "device": device}
    return load_quietly(model, **arguments)
