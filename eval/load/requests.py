"""The requests of a load, drawn with a seed: short and long, calls and text, streamed and not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from eval.load.topics import TOPICS

_TURNS: Final = 20
"""Earlier questions, with their answers, in a long request."""
_MOST_TEXT: Final = (16, 48)
_MOST_AUTO: Final = 64
_PATIENCE: Final = 0.2
"""Most seconds that a client waits which hangs up."""


@dataclass(frozen=True)
class LoadRequest:
    """One request.

    Attributes
    ----------
    number : int
    body : mapping
        In OpenAI's shape; greedy.
    patience : float or None
        Seconds after which its client hangs up while it waits; None if it waits.
    leaves_stream : bool
        Whether its client hangs up behind the first piece of a stream.
    """

    number: int
    body: Mapping[str, Any]
    patience: float | None = None
    leaves_stream: bool = False

    @property
    def is_streamed(self) -> bool:
        """Whether the answer is asked for as a stream."""
        return bool(self.body.get("stream"))

    @property
    def must_call(self) -> bool:
        """Whether the answer is a call, whose pieces come together at its end."""
        return self.body.get("tool_choice") == "required"

    def patient(self) -> "LoadRequest":
        """Return the same request of a client that stays."""
        return replace(self, patience=None, leaves_stream=False)


def draw_requests(model: str, count: int, gone: float, long: float, seed: int) -> list[LoadRequest]:
    """Return requests.

    Parameters
    ----------
    model : str
        As the server names it.
    gone, long : float
        Shares whose client hangs up, and that are long; exact, up to rounding.
    """
    rng = Random(seed)
    leaving = set(rng.sample(range(count), round(gone * count)))
    lengthy = set(rng.sample(range(count), round(long * count)))
    return [
        _leaving(LoadRequest(number, _body(model, number in lengthy, rng)), number in leaving, rng)
        for number in range(count)
    ]


def free_text(model: str, content: str, most_tokens: int) -> dict[str, Any]:
    """Return the body of a request for text without tools, streamed."""
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": 0,
        "max_tokens": most_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def long_text(rng: Random, characters: int) -> str:
    """Return sentences of that length together."""
    text = ""
    while len(text) < characters:
        text += rng.choice(TOPICS).ask(rng) + " "
    return text[:characters]


def _leaving(request: LoadRequest, leaves: bool, rng: Random) -> LoadRequest:
    patience = rng.uniform(0, _PATIENCE)
    if not leaves:
        return request
    if request.is_streamed and not request.must_call:
        return replace(request, leaves_stream=True)
    return replace(request, patience=patience)


def _body(model: str, is_long: bool, rng: Random) -> dict[str, Any]:
    topics = list(TOPICS) if is_long else rng.sample(TOPICS, rng.randint(1, 3))
    messages = []
    for _ in range(_TURNS if is_long else 0):
        messages.append({"role": "user", "content": rng.choice(topics).ask(rng)})
        messages.append({"role": "assistant", "content": f"I have noted it. {rng.choice(topics).ask(rng)}"})
    messages.append({"role": "user", "content": rng.choice(topics).ask(rng)})
    body: dict[str, Any] = {"model": model, "messages": messages, "tools": [topic.tool for topic in topics]}
    body |= {"temperature": 0, **_choice(rng)}
    return body | ({"stream": True, "stream_options": {"include_usage": True}} if rng.random() < 0.5 else {})


def _choice(rng: Random) -> dict[str, Any]:
    """Return whether a call or text is asked for; text has a limit, as small models do not end it themselves."""
    match rng.choice(("required", "required", "required", "auto", "none")):
        case "none":
            return {"tool_choice": "none", "max_tokens": rng.randint(*_MOST_TEXT)}
        case "auto":
            return {"tool_choice": "auto", "max_tokens": _MOST_AUTO}
        case choice:
            return {"tool_choice": choice}
