"""vLLM over HTTP: ``/inference/v1/generate``, which ``--enable-scale-out`` switches on."""

from collections.abc import Mapping
from typing import Any, Final

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.http import Description, HttpUpstream
from tooldecoding.upstream.server import Ask, Step

MOST_EXACT: Final = 127
"""vLLM's own limit of ``logprob_token_ids`` is one more."""
LIKELIEST: Final = 20
"""What vLLM gives unless ``--max-logprobs`` says otherwise."""


def sampling_params(ask: Ask, likeliest: int) -> dict[str, Any]:
    """Return vLLM's parameters of a request."""
    parameters: dict[str, Any] = {"temperature": 0.0, "max_tokens": ask.most, "detokenize": False}
    if ask.exact:
        # the token that is taken comes first, and as many are told as were asked for: the last one may be lost
        ids = [*ask.exact, next(token for token in range(len(ask.exact) + 1) if token not in ask.exact)]
        return {**parameters, "logprobs": len(ids), "logprob_token_ids": ids}
    if ask.allowed:
        parameters["allowed_token_ids"] = list(ask.allowed)
    return {**parameters, "logprobs": likeliest}


class VllmServer(HttpUpstream):
    """See HttpUpstream."""

    kind = "vLLM"
    path = "/inference/v1/generate"
    likeliest = LIKELIEST
    most_exact = MOST_EXACT

    def _body(self, ask: Ask) -> dict[str, Any]:
        parameters = sampling_params(ask, self.likeliest)
        body = {"token_ids": list(ask.tokens), "sampling_params": parameters, "stream": True}
        return body | ({"model": self.model} if self.model else {})

    def _steps(self, event: Mapping[str, Any], ask: Ask, seen: int) -> list[Step]:
        steps = []
        for choice in event["choices"]:
            for place in (choice["logprobs"] or {"content": []})["content"] or ():
                found = {int(each["token_id"]): float(each["logprob"]) for each in place["top_logprobs"]}
                steps.append(Step(int(place["token_id"]), found | {int(place["token_id"]): float(place["logprob"])}))
        return steps

    async def demand_same(self) -> None:
        """See HttpUpstream."""
        cards = await self.get("/v1/models")
        names = [card.get("id") for card in (cards or {}).get("data", ())]
        if self.model and names and self.model not in names:
            raise UpstreamError(
                f"{self.kind} at {self.address} serves {', '.join(map(str, names))} now, and {self.model!r} before"
            )

    async def tokens_of(self, text: str) -> list[int] | None:
        """Return the server's tokens of a text; None if it does not tell."""
        found = await self.get("/tokenize", {"model": self.model, "prompt": text, "add_special_tokens": False})
        return found.get("tokens") if isinstance(found, dict) else None

    async def describe(self) -> Description | None:
        """See HttpUpstream."""
        cards = await self.get("/v1/models")
        version = await self.get("/version")
        if not isinstance(cards, dict) or not isinstance(version, dict) or not cards.get("data"):
            return None
        named = [card for card in cards["data"] if card.get("id") == self.model] or cards["data"]
        if self.model and named[0].get("id") != self.model:
            known = ", ".join(str(card.get("id")) for card in cards["data"])
            raise UpstreamError(f"{self.kind} at {self.address} serves no model {self.model!r}; it serves {known}")
        card = named[0]
        self.model = str(card.get("id"))
        return Description(str(card.get("root") or self.model), self.model, card.get("max_model_len"))
