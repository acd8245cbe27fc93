"""A server of the page with canned answers, in the shape of the API."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tooldecoding.server.page.page import page

MODEL = "reference"


@dataclass(frozen=True)
class Answer:
    """One response."""

    body: bytes | dict[str, Any]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Stub:
    """What the server answers next, and what it was asked; an answer of None hangs up."""

    url: str
    answers: list[Answer | None] = field(default_factory=list)
    models: Answer = field(default_factory=lambda: Answer({"object": "list", "data": [{"id": MODEL}]}))
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    @property
    def sent(self) -> list[Any]:
        """The bodies of the completions asked for."""
        return [body for path, _, body in self.requests if path == "/v1/chat/completions"]


@contextmanager
def serving() -> Iterator[Stub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.stub = Stub(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.stub  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.note(None)
        match self.path:
            case "/":
                body, headers = page()
                self.reply(Answer(body, headers=headers))
            case "/v1/models":
                self.reply(self.server.stub.models)
            case _:
                self.reply(Answer({}, 404))

    def do_POST(self) -> None:
        self.note(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if answer := self.server.stub.answers.pop(0):
            self.reply(answer)

    def note(self, body: Any) -> None:
        self.server.stub.requests.append((self.path, dict(self.headers), body))

    def reply(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in ({"Content-Type": "application/json"} | answer.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: Any) -> None:
        pass


def tokens(*labelled: tuple[str, str]) -> list[dict[str, str]]:
    return [{"text": text, "label": label} for text, label in labelled]


def completion(
    calls: list[dict[str, Any]],
    candidates: list[dict[str, Any]],
    text: list[dict[str, str]] | None = None,
    arguments: dict[str, Any] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """A completion whose calls have the voted values, or these arguments."""
    tool_calls = [
        {
            "id": f"call_{i}",
            "type": "function",
            "function": {
                "name": call["name"],
                "arguments": json.dumps(arguments or {p["name"]: p["value"] for p in call["parameters"]}),
            },
        }
        for i, call in enumerate(calls)
    ]
    message = {"role": "assistant", "content": "".join(t["text"] for t in text or []) or None, "tool_calls": tool_calls}
    counters = {
        "forward_passes": 21, "positions": 300, "reused_positions": 120, "padding": 0, "forced_tokens": 12,
        "constrained_tokens": 2, "free_tokens": 9, "cache_bytes": 1000, "seconds": 0.41, "phases": {},
    }  # fmt: skip
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 23, "total_tokens": 123},
        "tooldecoding": {
            "valid": True, "errors": [], "format": "hermes", "calls": calls, "candidates": candidates,
            "tokens": text or [], "counters": counters,
        } | extra,
    }  # fmt: skip


def parameter(name: str, value: Any, votes: int, of: int, unsure: bool = False, **more: Any) -> dict[str, Any]:
    share = votes / of
    return {"name": name, "value": value, "votes": votes, "share": share, "logprob": -0.02, "confidence": 0.9 * share,
            "truncated": False, "needs_confirmation": unsure} | more  # fmt: skip


def candidate(name: str, *values: tuple[str, str]) -> dict[str, Any]:
    """A candidate of call 0 with these keys and values, in this order."""
    written = [(name, "constrained"), ("(", "forced")]
    for i, (key, value) in enumerate(values):
        written += [(f", {key}=" if i else f"{key}=", "forced"), (value, "free")]
    written.append((")", "forced"))
    text = "".join(text for text, _ in written)
    return {"call": 0, "order": [key for key, _ in values], "text": text, "tokens": tokens(*written)}


HOSTILE = (
    "<img src=x onerror=\"document.title='executed'\">",
    "</script><script>document.title='executed'</script>",
    "javascript:document.title='executed'",
    "\u202eevil\u202c \u2067rtl\u2069",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "x" * 10_000,
    "__proto__",
    "天气预报是什么样的呢" * 12,
    "ما هو الطقس في روما اليوم؟ " * 6,
)


def hostile() -> dict[str, Any]:
    """Each hostile text as a key, a value, a token, a label, an error and an order."""
    call = {
        "name": HOSTILE[0],
        "orders_used": 2,
        "orders_possible": 2,
        "parameters": [
            *(parameter(text, text, 1, 2, unsure=True, truncated=True) for text in HOSTILE),
            parameter("nested", {"__proto__": {"polluted": True}, "constructor": [HOSTILE[1]]}, 2, 2),
        ],
    }
    pairs = tuple((text, text) for text in HOSTILE)
    text = tokens(*((text, text) for text in HOSTILE))
    candidates = [candidate(HOSTILE[1], *pairs), candidate(HOSTILE[0], *pairs[::-1])]
    return completion([call], candidates, text, valid=False, errors=list(HOSTILE), format=HOSTILE[1])
