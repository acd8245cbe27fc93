"""``tooldecoding bench serve``: what clients count as answered, hung up, lost, refused and mixed up."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from command_line import Ran, assert_bad
from eval.errors import EvalError
from eval.load.client import Answer, Ending, ask
from eval.load.crowd import run_clients
from eval.load.gaps import Gaps
from eval.load.load import Load, differing
from eval.load.peer import PeerRun
from eval.load.requests import draw_requests
from eval.load.server_process import serving
from eval.load.tables import gap_table, rate_table, request_tables
from load_stub import Stub, request, stub
from tooldecoding.server.chat_body import read_chat_body

Cli = Callable[..., Ran]


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with stub() as running:
        yield running


def test_a_stream_says_what_the_whole_answer_says(server: Stub) -> None:
    whole, stream = ask(server.port, request("whole")), ask(server.port, request("stream"))
    assert whole.ending == stream.ending == "answered"
    assert whole.said == stream.said == ("Hi there", [["get_weather", '{"city": "Rome"}']], "tool_calls")
    assert (whole.prompt_tokens, whole.tokens) == (stream.prompt_tokens, stream.tokens) == (5, 3)
    assert len(stream.pieces) == 4 and whole.first is None
    assert stream.began <= stream.pieces[0] <= stream.pieces[-1] <= stream.ended


@pytest.mark.parametrize(
    ("kind", "ending", "reason"),
    [
        ("cut", "lost", "IncompleteRead"),
        ("cut stream", "lost", "the stream was cut"),
        ("full", "refused", "status 429: the queue is full"),
        ("failed stream", "refused", "in the stream: out of memory"),
    ],
)
def test_what_is_no_answer(server: Stub, kind: str, ending: Ending, reason: str) -> None:
    answer = ask(server.port, request(kind))
    assert answer.ending == ending
    assert reason in answer.reason


def test_nobody_answers() -> None:
    with stub() as server:
        port = server.port
    assert ask(port, request("whole")).ending == "lost"


def test_a_client_hangs_up_behind_the_first_piece() -> None:
    with stub() as server:
        answer = ask(server.port, request("endless stream", leaves_stream=True))
        assert (answer.ending, len(answer.pieces)) == ("hung up", 1)
        assert server.left.wait(10)


def test_a_client_hangs_up_while_it_waits(server: Stub) -> None:
    answer = ask(server.port, request("slow", patience=0.01))
    assert (answer.ending, answer.content) == ("hung up", "")


def test_clients_ask_at_once_and_each_request_is_sent_once() -> None:
    clients, requests = 4, [request(("whole", "stream")[number % 2], number) for number in range(12)]
    steps: list[int] = []
    with stub(together=clients) as server:  # nobody is answered before so many are there
        answers, seconds = run_clients(server.port, requests, clients, steps.append)
    assert sorted(answers) == list(range(12)) and sum(steps) == 12
    assert {answer.ending for answer in answers.values()} == {"answered"}
    assert seconds > 0


def made_up(ending: Ending = "answered", content: str = "", seconds: float = 1.0) -> Answer:
    return Answer(ending, content=content, began=0.0, ended=seconds)


def load(clients: int, answers: Mapping[int, Answer], alone: Load | None = None, seconds: float = 10.0) -> Load:
    return Load(clients, answers, differing(answers, alone), seconds, seconds / 2, 1 << 20, 3 << 20, {})


def test_another_answer_than_alone_is_mixed_up() -> None:
    alone = load(0, {number: made_up(content=f"{number}") for number in range(5)})
    together = {0: made_up(content="0"), 1: made_up(content="2"), 2: made_up("lost"), 3: made_up("hung up")}
    assert load(8, together | {4: made_up(content="4")}, alone).mixed_up == {1}


def test_the_table_counts_every_request_once() -> None:
    alone = load(0, {number: made_up() for number in range(5)})
    refused = Answer("refused", "status 429: full", began=0.0, ended=1.0)
    ends = {0: made_up(seconds=3.0), 1: made_up(content="x"), 2: made_up("lost"), 3: made_up("hung up"), 4: refused}
    together = load(8, ends, alone, seconds=4.0)
    table, reasons = request_tables([alone, together], "about")
    name, answered, gone, lost, refusals, mixed, ratio, *_ = table.rows[1]
    assert (name, answered, gone, lost, refusals, mixed, ratio) == ("8", "2", "1", "1", "1", "1", "1.00")
    assert table.rows[1][-3:] == ("1", "3", "0")
    assert reasons.rows == (("8", "status 429: full", "1"),)
    assert [row["ending"] for row in together.rows()] == ["answered", "answered", "lost", "hung up", "refused"]


def test_ratios_to_transformers() -> None:
    alone, together = load(0, {0: made_up()}), load(8, {0: made_up()}, seconds=5.0)
    rows = rate_table([alone, together], PeerRun(4, 10.0, 4.0)).rows
    assert rows == (
        ("one after the other", "0.10", "1.00", "0.25", "0.20", "1.00", "0.20"),
        ("8", "0.20", "2.00", "0.50", "0.40", "2.00", "0.40"),
        ("transformers", "0.40", "4.00", "1.00", "1.00", "5.00", "1.00"),
    )
    failed = rate_table([alone, together], PeerRun(failed="no GPU"))
    assert len(failed.rows) == 2 and "no GPU" in failed.notes[-1]


def test_gaps_before_a_long_prompt_and_beside_it() -> None:
    streams = [Answer(pieces=[1, 2, 3, 4, 6, 8, 9]), Answer(pieces=[2, 3, 4, 6, 8, 9])]
    gaps = Gaps()
    gaps.add(streams, Answer(began=4.5, ended=7.0, prompt_tokens=1500))
    assert gaps.alone == [1, 1, 1, 1]  # from the moment on when both streams run
    assert gaps.beside == [2, 2, 2, 2]
    assert [row[2] for row in gap_table(gaps).rows] == ["1000.0", "2000.0", "2.00"]


def test_drawn_requests() -> None:
    drawn = draw_requests("reference", 60, 0.1, 0.2, seed=3)
    assert drawn == draw_requests("reference", 60, 0.1, 0.2, seed=3) != draw_requests("reference", 60, 0.1, 0.2, seed=4)
    leaving = [each for each in drawn if each.patience is not None or each.leaves_stream]
    assert len(leaving) == 6 and not any(each.leaves_stream and not each.is_streamed for each in drawn)
    assert sum(len(each.body["messages"]) > 1 for each in drawn) == 12
    assert {each.is_streamed for each in drawn} == {True, False}
    assert {each.body["tool_choice"] for each in drawn} == {"required", "auto", "none"}
    for each in drawn:
        read_chat_body(each.body)


SERVER = """
    import http.server, json, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"# TYPE running gauge\\ntooldecoding_running 2.0\\ntooldecoding_waiting 0.0\\n")
        def log_message(self, *_):
            pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print("a library's warning", file=sys.stderr)
    print(json.dumps({"event": "listening", "port": server.server_address[1]}), file=sys.stderr)
    print(json.dumps({"event": "ready"}), file=sys.stderr, flush=True)
    server.serve_forever()
"""


def test_a_server_runs_inside_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.load.server_process._SETTLE", 0.2)
    with serving([sys.executable, "-c", dedent(SERVER)]) as process:
        assert process.left() == {"running": 2.0}
        known = Path("/proc/self/status").exists()
        assert (process.memory() is not None) == (process.processor() is not None) == known
        port = process.port
    assert ask(port, request("whole")).ending == "lost"


def test_a_server_that_does_not_start_is_told_in_its_own_words() -> None:
    script = "import sys; print('error: no such model', file=sys.stderr); sys.exit(2)"
    with pytest.raises(EvalError, match=r"ended before it was ready: no such model"):  # noqa: SIM117
        with serving([sys.executable, "-c", script]):
            raise AssertionError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--clients", "0"), "--clients"),
        (("--clients", ""), "--clients"),
        (("--gone", "1.5"), "--gone"),
        (("--requests", "0"), "--requests"),
        (("--against", "vllm"), "--against"),
        (("--out", "/dev/null/folder"), "cannot be written"),
    ],
)
def test_wrong_options(cli: Cli, options: tuple[str, ...], said: str) -> None:
    assert_bad(cli("bench", "serve", *options), said)


@pytest.mark.slow
def test_the_reference_model_under_load(cli: Cli, tmp_path: Path) -> None:
    command = ("bench", "serve", "--requests", "10", "--clients", "4", "--gone", "0.2", "--long", "0.1")
    ran = cli(*command, "--against", "transformers", "--out", tmp_path)
    assert ran.code == 0, ran
    rows: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    together = [row["ending"] for row in rows if row["clients"] == 4]
    assert (len(rows), together.count("answered"), together.count("hung up")) == (20, 8, 2)
    assert not any(row["mixed_up"] for row in rows)
    assert "transformers" in (tmp_path / "serve.md").read_text()
