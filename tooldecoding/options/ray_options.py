"""Options of commands that can spread their work over a Ray cluster."""

from dataclasses import dataclass

from tooldecoding.errors import ConfigError
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import option
from tooldecoding.options.values import Count, NotNegative


@dataclass(frozen=True)
class RayOptions(ModelOptions):
    """The model, how it runs, and where.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds, or if ``ray`` and ``actors`` are not given together.
    """

    ray: str | None = option(
        None,
        "Spread the work over a Ray cluster: local starts one on this machine, auto joins the one that runs on it.",
        metavar="local|auto|HOST:PORT",
        expected="local, auto or the address HOST:PORT of a cluster",
    )
    actors: Count | None = option(None, "Workers in the cluster; each loads the model.", metavar="N")
    gpus_per_actor: NotNegative | None = option(
        None,
        "GPUs of each worker; workers share one with 0.5.",
        metavar="G",
        default_text="1 if the cluster has one for each worker, else 0",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {"--actors": self.actors, "--gpus-per-actor": self.gpus_per_actor}
        for flag, value in given.items():
            if self.ray is None and value is not None:
                raise ConfigError(f"{flag} is for a Ray cluster; name it with --ray local, auto or HOST:PORT")
        if self.ray is not None and self.actors is None:
            raise ConfigError("--ray needs the number of workers: --actors N")
        gpus = self.gpus_per_actor or 0
        if gpus > 1 and gpus != int(gpus):
            raise ConfigError(f"--gpus-per-actor: expected a whole number or a share of one GPU, got {gpus:g}")
