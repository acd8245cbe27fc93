"""Stand-ins for vLLM, SGLang and llama-server: their protocols, in front of a model of this process."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from running_server import wait_until

KINDS = ("vllm", "sglang", "llama-server")
Row = dict[str, Any]


@dataclass
class StandIn:
    """A server of one kind.

    Attributes
    ----------
    address : str
    asked : list of dict
        The requests for tokens so far.
    written : int
        Tokens that were sent.
    left : int
        Requests that their client gave up.
    refuse : list of int
        Statuses with which the next requests are refused.
    breaks : list of int
        Behind so many tokens the streams of the next requests break off.
    pace : float
        Seconds for a token.
    """

    kind: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    source: str
    address: str = ""
    asked: list[Row] = field(default_factory=list)
    written: int = 0
    left: int = 0
    refuse: list[int] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    pace: float = 0.0
    passed: list[tuple[str, str, bytes]] = field(default_factory=list)

    def steps(self, ids: Sequence[int], most: int, allowed: Sequence[int]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield tokens, each with the log-probabilities at its place, up to the end of the turn."""
        end, cache, fed = self.tokenizer.eos_token_id, None, list(ids)
        for _ in range(most):
            with torch.no_grad():
                found = self.model(input_ids=torch.tensor([fed]), past_key_values=cache, use_cache=True)
            cache, logprobs = found.past_key_values, found.logits[0, -1].float().log_softmax(-1)
            token = int(logprobs.argmax())
            if allowed:
                token = max(allowed, key=lambda each: float(logprobs[each]))
            yield token, logprobs
            if token == end:
                return
            fed = [token]


def application(server: StandIn) -> FastAPI:
    """The routes of a server."""
    app = FastAPI()
    chat = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Grüße"}}]}

    async def events(rows: Iterator[tuple[Row, bool]]) -> AsyncIterator[bytes]:
        broken, is_whole = server.breaks.pop(0) if server.breaks else None, False
        try:
            for number, (row, counts) in enumerate(rows):
                if number == broken:
                    raise ConnectionResetError
                server.written += counts
                yield f"data: {json.dumps(row)}\n\n".encode()
                await asyncio.sleep(server.pace)
            is_whole = True
            yield b"data: [DONE]\n\n"
        finally:
            server.left += not is_whole

    def streamed(given: Row, rows: Iterator[tuple[Row, bool]]) -> Response:
        server.asked.append(given)
        if server.refuse:
            return JSONResponse({"error": "not now"}, server.refuse.pop(0))
        return StreamingResponse(events(rows), media_type="text/event-stream")

    @app.post("/v1/chat/completions")
    @app.post("/v1/completions")
    @app.get("/other")
    async def others(request: Request) -> Response:
        server.passed.append((request.method, request.url.path, await request.body()))
        return JSONResponse(chat, headers={"X-Own": "1"})

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(f'vllm:generation_tokens_total{{model_name="qwen"}} {server.written}.0\n')

    @app.get("/v1/models")
    async def models() -> Row:
        return {"data": [{"id": server.name, "root": server.source, "max_model_len": 1024}]}

    @app.post("/tokenize")
    async def tokenize(given: Row) -> Row:
        text = given.get("prompt", given.get("content"))
        return {"tokens": server.tokenizer.encode(text, add_special_tokens=False)}

    if server.kind == "vllm":

        @app.get("/version")
        async def version() -> Row:
            return {"version": "0.32.0"}

        @app.post("/inference/v1/generate")
        async def generate(given: Row) -> Response:
            asked = given["sampling_params"]
            exact, allowed = asked.get("logprob_token_ids"), asked.get("allowed_token_ids", ())
            if exact is not None and (len(exact) > 128 or asked["logprobs"] != len(exact)):
                return JSONResponse({"error": "logprobs"}, 400)

            def rows() -> Iterator[tuple[Row, bool]]:
                for token, found in server.steps(given["token_ids"], asked["max_tokens"], allowed):
                    others = exact or found.topk(asked["logprobs"]).indices.tolist()
                    most = asked["logprobs"] + (exact is None)  # of those that are asked for, vLLM loses the last one
                    shown = list(dict.fromkeys([token, *others]))[:most]
                    top = [{"token_id": each, "logprob": float(found[each]), "rank": 1} for each in shown]
                    place = {"token_id": token, "logprob": float(found[token]), "top_logprobs": top}
                    yield {"choices": [{"token_ids": [token], "logprobs": {"content": [place]}}]}, True

            return streamed(given, rows())

    elif server.kind == "sglang":

        @app.get("/get_model_info")
        async def info() -> Row:
            return {"model_path": server.name, "tokenizer_path": server.source}

        @app.get("/get_server_info")
        async def about() -> Row:
            return {"context_length": 1024}

        @app.post("/generate")
        async def native(given: Row) -> Response:
            asked = given["sampling_params"]
            allowed = [*map(int, asked.get("logit_bias", {}))]

            def rows() -> Iterator[tuple[Row, bool]]:
                taken: list[Any] = []
                beside: list[Any] = []
                for token, found in server.steps(given["input_ids"], asked["max_new_tokens"], allowed):
                    taken.append([float(found[token]), token, None])
                    shown = given.get("token_ids_logprob") or found.topk(given.get("top_logprobs_num", 0)).indices
                    beside.append([[float(found[int(each)]), int(each), None] for each in shown])
                    name = "output_token_ids_logprobs" if "token_ids_logprob" in given else "output_top_logprobs"
                    said = {"output_token_logprobs": taken, name: beside, "completion_tokens": len(taken)}
                    yield {"text": "", "meta_info": said}, True

            return streamed(given, rows())

    else:

        @app.get("/props")
        async def props() -> Row:
            return {"model_path": server.source, "default_generation_settings": {"n_ctx": 1024}}

        @app.post("/completion")
        async def completion(given: Row) -> Response:
            allowed = [token for token, _ in given.get("logit_bias", ())]

            def rows() -> Iterator[tuple[Row, bool]]:
                for token, found in server.steps(given["prompt"], given["n_predict"], allowed):
                    shown = found.topk(min(given["n_probs"], len(found))).indices.tolist()
                    top = [{"id": each, "logprob": float(found[each])} for each in shown]
                    place = {"id": token, "logprob": float(found[token]), "top_logprobs": top}
                    yield {"tokens": [token], "stop": False, "completion_probabilities": [place]}, True
                yield {"tokens": [], "stop": True}, False

            return streamed(given, rows())

    return app


@contextmanager
def standing_in(
    kind: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, source: str, name: str = "qwen"
) -> Iterator[StandIn]:
    """A server on a free port, inside the block."""
    server = StandIn(kind, model, tokenizer, name, source)
    web = uvicorn.Server(uvicorn.Config(application(server), log_level="critical"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: web.started)
        try:
            yield server
        finally:
            web.should_exit = True
            thread.join(60)
