"""A server under load: what many clients get, beside what each request gets alone."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, sleep
from typing import Any, Final, Literal

import httpx
import numpy as np
from openai import APIError, APIStatusError, AsyncOpenAI, OpenAIError

from eval.errors import EvalError
from tooldecoding.options.serve_command import KEY_VARIABLE

HOST: Final = "127.0.0.1"
GAUGES: Final = ("tooldecoding_running", "tooldecoding_waiting", "tooldecoding_kv_cache_bytes")
"""Of /metrics; all are 0 when nothing runs."""

_LOADING, _SETTLING, _SILENCE = 600.0, 10.0, 600.0
"""Seconds in which a server must be ready, gives up what was hung up, and must say something."""
_PATIENCE: Final = 0.2
"""Most seconds that a client waits which hangs up."""
_TURNS: Final = 20
"""Earlier questions, with their answers, in a long request."""

_TOPICS: Final[Sequence[tuple[str, Mapping[str, str], str]]] = (
    ("get_weather", {"city": "string", "days": "integer"}, "What is the weather in {city} for {number} days?"),
    ("book_table", {"restaurant": "string", "people": "integer"}, "Book a table at {place} for {number} people."),
    ("send_message", {"person": "string", "text": "string"}, "Write to {person} that I come in {number} days."),
    ("find_route", {"origin": "string", "most_hours": "integer"}, "A way out of {city} of at most {number} hours."),
    ("order_parcel", {"person": "string", "grams": "integer"}, "Fetch a parcel of {number} grams for {person}."),
)
"""Tool, its required keys, and the request for it."""
_VALUES: Final = {
    "city": ("Rome", "Paris", "Oslo", "Lima", "Cairo", "Tokyo"),
    "person": ("Anna", "Boris", "Carla", "David", "Elena"),
    "place": ("Blue Door", "Old Mill", "Green Garden", "Stone Oven"),
}


@dataclass(frozen=True)
class LoadRequest:
    """One request in OpenAI's shape, greedy; ``leaves`` says whether its client hangs up."""

    number: int
    body: Mapping[str, Any]
    leaves: bool = False


@dataclass
class Answer:
    """What a client got.

    Attributes
    ----------
    ending : str
        Lost: no answer, or one that was cut. Refused: the server says that something is wrong.
    reason : str
        Why it was lost or refused.
    content, calls, finish : str, list of [name, arguments], str
    seconds : float
        From the request to the end.
    first : float or None
        Seconds to the first piece of a stream.
    """

    ending: Literal["answered", "hung up", "lost", "refused"] = "answered"
    reason: str = ""
    content: str = ""
    calls: list[list[str]] = field(default_factory=list)
    finish: str = ""
    seconds: float = 0.0
    first: float | None = None

    @property
    def said(self) -> tuple[Any, ...]:
        """What must not depend on other clients."""
        return self.content, self.calls, self.finish


@dataclass(frozen=True)
class Load:
    """What came of one number of clients.

    Attributes
    ----------
    clients : int
        0 for one request after the other, of clients that all stay.
    answers : sequence of Answer
        In the sequence of the requests.
    mixed_up : frozenset of int
        Requests whose answer differs from the one that they get alone.
    seconds : float
        Of all together.
    peak : int or None
        Bytes of the server's largest resident memory; None where there is no /proc.
    left : mapping
        Gauges of the server that are not 0 at the end.
    """

    clients: int
    answers: Sequence[Answer]
    mixed_up: frozenset[int]
    seconds: float
    peak: int | None
    left: Mapping[str, float]

    @property
    def endings(self) -> Counter[str]:
        """How many requests ended how."""
        return Counter(answer.ending for answer in self.answers)

    @property
    def per_second(self) -> float:
        """Answers a second; those that nobody waited for do not count."""
        return self.endings["answered"] / self.seconds

    def quantile(self, share: float, of: Literal["seconds", "first"]) -> float | None:
        """Return a quantile of the seconds of answers, or to the first piece of streams; None without any."""
        values = [getattr(answer, of) for answer in self.answers if answer.ending == "answered"]
        values = [value for value in values if value is not None]
        return float(np.quantile(values, share)) if values else None

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each request."""
        return [
            {"clients": self.clients, "number": number, "mixed_up": number in self.mixed_up, **asdict(answer)}
            for number, answer in enumerate(self.answers)
        ]


def draw_requests(model: str, count: int, gone: float, long: float, seed: int) -> list[LoadRequest]:
    """Return requests: calls and text, streamed and not; exact shares hang up (``gone``) and are ``long``."""
    rng = Random(seed)
    leaving = set(rng.sample(range(count), round(gone * count)))
    lengthy = set(rng.sample(range(count), round(long * count)))
    return [LoadRequest(number, _body(model, number in lengthy, rng), number in leaving) for number in range(count)]


def _body(model: str, is_long: bool, rng: Random) -> dict[str, Any]:
    topics = list(_TOPICS) if is_long else rng.sample(_TOPICS, rng.randint(1, 3))
    messages = []
    for _ in range(_TURNS if is_long else 0):
        messages.append({"role": "user", "content": _question(topics, rng)})
        messages.append({"role": "assistant", "content": f"I have noted it. {_question(topics, rng)}"})
    messages.append({"role": "user", "content": _question(topics, rng)})
    choice = rng.choice(("required", "required", "required", "auto", "none"))
    body: dict[str, Any] = {"model": model, "messages": messages, "tools": [_tool(*topic) for topic in topics]}
    if choice != "required":
        body["max_tokens"] = rng.randint(16, 48)  # small models do not end a text themselves
    return body | {"tool_choice": choice, "temperature": 0, "stream": rng.random() < 0.5}


def _question(topics: Sequence[tuple[str, Mapping[str, str], str]], rng: Random) -> str:
    values = {name: rng.choice(given) for name, given in _VALUES.items()}
    return rng.choice(topics)[2].format(**values, number=rng.randint(2, 999))


def _tool(name: str, keys: Mapping[str, str], sentence: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in keys.items()}
    parameters = {"type": "object", "properties": properties, "required": list(keys)}
    return {"type": "function", "function": {"name": name, "description": sentence, "parameters": parameters}}


def run_load(
    model: str,
    requests: Sequence[LoadRequest],
    clients: int,
    max_batch: int,
    alone: Load | None,
    advance: Callable[[int], None],
) -> Load:
    """Send all requests to a fresh server; EvalError if none is answered.

    Parameters
    ----------
    clients : int
        0 for one after the other, of clients that stay.
    alone : Load, optional
        What each request gets alone, to compare with.
    """
    sent = [LoadRequest(each.number, each.body, each.leaves and clients > 0) for each in requests]
    command = [sys.executable, "-m", "tooldecoding", "serve", "--model", model, "--host", HOST]
    with serving([*command, "--max-batch", str(max_batch), "--queue", str(max(64, clients))]) as (url, process):
        began = perf_counter()
        answers = asyncio.run(ask_all(url, sent, clients or 1, advance))
        seconds, left = perf_counter() - began, _left(url)
        load = Load(clients, answers, differing(answers, alone), seconds, _memory(process.pid), left)
    if not load.endings["answered"] and not load.endings["hung up"]:
        raise EvalError(f"no request was answered: {answers[0].reason}")
    return load


def differing(answers: Sequence[Answer], alone: Load | None) -> frozenset[int]:
    """Return the requests whose answer is not the one that they get alone."""
    pairs = enumerate(zip(answers, alone.answers if alone else answers, strict=True))
    return frozenset(n for n, (a, b) in pairs if a.ending == b.ending == "answered" and a.said != b.said)


async def ask_all(
    url: str, requests: Sequence[LoadRequest], clients: int, advance: Callable[[int], None]
) -> list[Answer]:
    """Send requests from so many clients at once; return the answers in the requests' sequence."""
    waiting, answers = iter(requests), dict[int, Answer]()

    async def client() -> None:
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=_SILENCE) as openai:
            for request in waiting:
                answers[request.number] = await _ask(openai, request)
                advance(1)

    await asyncio.gather(*(client() for _ in range(clients)))
    return [answers[request.number] for request in requests]


async def _ask(openai: AsyncOpenAI, request: LoadRequest) -> Answer:
    answer, began = Answer(), perf_counter()
    patience = Random(request.number).uniform(0, _PATIENCE) if request.leaves else None
    create: Any = openai.chat.completions.create
    try:
        found = await asyncio.wait_for(create(**request.body), patience)
        if request.body["stream"]:
            await asyncio.wait_for(_read_stream(found, answer, began), patience)
        else:
            _read_message(found.choices[0].message, answer)
            answer.finish = found.choices[0].finish_reason
    except TimeoutError:
        answer.ending = "hung up"
    except (OpenAIError, httpx.HTTPError, ValueError) as error:
        said = isinstance(error, APIStatusError) or (isinstance(error, APIError) and error.body is not None)
        answer.ending, answer.reason = "refused" if said else "lost", f"{type(error).__name__}: {error}"[:200]
    answer.seconds = perf_counter() - began
    return answer


async def _read_stream(stream: Any, answer: Answer, began: float) -> None:
    async with stream:
        async for chunk in stream:
            for choice in chunk.choices:
                if answer.first is None and (choice.delta.content or choice.delta.tool_calls):
                    answer.first = perf_counter() - began
                _read_message(choice.delta, answer)
                answer.finish = choice.finish_reason or answer.finish
    if not answer.finish:
        raise ValueError("the stream was cut")


def _read_message(message: Any, answer: Answer) -> None:
    """Add a message, or a piece of one."""
    answer.content += message.content or ""
    for call in message.tool_calls or ():
        if getattr(call, "index", len(answer.calls)) == len(answer.calls):
            answer.calls.append([call.function.name, ""])
        answer.calls[-1][1] += call.function.arguments or ""


@contextmanager
def serving(command: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Inside the block, a server runs on a free port; gives its address and process. EvalError if it does not start."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            start_new_session=True,  # an interrupt at the terminal reaches the bench, which stops it
        )
        try:
            url = f"http://{HOST}:{port}"
            if not _is_ready(url, process):
                log.seek(0)
                lines = [line for line in log.read().decode(errors="replace").splitlines() if not line.startswith("{")]
                said = lines[-1].removeprefix("error: ") if lines else "it says nothing"
                raise EvalError(f"the server ended before it was ready: {said}")
            yield url, process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def _is_ready(url: str, process: subprocess.Popen[bytes]) -> bool:
    deadline = perf_counter() + _LOADING
    while process.poll() is None and perf_counter() < deadline:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready").status_code == 200:
                return True
        sleep(0.1)
    return False


def _left(url: str) -> dict[str, float]:
    """Return the gauges that do not go back to 0."""
    deadline = perf_counter() + _SETTLING
    while True:
        lines = [line.split() for line in httpx.get(f"{url}/metrics").text.splitlines()]
        found = {line[0]: float(line[1]) for line in lines if line and line[0] in GAUGES and float(line[1])}
        if not found or perf_counter() > deadline:
            return found
        sleep(0.1)


def _memory(process: int) -> int | None:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)


def json_rows(loads: Sequence[Load]) -> str:
    """Return a row for each request, as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for load in loads for row in load.rows())
