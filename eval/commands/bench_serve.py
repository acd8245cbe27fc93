"""``tooldecoding bench serve``: a server under load, what many clients get beside what each request gets alone."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from time import perf_counter, sleep
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field as Bounds

from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.given import Given
from tooldecoding.options.model_options import MODEL_HELP
from tooldecoding.options.option import Count, option, options_of
from tooldecoding.options.serve_command import KEY_VARIABLE

_HOST: Final = "127.0.0.1"
_LONGEST: Final = 600.0
"""Seconds in which a server must be ready, and must say something."""
_TOPICS: Final[Sequence[tuple[str, Mapping[str, str], str]]] = (
    ("get_weather", {"city": "string", "days": "integer"}, "What is the weather in Rome for {} days?"),
    ("book_table", {"restaurant": "string", "people": "integer"}, "Book a table at the Old Mill for {} people."),
    ("send_message", {"person": "string", "text": "string"}, "Write to Anna that I come in {} days."),
    ("order_parcel", {"person": "string", "grams": "integer"}, "Fetch a parcel of {} grams for Boris."),
)
"""Tool, its required keys, and the request for it."""
_COLUMNS: Final = (
    "clients", "an-\nswered", "lost", "re-\nfused", "mixed\nup", "answers\na second", "ratio", "seconds\np50", "p95",
)  # fmt: skip
_NOTE: Final = (
    "Lost: no answer, or a stream that was cut. Refused: the server said that something is wrong. Mixed up: answered "
    "otherwise than one after the other. Ratio: answers a second to those one after the other. Each row has a fresh "
    "server."
)


@dataclass(frozen=True, kw_only=True)
class BenchServeCommand:
    """How much load, and what it is compared with."""

    model: str = option("reference", MODEL_HELP)
    clients: Annotated[tuple[Count, ...], Bounds(min_length=1)] = option(
        (1, 8, 32), "Numbers of clients that send requests at once.", commas=True
    )
    requests: Count = option(1000, "Requests for each number of clients.")
    seed: int = option(0, "Seed of the requests.")


Ending = Literal["answered", "lost", "refused"]
"""Lost: no answer, or one that was cut. Refused: the server says that something is wrong."""


@dataclass
class Answer:
    """What a client got: ``calls`` as name and arguments, ``seconds`` from the request to the end.

    ``reason`` says why it was lost or refused.
    """

    ending: Ending = "answered"
    reason: str = ""
    content: str = ""
    calls: list[list[str]] = field(default_factory=list)
    finish: str = ""
    seconds: float = field(default=0.0, compare=False)

    def differs(self, alone: "Answer") -> bool:
        """Whether both are answers that say something else."""
        return self.ending == alone.ending == "answered" and self != alone

    def read(self, message: Any, finish: str | None) -> None:
        """Add a message, or a piece of one."""
        self.content += message.content or ""
        self.finish = finish or self.finish
        for call in message.tool_calls or ():
            if getattr(call, "index", len(self.calls)) == len(self.calls):
                self.calls.append([call.function.name, ""])
            self.calls[-1][1] += call.function.arguments or ""


def bench_serve(given: Given) -> None:
    """Put load on a server of its own: lost and mixed-up answers, throughput, waiting times."""
    demand_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    demand_extra("eval", "scipy", "pandas")
    demand_extra("bench", "openai", "httpx")
    command = given.read(BenchServeCommand)
    import pandas as pd
    import torch

    from eval.bench.machine import describe_machine, machine_line
    from eval.report.table import Table, show, times

    rng = Random(command.seed)
    requests = [draw_request(command.model, rng) for _ in range(command.requests)]
    rows: list[tuple[str, ...]] = []
    rates: list[float] = []
    alone: list[Answer] = []
    reasons: Counter[str] = Counter()
    for clients in (0, *command.clients):
        name = str(clients or "one after the other")
        with progress_bar(f"clients: {name}", len(requests)) as advance:
            answers, seconds = _run_load(command.model, requests, clients or 1, advance)
        alone = alone or answers
        reasons.update(answer.reason for answer in answers if answer.reason)
        frame = pd.DataFrame(answers)
        mixed = sum(one.differs(other) for one, other in zip(answers, alone, strict=True))
        counts = [*(int((frame.ending == ending).sum()) for ending in get_args(Ending)), mixed]
        rates.append(counts[0] / seconds)
        waited = frame[frame.ending == "answered"].seconds.quantile([0.5, 0.95])
        speed = [f"{rates[-1]:.2f}", times(rates[-1], rates[0]), *(f"{quantile:.2f}" for quantile in waited)]
        rows.append((name, *(f"{count:,}" for count in counts), *speed))
    machine = machine_line(describe_machine(torch.device("cuda" if torch.cuda.is_available() else "cpu")))
    about = f"{command.requests:,} requests (seed {command.seed}) to {command.model}; {machine}."
    notes = (about, _NOTE, *(f"{count:,} times: {reason}" for reason, count in reasons.most_common(5)))
    show(output_console(), [Table("Requests", _COLUMNS, tuple(rows), 1, notes=notes)])


def draw_request(model: str, rng: Random) -> dict[str, Any]:
    """Return the body of a request in OpenAI's shape, greedy: calls and text, streamed and not."""
    topics = rng.sample(_TOPICS, rng.randint(1, 3))
    question = rng.choice(topics)[2].format(rng.randint(2, 999))
    choice = rng.choice(("required", "required", "required", "auto", "none"))
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": question}], "tools": []}
    for name, keys, sentence in topics:
        properties = {key: {"type": kind} for key, kind in keys.items()}
        parameters = {"type": "object", "properties": properties, "required": list(keys)}
        about = {"name": name, "description": sentence, "parameters": parameters}
        body["tools"].append({"type": "function", "function": about})
    if choice != "required":
        body["max_tokens"] = rng.randint(16, 48)  # small models do not end a text themselves
    return body | {"tool_choice": choice, "temperature": 0, "stream": rng.random() < 0.5}


def _run_load(
    model: str, requests: Sequence[Mapping[str, Any]], clients: int, advance: Callable[[int], None]
) -> tuple[list[Answer], float]:
    """Send all requests to a fresh server; return the answers and all seconds. EvalError if none is answered."""
    server = [sys.executable, "-m", "tooldecoding", "serve", "--model", model, "--host", _HOST]
    with serving([*server, "--queue", str(max(64, clients))]) as url:
        began = perf_counter()
        answers = asyncio.run(ask_all(url, requests, clients, advance))
        seconds = perf_counter() - began
    if not any(answer.ending == "answered" for answer in answers):
        raise EvalError(f"no request was answered: {answers[0].reason}")
    return answers, seconds


async def ask_all(
    url: str, requests: Sequence[Mapping[str, Any]], clients: int, advance: Callable[[int], None]
) -> list[Answer]:
    """Send requests from so many clients at once; return the answers in the requests' sequence."""
    from openai import AsyncOpenAI

    waiting, answers = iter(enumerate(requests)), dict[int, Answer]()

    async def client() -> None:
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=_LONGEST) as openai:
            for number, body in waiting:
                answers[number] = await _ask(openai, body)
                advance(1)

    await asyncio.gather(*(client() for _ in range(clients)))
    return [answers[number] for number in range(len(requests))]


async def _ask(client: Any, body: Mapping[str, Any]) -> Answer:
    import httpx
    from openai import APIError, APIStatusError, OpenAIError

    answer, began = Answer(), perf_counter()
    create: Any = client.chat.completions.create
    try:
        found = await create(**body)
        if body["stream"]:
            async with found:
                async for chunk in found:
                    for choice in chunk.choices:
                        answer.read(choice.delta, choice.finish_reason)
            if not answer.finish:
                raise ValueError("the stream was cut")
        else:
            answer.read(found.choices[0].message, found.choices[0].finish_reason)
    except (OpenAIError, httpx.HTTPError, ValueError) as error:
        said = isinstance(error, APIStatusError) or (isinstance(error, APIError) and error.body is not None)
        answer.ending, answer.reason = "refused" if said else "lost", f"{type(error).__name__}: {error}"[:200]
    answer.seconds = perf_counter() - began
    return answer


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """Inside the block, a server runs on a free port; gives its address. EvalError if it does not start."""
    with socket.socket() as free:
        free.bind((_HOST, 0))
        url = f"http://{_HOST}:{free.getsockname()[1]}"
    environment = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*command, "--port", url.rpartition(":")[2]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            start_new_session=True,  # an interrupt at the terminal reaches the bench, which stops it
        )
        try:
            if not _is_ready(url, process):
                log.seek(0)
                lines = [line for line in log.read().decode(errors="replace").splitlines() if not line.startswith("{")]
                said = lines[-1].removeprefix("error: ") if lines else "it says nothing"
                raise EvalError(f"the server ended before it was ready: {said}")
            yield url
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def _is_ready(url: str, process: subprocess.Popen[bytes]) -> bool:
    import httpx

    began = perf_counter()
    while process.poll() is None and perf_counter() < began + _LONGEST:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready").status_code == 200:
                return True
        sleep(0.1)
    return False


BENCH_SERVE = Command("bench serve", bench_serve, options_of(BenchServeCommand))
