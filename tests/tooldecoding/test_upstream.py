"""Servers that go on by themselves: the calls are those of our own engine, in few requests, whatever goes wrong.

The stand-ins speak the protocols of vLLM, SGLang and llama-server; ``real_model/test_engines_that_people_run.py`` asks
the real ones.
"""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from command_line import Cli, assert_bad
from running_server import HELLO, ROME, TABLE, TOOLS, WEATHER, Running, body, lines_of, running, wait_until
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.chat.reply import ChatMessage
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import UpstreamError
from tooldecoding.models.loading import load_model
from tooldecoding.models.upstream import UpstreamModel
from tooldecoding.options import DecodeOptions
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.request import Request
from tooldecoding.server.app import load_completions
from tooldecoding.upstream.vllm import VllmServer
from tools import PROMPTS, lookup
from tools import WEATHER as DOCUMENTED
from upstream_servers import KINDS, StandIn, standing_in

LAMP = {
    "type": "function",
    "function": {
        "name": "set_lamp",
        "description": "Switch a lamp.",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["kitchen", "hall", "bathroom"]},
                "on": {"type": "boolean"},
                "level": {"type": "integer", "minimum": 0, "maximum": 100},
            },
            "required": ["room"],
        },
    },
}
REQUESTS: dict[str, dict[str, Any]] = {
    "a call": {"messages": ROME, "tools": TOOLS, "tool_choice": "required"},
    "auto": {"messages": ROME, "tools": TOOLS},
    "named": {"messages": ROME, "tools": TOOLS, "tool_choice": "book_table"},
    "words": {"messages": HELLO, "tools": TOOLS, "tool_choice": "none", "max_text_tokens": 12},
    "choices": {
        "messages": [{"role": "user", "content": "Switch the lamp in the hall on, level 40"}],
        "tools": [LAMP, WEATHER, TABLE],
        "tool_choice": "required",
        "optional_arguments": "all",
    },
}


def written(reply: ChatMessage) -> Any:
    """The calls of an answer, with what each order wrote."""
    return [(c.name, c.arguments, c.ungrounded, [(o.order, o.text) for o in c.candidates]) for c in reply.calls]


@pytest.fixture(scope="module")
def own() -> ToolDecoder:
    """The model by our own engine."""
    return ToolDecoder(*load_model("reference"))


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest, own: ToolDecoder) -> Iterator[StandIn]:
    """The model behind each protocol."""
    with standing_in(request.param, own.model, own.tokenizer, "reference") as server:
        yield server


@pytest.fixture(scope="module")
def vllm(own: ToolDecoder) -> Iterator[StandIn]:
    with standing_in("vllm", own.model, own.tokenizer, "reference") as server:
        yield server


@pytest.fixture(scope="module")
def served(server: StandIn) -> ToolDecoder:
    return ToolDecoder.from_upstream(server.address)


@pytest.mark.parametrize("orders", [1, 4])
@pytest.mark.parametrize("name", REQUESTS)
def test_answers_are_those_of_our_own_engine(own: ToolDecoder, served: ToolDecoder, name: str, orders: int) -> None:
    found, expected = (each.chat(**REQUESTS[name], order_limit=orders) for each in (served, own))
    assert written(found) == written(expected)
    assert found.content == expected.content
    for ours, theirs in zip(expected.calls, found.calls, strict=True):
        assert theirs.confidence() == pytest.approx(ours.confidence(), abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_calls_of_a_model_that_knows_nothing_are_those_of_our_own_engine(seed: int) -> None:
    """What it likes is hardly ever permitted, so that the server is asked for what it does not tell by itself."""
    tokenizer = byte_level_tokenizer()
    model = tiny_model("llama", len(tokenizer), seed=seed)
    options = DecodeOptions(format="api-bank", order_limit=3, max_value_tokens=3)
    request = Request(PROMPTS[0], lookup(DOCUMENTED), options)
    with standing_in("vllm", model, tokenizer, "reference") as server:
        [expected] = ToolDecoder(model, tokenizer).run([request])
        upstream = UpstreamModel(VllmServer(server.address, "qwen"), model.config, "qwen")
        [found] = ToolDecoder(upstream, tokenizer).run([request])
    assert found.text == expected.text


def test_what_is_permitted_is_not_asked_for_again(own: ToolDecoder, vllm: StandIn) -> None:
    """A call takes as many requests as there are places where the server's own words do not fit, not one a token."""
    served = ToolDecoder.from_upstream(vllm.address)
    before = len(vllm.asked)
    served.chat(ROME, TOOLS, "required", order_limit=1, max_calls=1)
    asked = vllm.asked[before:]
    assert 1 <= len(asked) <= 8
    assert sum(each["sampling_params"]["max_tokens"] == 512 for each in asked) <= 4


def test_many_prompts_are_asked_for_side_by_side(own: ToolDecoder, vllm: StandIn) -> None:
    served = ToolDecoder.from_upstream(vllm.address)
    cities = ["Rome", "Oslo", "Bern", "Lima", "Kyiv"]
    dialogues = [[{"role": "user", "content": f"What is the weather in {city} for 3 days?"}] for city in cities]
    found, expected = (each.chat(dialogues, TOOLS, "required") for each in (served, own))
    assert [*map(written, found)] == [*map(written, expected)]


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(own: ToolDecoder, server: StandIn, served: ToolDecoder, status: int) -> None:
    server.refuse[:] = [status]
    assert written(served.chat(**REQUESTS["a call"])) == written(own.chat(**REQUESTS["a call"]))
    assert not server.refuse


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_a_stream_that_breaks_off_loses_nothing(own: ToolDecoder, vllm: StandIn, behind: int) -> None:
    served = ToolDecoder.from_upstream(vllm.address)
    vllm.breaks[:] = [behind]
    assert written(served.chat(**REQUESTS["a call"])) == written(own.chat(**REQUESTS["a call"]))
    assert not vllm.breaks


def test_a_request_that_is_refused_ends_its_own_prompt_alone(own: ToolDecoder, vllm: StandIn) -> None:
    served = ToolDecoder.from_upstream(vllm.address)
    with running(served, upstream=vllm.address) as server:
        assert server.ask().status_code == 200
        vllm.refuse[:] = [400]
        refused = server.ask(messages=[{"role": "user", "content": "What is the weather in Bern for 2 days?"}])
        assert refused.status_code == 502 and "refused a request" in refused.json()["error"]["message"]
        assert server.ask().status_code == 200


def test_who_goes_away_cancels_at_the_server(vllm: StandIn) -> None:
    served = ToolDecoder.from_upstream(vllm.address)
    with running(served, upstream=vllm.address) as server:
        before, vllm.pace = vllm.left, 0.05
        try:
            fields: dict[str, Any] = {"tool_choice": "none", "max_tokens": 300}
            with server.http.stream("POST", "/v1/chat/completions", json=body(stream=True, **fields)) as stream:
                next(lines_of(stream))
            wait_until(lambda: vllm.left > before)
            server.wait_until_idle()
        finally:
            vllm.pace = 0.0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("localhost:8000", "expected an address as http://host:8000"),
        ("http://127.0.0.1:9", "no server answers"),
    ],
)
def test_wrong_addresses_are_told(address: str, said: str) -> None:
    with pytest.raises(UpstreamError, match=said):
        ToolDecoder.from_upstream(address)


def test_another_server_is_told(own: ToolDecoder) -> None:
    with running(own) as other, pytest.raises(UpstreamError, match="none of SGLang, llama-server, vLLM"):
        ToolDecoder.from_upstream(other.url)


def test_another_tokenizer_is_told(own: ToolDecoder, tiny_model_path: str, server: StandIn) -> None:
    with pytest.raises(UpstreamError, match="has another tokenizer"):
        ToolDecoder.from_upstream(server.address, model=tiny_model_path)


def test_an_unknown_model_and_one_that_changes_are_told(own: ToolDecoder, vllm: StandIn) -> None:
    with pytest.raises(UpstreamError, match="serves no model 'llama'; it serves qwen"):
        ToolDecoder.from_upstream(vllm.address, upstream_model="llama")
    served = ToolDecoder.from_upstream(vllm.address)
    vllm.name, vllm.refuse[:] = "llama", [503, 503]
    try:
        with pytest.raises(UpstreamError, match="serves llama now, and 'qwen' before"):
            served.chat(**REQUESTS["a call"])
    finally:
        vllm.name = "qwen"
        vllm.refuse.clear()


def test_the_name_that_the_server_shows_is_that_by_which_the_proxy_is_asked(server: StandIn) -> None:
    answerer, options = load_completions(ServeCommand(upstream=server.address))
    with running(answerer, **vars(options)) as proxy:
        shown = proxy.http.get("/v1/models").json()["data"][0]["id"]
        answer = proxy.ask(model=shown, tool_choice="required")
    assert answer.status_code == 200 and answer.json()["choices"][0]["message"]["tool_calls"]


@pytest.mark.parametrize("command", ["decode", "doctor"])
def test_commands_take_a_server(cli: Cli, vllm: StandIn, tmp_path: Path, command: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([LAMP]))
    more = ["--tools", tmp_path / "tools.json", "--prompt", "Switch the lamp in the hall on"]
    ran = cli(command, "--upstream", vllm.address, *(more if command == "decode" else ()))
    assert not ran.code and ("set_lamp" if command == "decode" else "vLLM at") in ran.out
    assert_bad(cli(command, "--upstream", "http://127.0.0.1:9", *(more if command == "decode" else ())), "no server")


@pytest.fixture(scope="module")
def proxy(vllm: StandIn) -> Iterator[Running]:
    """The proxy in front of vLLM."""
    with running(ToolDecoder.from_upstream(vllm.address), upstream=vllm.address, model="qwen") as server:
        yield server


def test_requests_with_tools_are_ours(own: ToolDecoder, proxy: Running, vllm: StandIn) -> None:
    before = len(vllm.passed)
    [call] = proxy.ask(model="qwen", tool_choice="required").json()["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == own.chat(**REQUESTS["a call"]).calls[0].name
    assert len(vllm.passed) == before


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_other_requests_pass_byte_for_byte(proxy: Running, vllm: StandIn, path: str) -> None:
    content = '{"messages": [ {"role":"user","content":"Grüße"} ], "logprobs": true, "n": 3}'.encode()
    straight = httpx.post(vllm.address + path, content=content)
    passed = proxy.http.post(path, content=content, headers={"Content-Type": "application/json"})
    assert (passed.status_code, passed.content, passed.headers["x-own"]) == (200, straight.content, "1")
    assert vllm.passed[-1] == ("POST", path, content)
    assert proxy.http.get("/other").content == straight.content
    assert proxy.http.get("/nowhere").status_code == 404
    assert proxy.http.get("/v1/models").json()["data"][0]["max_model_len"] == 1024


def test_a_server_that_went_away_is_told(own: ToolDecoder) -> None:
    with standing_in("vllm", own.model, own.tokenizer, "reference") as gone:
        served = ToolDecoder.from_upstream(gone.address)
        served.model.server._patience = 0.1
    with running(served, upstream=gone.address, model="qwen") as server:
        answer = server.http.post("/v1/chat/completions", json={"messages": HELLO})
        assert answer.status_code == 502 and answer.json()["error"]["code"] == "upstream_unreachable"
        failed = server.ask(model="qwen", tool_choice="required")
        assert failed.status_code == 502 and "did not answer" in failed.json()["error"]["message"]


def test_threads_may_share_a_decoder(own: ToolDecoder, vllm: StandIn) -> None:
    served, found = ToolDecoder.from_upstream(vllm.address), list[Any]()
    threads = [
        threading.Thread(target=lambda: found.append(written(served.chat(**REQUESTS["a call"])))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == 3 * [written(own.chat(**REQUESTS["a call"]))]
