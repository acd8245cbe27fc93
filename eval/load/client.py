"""One client: sends a request, and notes what comes back and when."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import perf_counter, sleep
from typing import Any, Final, Literal

from eval.load.requests import LoadRequest
from tooldecoding.files.json_lines import json_line

HOST: Final = "127.0.0.1"
_PATH: Final = "/v1/chat/completions"
_SECONDS: Final = 600.0
"""The longest silence of a server; longer ones count as lost."""
_SHOWN: Final = 200

Ending = Literal["answered", "hung up", "lost", "refused"]
"""Lost: no answer, or one that was cut. Refused: the server says that something is wrong."""


@dataclass
class Answer:
    """What a client got.

    Attributes
    ----------
    ending : str
    reason : str
        Why it was lost or refused.
    content : str
    calls : list of [str, str]
        Name and arguments of each call.
    finish : str
        OpenAI's finish_reason.
    prompt_tokens, tokens : int
        Of the prompt and of the answer, as the server says.
    pieces : list of float
        When each piece of a stream came, in seconds by ``time.perf_counter``.
    began, ended : float
        By the same clock.
    """

    ending: Ending = "answered"
    reason: str = ""
    content: str = ""
    calls: list[list[str]] = field(default_factory=list)
    finish: str = ""
    prompt_tokens: int = 0
    tokens: int = 0
    pieces: list[float] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)
    ended: float = 0.0

    @property
    def said(self) -> tuple[Any, ...]:
        """What must not depend on other clients."""
        return self.content, self.calls, self.finish

    @property
    def seconds(self) -> float:
        """From the request to the end of the answer."""
        return self.ended - self.began

    @property
    def first(self) -> float | None:
        """Seconds to the first piece of a stream."""
        return self.pieces[0] - self.began if self.pieces else None


class _Refused(Exception):
    """The server says what is wrong."""


class _HungUp(Exception):
    """The client goes away."""


def ask(port: int, request: LoadRequest, answer: Answer | None = None) -> Answer:
    """Send a request to this machine's port, and return what came of it; nothing is raised for a bad server.

    Parameters
    ----------
    answer : Answer, optional
        To be filled; another thread may watch its pieces.
    """
    answer = answer or Answer()
    try:
        with closing(HTTPConnection(HOST, port, timeout=_SECONDS)) as connection:
            _exchange(connection, request, answer)
    except _HungUp:
        answer.ending = "hung up"
    except _Refused as error:
        answer.ending, answer.reason = "refused", str(error)[:_SHOWN]
    except (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError) as error:
        answer.ending, answer.reason = "lost", f"{type(error).__name__}: {error}"[:_SHOWN]
    answer.ended = perf_counter()
    return answer


def _exchange(connection: HTTPConnection, request: LoadRequest, answer: Answer) -> None:
    connection.request("POST", _PATH, json_line(request.body).encode(), {"Content-Type": "application/json"})
    if request.patience is not None:
        sleep(request.patience)
        raise _HungUp
    response = connection.getresponse()
    if response.status != 200:
        raise _Refused(f"status {response.status}: {_message(json.loads(response.read()))}")
    if request.is_streamed:
        _read_stream(response, request, answer)
    else:
        _read_whole(json.loads(response.read()), answer)


def _read_whole(found: dict[str, Any], answer: Answer) -> None:
    (choice,) = found["choices"]
    answer.content = choice["message"]["content"] or ""
    functions = [call["function"] for call in choice["message"].get("tool_calls") or ()]
    answer.calls = [[function["name"], function["arguments"]] for function in functions]
    answer.finish = choice["finish_reason"]
    _read_usage(found, answer)


def _read_stream(response: HTTPResponse, request: LoadRequest, answer: Answer) -> None:
    for chunk in _events(response):
        if "error" in chunk:
            raise _Refused(f"in the stream: {_message(chunk)}")
        for choice in chunk["choices"]:
            _read_delta(choice["delta"], answer)
            answer.finish = choice["finish_reason"] or answer.finish
        if chunk.get("usage"):
            _read_usage(chunk, answer)
        if request.leaves_stream and answer.pieces:
            raise _HungUp
    if not answer.finish:
        raise ValueError("the stream has no finish_reason")


def _events(response: HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        kind, _, data = line.strip().partition(b": ")
        if kind != b"data":
            continue
        if data == b"[DONE]":
            return
        yield json.loads(data)
    raise ValueError("the stream was cut")


def _read_delta(delta: dict[str, Any], answer: Answer) -> None:
    if content := delta.get("content"):
        answer.content += content
    calls = delta.get("tool_calls") or ()
    for call in calls:
        function = call["function"]
        if call["index"] == len(answer.calls):
            answer.calls.append([function["name"], ""])
        answer.calls[call["index"]][1] += function.get("arguments") or ""
    if content or calls:
        answer.pieces.append(perf_counter())


def _read_usage(found: dict[str, Any], answer: Answer) -> None:
    answer.prompt_tokens = found["usage"]["prompt_tokens"]
    answer.tokens = found["usage"]["completion_tokens"]


def _message(found: dict[str, Any]) -> str:
    return str(found["error"]["message"])
