"""Options of commands that can spread their work over a Ray cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tooldecoding.errors import ConfigError
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import Count, NotNegative, option


def demand_cluster(ray: str | None, word: str, count: int | None, gpus: float | None) -> None:
    """ConfigError unless a cluster and the number of its workers are given together, with GPUs that can be shared.

    Parameters
    ----------
    word : str
        What the options call the workers: ``actors``.
    """
    gpus_flag = f"--gpus-per-{word.removesuffix('s')}"
    for flag, value in {f"--{word}": count, gpus_flag: gpus}.items():
        if ray is None and value is not None:
            raise ConfigError(f"{flag} is for a Ray cluster; name it with --ray local, auto or HOST:PORT")
    if ray is not None and count is None:
        raise ConfigError(f"--ray needs the number of workers: --{word} N")
    if gpus is not None and gpus > 1 and gpus != int(gpus):
        raise ConfigError(f"{gpus_flag}: expected a whole number or a share of one GPU, got {gpus:g}")


RAY_HELP: Final = "a Ray cluster: local starts one on this machine, auto joins the one that runs on it."
RAY_VALUES: Final[Mapping[str, Any]] = {
    "metavar": "local|auto|HOST:PORT",
    "expected": "local, auto or the address HOST:PORT of a cluster",
}


@dataclass(frozen=True)
class RayOptions(ModelOptions):
    """The model, how it runs, and where.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds, or if ``ray`` and ``actors`` are not given together.
    """

    ray: str | None = option(None, f"Spread the work over {RAY_HELP}", **RAY_VALUES)
    actors: Count | None = option(None, "Workers in the cluster; each loads the model.", metavar="N")
    gpus_per_actor: NotNegative | None = option(
        None,
        "GPUs of each worker; workers share one with 0.5.",
        metavar="G",
        default_text="1 if the cluster has one for each worker, else 0",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_cluster(self.ray, "actors", self.actors, self.gpus_per_actor)
