"""SGLang over HTTP: its native ``/generate``."""

from collections.abc import Mapping
from typing import Any

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.http import Description, HttpUpstream
from tooldecoding.upstream.server import Ask, Step


class SglangServer(HttpUpstream):
    """See HttpUpstream. Where tokens are restricted by a bias, its log-probabilities are those with the bias."""

    kind = "SGLang"
    path = "/generate"
    likeliest = 20
    most_exact = 1 << 20
    restricts = False

    def _body(self, ask: Ask) -> dict[str, Any]:
        body: dict[str, Any] = {"input_ids": list(ask.tokens), "return_logprob": True, "stream": True}
        if ask.exact:
            body["token_ids_logprob"] = list(ask.exact)
        else:
            body["top_logprobs_num"] = self.likeliest
        return {**body, "sampling_params": {"temperature": 0.0, "max_new_tokens": ask.most}}

    def _steps(self, event: Mapping[str, Any], ask: Ask, seen: int) -> list[Step]:
        """Its events repeat all that came before, unless the server was told to tell what is new alone."""
        said = event["meta_info"]
        taken = said["output_token_logprobs"]
        beside = said.get("output_token_ids_logprobs" if ask.exact else "output_top_logprobs") or [()] * len(taken)
        repeats = int(said.get("completion_tokens", len(taken))) == len(taken)
        steps = []
        for own, others in list(zip(taken, beside, strict=True))[seen if repeats else 0 :]:
            found = {int(token): float(logprob) for logprob, token, *_ in others or ()}
            steps.append(Step(int(own[1]), found | {int(own[1]): float(own[0])}))
        return steps

    async def demand_same(self) -> None:
        """See HttpUpstream."""
        name = ((await self.get("/get_model_info")) or {}).get("model_path")
        if self.model and name and name != self.model:
            raise UpstreamError(f"{self.kind} at {self.address} serves {name} now, and {self.model!r} before")

    async def tokens_of(self, text: str) -> list[int] | None:
        """See HttpUpstream."""
        found = await self.get("/tokenize", {"model": self.model, "prompt": text, "add_special_tokens": False})
        return found.get("tokens") if isinstance(found, dict) else None

    async def describe(self) -> Description | None:
        """See HttpUpstream."""
        said = await self.get("/get_model_info")
        if not isinstance(said, dict) or "model_path" not in said:
            return None
        info = await self.get("/get_server_info")
        self.model = str(said["model_path"])
        context = info.get("context_length") if isinstance(info, dict) else None
        return Description(str(said.get("tokenizer_path") or self.model), self.model, context)
