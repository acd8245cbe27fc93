"""The options of ``tooldecoding serve``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field as Bounds

from tooldecoding.options.decode_options import PROMPT_CACHE_MB
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import Count, CountOrNone, Positive, option

KEY_VARIABLE: Final = "TOOLDECODING_API_KEY"
"""The environment's variable that may hold the key: other users of a machine see command lines."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
"""Hosts that only this machine reaches."""

_AT_ONCE: Final = 8
_AT_UPSTREAM: Final = 64
"""A server that runs the model has its own queue."""


@dataclass(frozen=True)
class ServeCommand(ModelOptions):
    """Everything that ``tooldecoding serve`` can be told; what decodes do unless a request says otherwise, too.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds.
    """

    served_model_name: tuple[Annotated[str, Bounds(min_length=1)], ...] = option(
        (),
        "Name by which requests ask for the model; answers have the first one.",
        metavar="NAME",
        default_text="the last part of --model",
    )
    host: str = option("127.0.0.1", "Address to listen on; the default is reached from this machine only.")
    port: Annotated[int, Bounds(ge=0, le=65535)] = option(8000, "Port to listen on; 0 takes a free one.")
    api_key: Annotated[str, Bounds(min_length=1)] | None = option(
        None,
        "Key that clients must send, as Authorization: Bearer KEY.",
        metavar="KEY",
        default_text=f"the environment's {KEY_VARIABLE}; none if there is none",
    )
    max_batch: Count | None = option(
        None, "Most requests that are decoded together.", default_text=f"{_AT_ONCE}; {_AT_UPSTREAM} with --upstream"
    )
    queue: CountOrNone = option(64, "Most requests that wait; more get status 429.")
    kv_cache_mb: Count = option(4096, "MiB for the KV caches of the requests that are decoded together.")
    prompt_cache_mb: CountOrNone = option(PROMPT_CACHE_MB, "MiB for KV caches of former prompts; 0 for none.")
    timeout: Positive = option(600.0, "Seconds after which a request is given up, with its time in the queue.")
    max_body_mb: Count = option(8, "Most MiB of a request's body.")
    log_prompts: bool = option(False, "Write the prompts to the log.")

    @property
    def most_at_once(self) -> int:
        """Most requests that are decoded together."""
        return self.max_batch or (_AT_ONCE if self.upstream is None else _AT_UPSTREAM)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names by which the model is shown; answers have the first one."""
        return self.served_model_name or (Path(self.model).absolute().name or self.model,)
