"""vLLM in its own process: what is asked goes straight to the engine's client, without HTTP."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.server import Ask, Step, Upstream
from tooldecoding.upstream.vllm import LIKELIEST, MOST_EXACT, sampling_params


class VllmClient(Upstream):
    """See Upstream. Made in the event loop of vLLM's API server.

    Parameters
    ----------
    client : vllm.engine.protocol.EngineClient
    model : str
        Name under which vLLM serves the model.
    """

    kind = "vLLM"
    address = "this process"
    likeliest = LIKELIEST
    most_exact = MOST_EXACT

    def __init__(self, client: Any, model: str) -> None:
        self.model = model
        self.loop = asyncio.get_running_loop()
        self._client = client

    async def go_on(self, ask: Ask) -> AsyncIterator[Step]:
        """See Upstream."""
        from vllm.sampling_params import RequestOutputKind, SamplingParams

        parameters = SamplingParams(**sampling_params(ask, self.likeliest), output_kind=RequestOutputKind.DELTA)
        prompt = {"prompt_token_ids": list(ask.tokens)}
        try:
            outputs = self._client.generate(prompt, parameters, f"tooldecoding-{uuid.uuid4().hex}")
            async with aclosing(outputs) as coming:
                async for output in coming:
                    for choice in output.outputs:
                        for token, place in zip(choice.token_ids, choice.logprobs or (), strict=False):
                            yield Step(int(token), {int(each): float(p.logprob) for each, p in place.items()})
        except ValueError as error:
            raise UpstreamError(f"vLLM refused a request: {error}") from None
        except Exception as error:
            if self._client.errored:
                raise UpstreamError(f"vLLM's engine has stopped: {error}") from None
            raise
