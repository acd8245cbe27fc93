"""Which server answers at an address, and the tokenizer and configuration of the model that it runs."""

from collections.abc import Callable
from typing import Any, Final

import httpx
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from tooldecoding.errors import ModelError, UpstreamError
from tooldecoding.models.upstream import (
    PROBE,
    UpstreamModel,
    answer,
    demand_same_tokens,
    first_step,
    small_config,
    with_context,
)
from tooldecoding.upstream.http import Description, HttpUpstream, TryAgain
from tooldecoding.upstream.llama_server import LlamaServer
from tooldecoding.upstream.sglang import SglangServer
from tooldecoding.upstream.vllm import VllmServer

_KINDS: Final[tuple[type[HttpUpstream], ...]] = (SglangServer, LlamaServer, VllmServer)
Read = Callable[[str], tuple[PreTrainedConfig | None, PreTrainedTokenizerBase]]
"""Reads the configuration and the tokenizer of a model by its folder, hub id or file."""


def load_upstream(address: str, read: Read, source: str | None = None, **arguments: Any) -> tuple[Any, Any]:
    """Return the model that a server runs, and its tokenizer.

    Parameters
    ----------
    address : str
        As ``http://host:8000``.
    read : callable
        Reads configuration and tokenizer; ModelError if that fails.
    source : str, optional
        Where they are. Default: what the server says.
    **arguments
        Of ``HttpUpstream``: ``model``, ``key``, ``timeout``, ``patience``.

    Raises
    ------
    UpstreamError
        If nobody answers, no known server does, it does not tell tokens, or has another tokenizer.
    """
    if not address.startswith(("http://", "https://")):
        raise UpstreamError(f"expected an address as http://host:8000, got {address!r:.80}")
    server, said = find_server(address, **arguments)
    try:
        config, tokenizer = read(source or said.source)
    except ModelError as error:
        raise UpstreamError(
            f"{server.kind} at {server.address} serves {said.source!r}, whose tokenizer cannot be read here ({error}); "
            "give --model with a folder, hub id or file that has it"
        ) from None
    demand_same_tokens(server, answer(server, server.tokens_of(PROBE)), tokenizer)
    answer(server, first_step(server, tokenizer.encode(PROBE, add_special_tokens=False)))
    return UpstreamModel(server, with_context(config or small_config(tokenizer), said.context)), tokenizer


def find_server(address: str, **arguments: Any) -> tuple[HttpUpstream, Description]:
    """Return the server at an address, and what it says of its model; UpstreamError if it is of no known kind."""
    for kind in _KINDS:
        server = kind(address, **arguments)
        try:
            said = answer(server, server.describe())
        except (httpx.HTTPError, httpx.InvalidURL, TryAgain) as error:
            raise UpstreamError(f"no server answers at {address} ({error or type(error).__name__})") from None
        if said is not None:
            return server, said
    known = ", ".join(kind.kind for kind in _KINDS)
    raise UpstreamError(f"what answers at {address} is none of {known}")
