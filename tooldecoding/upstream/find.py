"""Which server answers at an address, and the tokenizer and configuration of the model that it runs."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import httpx
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from tooldecoding.errors import ModelError, UpstreamError
from tooldecoding.models.upstream import UpstreamModel, small_config, with_context
from tooldecoding.upstream.http import Description, HttpUpstream, TryAgain
from tooldecoding.upstream.llama_server import LlamaServer
from tooldecoding.upstream.server import Ask, Upstream
from tooldecoding.upstream.sglang import SglangServer
from tooldecoding.upstream.vllm import VllmServer

T = TypeVar("T")

_PROBE: Final = 'Grüße, 12.5 €!\n{"name": "get_weather", "arguments": {"city": "東京"}}'
"""A text of which two tokenizers hardly make the same tokens."""

_KINDS: Final[tuple[type[HttpUpstream], ...]] = (SglangServer, LlamaServer, VllmServer)
Read = Callable[[str], tuple[PreTrainedConfig | None, PreTrainedTokenizerBase]]
"""Reads the configuration and the tokenizer of a model by its folder, hub id or file."""


def load_upstream(
    address: str, read: Read, source: str | None = None, **arguments: Any
) -> tuple[UpstreamModel, PreTrainedTokenizerBase]:
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
    _demand_same_tokens(server, _answer(server, server.tokens_of(_PROBE)), tokenizer)
    _answer(server, _first_step(server, tokenizer.encode(_PROBE, add_special_tokens=False)))
    return UpstreamModel(server, with_context(config or small_config(tokenizer), said.context), said.name), tokenizer


def find_server(address: str, **arguments: Any) -> tuple[HttpUpstream, Description]:
    """Return the server at an address, and what it says of its model; UpstreamError if it is of no known kind."""
    for kind in _KINDS:
        server = kind(address, **arguments)
        try:
            said = _answer(server, server.describe())
        except (httpx.HTTPError, httpx.InvalidURL, TryAgain) as error:
            raise UpstreamError(f"no server answers at {address} ({error or type(error).__name__})") from None
        if said is not None:
            return server, said
    known = ", ".join(kind.kind for kind in _KINDS)
    raise UpstreamError(f"what answers at {address} is none of {known}")


def _answer(server: Upstream, asked: Coroutine[Any, Any, T]) -> T:
    """Return what is asked in the loop of a server."""
    return asyncio.run_coroutine_threadsafe(asked, server.loop).result()


async def _first_step(server: Upstream, tokens: list[int]) -> None:
    """UpstreamError unless the server goes on behind tokens and tells log-probabilities."""
    async for step in server.go_on(Ask(tokens, 1)):
        if len(step.logprobs) > 1:
            return
    raise UpstreamError(f"{server.kind} at {server.address} tells no log-probabilities of tokens")


def _demand_same_tokens(server: Upstream, found: list[int] | None, tokenizer: PreTrainedTokenizerBase) -> None:
    """UpstreamError if the server makes other tokens of a text than the tokenizer that is read here."""
    own = tokenizer.encode(_PROBE, add_special_tokens=False)
    if found is not None and list(found) != list(own):
        raise UpstreamError(
            f"{server.kind} at {server.address} has another tokenizer than {tokenizer.name_or_path!r}; "
            "give --model with the folder, hub id or file of the model that it serves"
        )
