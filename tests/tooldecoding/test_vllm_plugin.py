"""The plug-in of vLLM, in an application like vLLM's, on an engine client that stands in for vLLM's."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

from running_server import HELLO, body
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import UpstreamError
from tooldecoding.models.loading import load_model
from tooldecoding.upstream.server import Ask
from tooldecoding.upstream.vllm_client import VllmClient
from tooldecoding.upstream.vllm_plugin import ToolDecodingPlugin
from upstream_servers import StandIn

CHAT = "/v1/chat/completions"


class SamplingParams(SimpleNamespace):
    """Takes what it is given, as vLLM's does."""


@pytest.fixture(scope="module", autouse=True)
def vllm() -> Iterator[None]:
    """Two names of vLLM's, which is not installed here."""
    module = ModuleType("vllm.sampling_params")
    vars(module).update(SamplingParams=SamplingParams, RequestOutputKind=SimpleNamespace(DELTA="delta"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "vllm", ModuleType("vllm"))
        patch.setitem(sys.modules, "vllm.sampling_params", module)
        yield


class Client:
    """An engine client: ``given`` are the parameters of its requests, ``aborted`` those that were closed early."""

    errored = False
    model_config = SimpleNamespace(max_model_len=1024)

    def __init__(self, decoder: ToolDecoder) -> None:
        self._model = StandIn("vllm", decoder.model, decoder.tokenizer, "qwen", "reference")
        self.given: list[Any] = []
        self.aborted = 0
        self.error: Exception | None = None

    async def generate(self, prompt: Any, asked: Any, request_id: str) -> AsyncIterator[Any]:
        self.given.append(asked)
        if self.error is not None:
            raise self.error
        allowed, exact = getattr(asked, "allowed_token_ids", ()), getattr(asked, "logprob_token_ids", None)
        is_whole = False
        try:
            for token, found in self._model.steps(prompt["prompt_token_ids"], asked.max_tokens, allowed):
                shown = [token, *(exact or found.topk(asked.logprobs).indices.tolist())]
                place = {each: SimpleNamespace(logprob=float(found[each])) for each in shown}
                yield SimpleNamespace(outputs=[SimpleNamespace(token_ids=[token], logprobs=[place])])
                await asyncio.sleep(0)
            is_whole = True
        finally:
            self.aborted += not is_whole


@pytest.fixture(scope="module")
def own() -> ToolDecoder:
    return ToolDecoder(*load_model("reference"))


@pytest.fixture
def client(own: ToolDecoder) -> Client:
    return Client(own)


def application() -> FastAPI:
    """Routes that echo what reaches them."""
    app = FastAPI()

    @app.post(CHAT)
    @app.post("/v1/responses")
    async def before(request: Request) -> dict[str, Any]:
        return {"before": await request.json()}

    return app


async def asked(client: Client, *requests: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the application answers with the plug-in in it."""
    app, plugin = application(), ToolDecodingPlugin()
    before = list(app.routes)
    plugin.attach_router(app)
    app.router.routes[:] = [*app.routes[len(before) :], *before]  # vLLM puts what a plug-in adds first
    arguments = Namespace(model="reference", tokenizer=None, served_model_name=["qwen"])
    await plugin.init_state(client, app.state, arguments)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http:
        return [(await http.post(path, json=given, timeout=60)).json() for path, given in requests]


def test_requests_with_tools_are_ours_and_all_others_go_on_to_the_route_that_was_there(
    own: ToolDecoder, client: Client
) -> None:
    plain = {"model": "qwen", "messages": HELLO}
    adapter = body(model="adapter")
    response = {"model": "qwen", "input": "Hello"}
    found = asyncio.run(
        asked(client, (CHAT, body(model="qwen", tool_choice="required")), (CHAT, plain), (CHAT, adapter),
              ("/v1/responses", response))
    )  # fmt: skip
    [call] = found[0]["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Rome", "days": 3}'}
    assert found[1:] == [{"before": plain}, {"before": adapter}, {"before": response}]
    assert all(each.temperature == 0 and each.output_kind == "delta" for each in client.given)


def test_what_nobody_follows_is_aborted_in_the_engine(client: Client) -> None:
    async def first() -> int:
        steps = VllmClient(client, "qwen").go_on(Ask([5, 9, 7], 64))
        step = await anext(aiter(steps))
        await steps.aclose()  # type: ignore[attr-defined]
        return step.token

    assert isinstance(asyncio.run(first()), int)
    assert client.aborted == 1


@pytest.mark.parametrize(("errored", "said"), [(False, "refused a request: too long"), (True, "engine has stopped")])
def test_errors_of_the_engine_are_told(client: Client, errored: bool, said: str) -> None:
    client.error, client.errored = (RuntimeError("dead") if errored else ValueError("too long")), errored

    async def ask() -> None:
        async for _ in VllmClient(client, "qwen").go_on(Ask([5], 1)):
            pass

    with pytest.raises(UpstreamError, match=said):
        asyncio.run(ask())


def test_an_engine_that_writes_nothing_is_not_asked_for_ever(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client._model, "steps", lambda ids, most, allowed: iter(()))
    [answer] = asyncio.run(asked(client, (CHAT, body(model="qwen", tool_choice="required"))))
    assert answer["error"]["code"] == "upstream_failed" and "wrote nothing" in answer["error"]["message"]


def test_wrong_options_are_told_at_the_start(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "own.yaml").write_text("order_limits: 4\n")
    monkeypatch.setenv("TOOLDECODING_CONFIG", str(tmp_path / "own.yaml"))
    with pytest.raises(Exception, match="order_limit"):
        asyncio.run(asked(client))
