"""llama.cpp's llama-server over HTTP: its native ``/completion``."""

from collections.abc import Mapping
from typing import Any, Final

from tooldecoding.errors import UpstreamError
from tooldecoding.upstream.http import Description, HttpUpstream
from tooldecoding.upstream.server import Ask, Step

_BIAS: Final = 1e4
"""What is added to the logits of tokens that alone may be taken; probabilities are told without it."""
_MANY: Final = 2048
"""Where the probabilities of single tokens are wanted, they are looked for among so many of the likeliest."""


class LlamaServer(HttpUpstream):
    """See HttpUpstream. It cannot be asked for single tokens, so they are looked for among many.

    What is not among the 2,048 likeliest counts as the least likely of these: too likely, and by no more than that.
    """

    kind = "llama-server"
    path = "/completion"
    likeliest = 40
    most_exact = 64

    def _body(self, ask: Ask) -> dict[str, Any]:
        body = {
            "prompt": list(ask.tokens),
            "n_predict": ask.most,
            "temperature": 0.0,
            "n_probs": _MANY if ask.exact else self.likeliest,
            "cache_prompt": True,
            "return_tokens": True,
            "stream": True,
        }
        return body | ({"logit_bias": [[token, _BIAS] for token in ask.allowed]} if ask.allowed else {})

    def _steps(self, event: Mapping[str, Any], ask: Ask, seen: int) -> list[Step]:
        steps = []
        for place in event.get("completion_probabilities") or ():
            found = {int(each["id"]): float(each["logprob"]) for each in place["top_logprobs"]}
            if ask.exact:
                least = min(found.values(), default=0.0)
                found = {token: found.get(token, least) for token in ask.exact}
            steps.append(Step(int(place["id"]), found | {int(place["id"]): float(place["logprob"])}))
        return steps

    async def demand_same(self) -> None:
        """See HttpUpstream."""
        name = ((await self.get("/props")) or {}).get("model_path")
        if self.model and name and name != self.model:
            raise UpstreamError(f"{self.kind} at {self.address} serves {name} now, and {self.model!r} before")

    async def tokens_of(self, text: str) -> list[int] | None:
        """See HttpUpstream."""
        found = await self.get("/tokenize", {"content": text, "add_special": False, "parse_special": True})
        return found.get("tokens") if isinstance(found, dict) else None

    async def describe(self) -> Description | None:
        """See HttpUpstream."""
        said = await self.get("/props")
        if not isinstance(said, dict) or "model_path" not in said:
            return None
        self.model = str(said["model_path"])
        cards = await self.get("/v1/models")
        name = cards["data"][0]["id"] if isinstance(cards, dict) and cards.get("data") else self.model
        context = (said.get("default_generation_settings") or {}).get("n_ctx")
        return Description(self.model, str(name), context)
