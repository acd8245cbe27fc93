"""Agents: what is called, asked and told, by a model that answers as it is told; the command, and the page on chat."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from io import StringIO
from typing import Any

import pytest
from chat_models import HERMES, MCP_STUB, call, decoder_of, mcp_answering, says

from command_line import Cli, Ran, assert_bad
from lookup import ToolDecodingError
from test_docs import blocks
from tooldecoding.agents.agent import Agent, Event
from tooldecoding.agents.agent_tools import AgentTool
from tooldecoding.agents.servers import McpServer
from tooldecoding.options import changed
from tooldecoding.testing import SyntheticDecoder
from tools import documented

TOOL = {"name": "echo", "inputSchema": documented("echo", text={"type": "string"})["parameters"]}
SAYS = {"content": [{"type": "text", "text": "hello"}]}
HINTS = {"annotations": {"readOnlyHint": True}}
SERVER = shlex.join(mcp_answering([TOOL | HINTS, {"name": "now"}], {"echo": SAYS}))
"""A server whose tool says hello; it starts sooner than the stub."""


def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: One.
        b: Another.
    """
    return a + b


def noon() -> str:
    """Tell the time."""
    return "12h"


def long() -> str:
    """Say much."""
    return "x" * 2_000


LONG = f"{'x' * 1_024}\n[cut: the first 1,024 of 2,000 characters]"


def broken() -> int:
    """Fail."""
    raise OSError("no luck")


FAILED = "error: OSError: no luck"
WORDS = "0"
"""What a model says that wants to call, where it may not."""


def calls_first(*calls: str) -> Callable[[str], str]:
    """A model that makes calls, and answers when it reads a result."""
    return lambda prompt: "Done." if "[tool]" in prompt else "\n".join(calls)


ECHO = calls_first(call("echo", text="hello"))


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES, max_value_tokens=30)


def test_the_model_calls_reads_the_result_and_answers(decoder):
    says(decoder, lambda prompt: "It is 5." if "[tool]5" in prompt else call("add", a=2, b=3))
    agent = Agent(decoder, [add])
    called, returned, said, end = agent.run("Add 2 and 3.")
    assert called.kind == "call" and (called.name, called.arguments) == ("add", {"a": 2, "b": 3})
    assert set(called.confidence) == {"a", "b"} and 0 < called.call_confidence <= 1
    assert returned == Event("result", "5", called.id, "add")
    assert (said, end) == (Event("text", "It is 5."), Event("end", "answer"))
    assert [message["role"] for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
    as_json = [json.loads(json.dumps(each.to_json())) for each in (called, returned, said, end)]
    assert [each["event"] for each in as_json] == ["call", "result", "text", "end"]
    assert [*agent.run("And again?")][-1] == Event("end", "answer") and len(agent.messages) == 6


@pytest.mark.parametrize(
    ("answer", "tools", "turns", "options", "contents"),
    [
        (calls_first(call("add", a=1, b=1), call("noon")), [add, noon], 8, {}, ["", "2", "", "12h", "Done.", "answer"]),
        (calls_first(call("long")), [long], 8, {}, ["", LONG, "Done.", "answer"]),
        (calls_first(call("broken")), [broken, add], 8, {}, ["", FAILED, "Done.", "answer"]),
        (lambda prompt: call("noon"), [noon], 8, {}, ["", "12h", WORDS, "answer"]),
        (lambda prompt: call("broken"), [broken], 2, {}, ["", FAILED] * 2 + [WORDS, "turns"]),
        (lambda prompt: call("add", a=prompt.count("[tool]"), b=1), [add], 2, {}, ["", "1", "", "2", WORDS, "turns"]),
        (lambda prompt: "No.", [noon], 8, {"tool_choice": "required"}, ["", "12h", "No.", "answer"]),
        (lambda prompt: "A long text.", [], 8, {"max_text_tokens": 2}, ["A ", "length"]),
        (lambda prompt: "" if "[tool]" in prompt else call("noon"), [noon], 8, {}, ["", "12h", WORDS, "answer"]),
        (lambda prompt: "", [], 8, {}, ["nothing"]),
    ],
    ids=[
        "two calls", "no room", "a failure", "repeats", "repeats a failure", "the last turn",
        "required in the first turn", "a cut answer", "silence", "nothing",
    ],
)  # fmt: skip
def test_what_happens(
    decoder: SyntheticDecoder, answer: Any, tools: Any, turns: int, options: Any, contents: Sequence[str]
) -> None:
    says(decoder, answer)
    events = [*Agent(decoder, tools, max_turns=turns).run("Add 0, 1 and 1.", **options)]
    assert [each.content for each in events] == contents
    assert [each.content for each in events if each.failed] == [each for each in contents if "error" in each]


def test_the_end_by_a_limit_says_what_of_a_call_was_cut(decoder):
    says(decoder, calls_first(call("echo", text="x" * 20)))
    tool = AgentTool("echo", TOOL, lambda arguments: "hello")
    end = [*Agent(decoder, [tool]).run("Go.", max_tokens=40)][-1]
    [wrong] = end.errors
    assert end.content == "length" and "parameter 'text' of echo" in wrong and "cut" in wrong
    assert json.loads(json.dumps(end.to_json()))["errors"] == [wrong]


def test_a_refused_call_does_not_run_and_is_told_to_the_model(decoder):
    seen: list[Event] = []
    says(decoder, calls_first(call("broken")))
    agent = Agent(decoder, [broken], approve=lambda asked: bool(seen.append(asked)))
    called, returned, *_ = agent.run("Go.")
    assert seen == [called] and returned.refused and "refused" in agent.messages[2]["content"]
    agent = Agent(decoder, [broken], approve=lambda asked: "Not on Sundays.")
    _, returned, *_ = agent.run("Go.")
    assert returned.refused and returned.content == agent.messages[2]["content"] == "Not on Sundays."

    async def never(asked: Event) -> bool:
        return False

    _, returned, *_ = Agent(decoder, [broken], approve=never).run("Go.")
    assert returned.refused
    with pytest.raises(ToolDecodingError, match="two tools are called 'add'"):
        Agent(decoder, [add, add])


@pytest.mark.parametrize("text", ["", "Let me see. "])
def test_a_run_that_is_kept_or_broken_off_does_not_end_the_conversation(decoder, text):
    says(decoder, calls_first(text + call("noon")))
    agent = Agent(decoder, [noon])
    kept = agent.run("Go.")
    next(kept)
    assert [*agent.run("And again?")][-1] == Event("end", "answer") and [*kept] == []
    contents = [message["content"] for message in agent.messages]
    assert contents == ["Go.", text.strip() or None, "This call was broken off.", "And again?", "Done."]


def test_a_question_without_a_reply_leaves_the_conversation(decoder, monkeypatch):
    says(decoder, lambda prompt: "Done.")
    agent = Agent(decoder, [noon])
    chat = decoder.chat

    def interrupted(*given: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    for options in ({"tool_choice": "nonsense"}, {"max_calls": -3}):
        with pytest.raises(ToolDecodingError):
            [*agent.run("Go.", **options)]
    monkeypatch.setattr(decoder, "chat", interrupted)
    with pytest.raises(KeyboardInterrupt):
        [*agent.run("Go.")]
    monkeypatch.setattr(decoder, "chat", chat)
    assert agent.messages == []
    assert [*agent.run("And again?")][-1] == Event("end", "answer")
    assert [message["content"] for message in agent.messages] == ["And again?", "Done."]


def test_an_agent_cannot_be_asked_by_its_own_tool(decoder):
    def ask() -> str:
        """Ask."""
        return str([*agent.run("And you?")])

    says(decoder, calls_first(call("ask")))
    agent = Agent(decoder, [ask])
    _, returned, *_ = agent.run("Go.")
    assert returned.failed and "this agent is running" in returned.content


def test_what_runs_is_what_the_messages_say_whoever_changes_its_copy(decoder):
    def count(numbers: Any) -> int:
        """Count."""
        numbers.append(0)
        return len(numbers)

    says(decoder, calls_first(call("count", numbers=[1, 2])))
    agent = Agent(decoder, [count], approve=lambda asked: asked.arguments["numbers"].pop() > 0)
    called, returned, *_ = agent.run("Go with 1 and 2.")
    assert called.arguments == {"numbers": [1]} and returned.content == "3"
    assert json.loads(agent.messages[1]["tool_calls"][0]["function"]["arguments"]) == {"numbers": [1, 2]}


def test_a_call_that_is_not_valid_is_neither_asked_for_nor_run_and_the_model_is_told_why(decoder, monkeypatch):
    ran: list[str] = []
    says(decoder, ECHO)
    chat = decoder.chat

    def invalid(*given: Any, **options: Any) -> Any:
        reply = chat(*given, **options)
        calls = [replace(c, voted=replace(c.voted, valid=False, errors=("'text' is cut",))) for c in reply.calls]
        return replace(reply, result=replace(reply.result, calls=tuple(calls)))

    monkeypatch.setattr(decoder, "chat", invalid)
    tool = AgentTool("echo", TOOL, lambda arguments: ran.append("ran") or "hello")
    agent = Agent(decoder, [tool], approve=lambda asked: bool(ran.append("asked")))
    called, returned, *_ = agent.run("Go.")
    assert called.arguments == {"text": "hello"} and ran == []
    assert returned.failed and not returned.refused and returned.content == agent.messages[2]["content"]
    assert returned.content == "error: the call is not valid and did not run: 'text' is cut"


@pytest.mark.parametrize(
    ("format_name", "value", "said"),
    [
        ("hermes", {"enum": ["x" * 5_000]}, "the model's context is"),
        ("qwen-xml", {"enum": ["</parameter>"]}, "cannot be written in this call format"),
    ],
)
def test_a_tool_that_this_model_cannot_call_is_left_out(
    decoder: SyntheticDecoder, format_name: str, value: Any, said: str
) -> None:
    decoder.options = changed(decoder.options, {"format": format_name})
    agent = Agent(decoder, [AgentTool("use", documented("use", x=value), str, "server"), add])
    [note] = agent.notes
    assert [*agent.tools] == ["add"] == [*agent.lookup]
    assert note.startswith("server: use is left out: ") and said in note


class TestCommand:
    @pytest.fixture
    def run(self, cli: Cli, decoder: SyntheticDecoder, monkeypatch: pytest.MonkeyPatch) -> Any:
        """``run(answer, *arguments, stdin=…)`` with a model that answers as it is told; stdin is no terminal."""
        monkeypatch.setattr("tooldecoding.cli.agent.load_decoder", lambda command, cache: decoder)

        def run(answer: Callable[[str], str], *arguments: str, typed: str | None = None) -> Ran:
            says(decoder, answer)
            stdin = StringIO(typed or "")
            stdin.isatty = lambda: typed is not None  # type: ignore[method-assign]
            monkeypatch.setattr("sys.stdin", stdin)
            return cli("agent", "--mcp", SERVER, "--prompt", "Go.", "--ask", "never", *arguments)

        return run

    @pytest.mark.parametrize(
        ("arguments", "typed", "ran"),
        [
            ((), None, False),
            ((), "y\n", True),
            ((), "n\n", False),
            ((), "\n", False),
            ((), "", False),
            (("--yes", "--min-confidence", "0"), None, True),
            (("--yes", "--min-confidence", "1"), None, False),
            (("--allow", "echo"), None, True),
            (("--allow", "now"), None, False),
        ],
    )
    def test_who_decides(self, run: Any, arguments: tuple[str, ...], typed: str | None, ran: bool) -> None:
        done = run(ECHO, "--json", *arguments, typed=typed)
        rows = [json.loads(line) for line in done.out.splitlines()]
        [result] = [row for row in rows if row["event"] == "result"]
        assert result["refused"] is not ran and (result["content"] == "hello") is ran
        nobody = not ran and not typed
        assert done.code == (3 if nobody else 0) and ("without a terminal" in done.err) is nobody
        if not ran:
            assert result["content"].startswith("Nobody could be asked" if nobody else "The user refused")

    @pytest.mark.parametrize(
        ("arguments", "typed", "said"),
        [
            ((), None, "did not: there is no terminal. (--allow echo allows this tool, --yes allows calls from a conf"),
            ((), "", "did not: the input has ended."),
            (("--yes", "--min-confidence", "1"), None, "from a confidence of 1, and this one is below.)"),
            (("--prompt", "-"), "Go.", "standard input was the question"),
        ],
    )
    def test_where_nobody_could_be_asked_the_model_and_the_transcript_say_so(
        self, run: Any, decoder: SyntheticDecoder, arguments: tuple[str, ...], typed: str | None, said: str
    ) -> None:
        prompts: list[str] = []
        transcript = run(lambda prompt: prompts.append(prompt) or ECHO(prompt), *arguments, typed=typed).out
        for told in (" ".join(transcript.split()), prompts[-1]):
            assert "Nobody could be asked whether this call may run" in told and said in told and "refused" not in told

    @pytest.mark.parametrize(("typed", "code", "ran"), [(None, 3, False), ("hello\n", 0, True), ("\n", 3, False)])
    def test_what_nobody_said_is_asked_for(self, run: Any, typed: str | None, code: int, ran: bool) -> None:
        done = run(ECHO, "--ask", "ungrounded", "--allow", "echo", typed=typed)
        assert "What should the text be?" in done.out and done.code == code, done.err
        assert ("← hello" in done.out) is ran and ("nobody to answer" in done.err) is not ran

    def test_what_is_printed_and_an_exit_code_for_no_answer(self, run: Any, cli: Cli) -> None:
        out = run(ECHO, "--yes", "--min-confidence", "0").out
        assert "→ echo of " in out and "\n  Done." in out and "(it says: readOnlyHint)" in out
        assert "text = 'hello'   confidence 0." in out and "← hello" in out
        done = run(lambda prompt: call("echo", text="x" * len(prompt)), "--allow", "echo", "--max-turns", "2")
        assert done.code == 4 and "no answer: --max-turns is reached" in done.err
        ran = cli("lookup", "--json", "--mcp", SERVER)
        assert ran.code == 0 and '"echo"' in ran.out

    def test_each_tool_is_judged_by_itself(
        self, cli: Cli, decoder: SyntheticDecoder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for command in ("agent", "decode"):
            monkeypatch.setattr(f"tooldecoding.cli.{command}.load_decoder", lambda command, cache: decoder)
        says(decoder, ECHO)
        server = shlex.join(mcp_answering([*GOOD, *BAD.values()], {"echo": {"content": []}}))
        quiet = "--ask never --prompt Go."
        for command in (f"agent --yes {quiet}", f"decode --template chat {quiet}", "lookup"):
            ran = cli(*command.split(), "--json", "--mcp", server)
            assert ran.code == 0 and "echo" in ran.out, (command, ran.err)
            left_out = [line for line in ran.err.splitlines() if "left out" in line]
            assert len(left_out) == len(BAD) and all(any(name in line for line in left_out) for name in BAD), ran.err
            assert "documented" in ran.err and "for lost" in ran.err
        tools = json.loads(cli("lookup", "--json", "--explain", "--mcp", server).out)["tools"]
        assert {tool["name"]: tool["returns"] for tool in tools if tool["returns"]} == {"login": ["token"]}

    def test_wrong_options(self, run: Any, cli: Cli) -> None:
        server = shlex.join(mcp_answering([{"name": "red \x1b[31m"}]))
        assert_bad(run(ECHO, "--allow", "ecco"), "--allow: no server has 'ecco'")
        assert "now, red \\x1b[31m\n" in run(ECHO, "--allow", "ecco", "--mcp", server).err
        assert_bad(cli("agent", "--prompt", "x"), "--mcp SERVER")
        assert_bad(cli("lookup"), "DOCS", "--mcp")


GOOD: list[Any] = [
    TOOL | {"description": None},
    {"name": "union", "inputSchema": {"type": "object"}, "outputSchema": {"anyOf": [{"type": "object"}, {}]}},
    {"name": "pointing", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "#/$defs/A"}, "annotations": 3},
    {"name": "login", "inputSchema": None, "outputSchema": {"type": "object", "properties": {"token": {}}}},
    {"name": "half \ud800", "inputSchema": None},
    {"name": "lost", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}},
]
NEVER = {"allOf": [{"type": "string"}, {"type": "integer"}]}
BAD: dict[str, Any] = {
    "never": {"name": "never", "inputSchema": documented("n", x=NEVER)["parameters"]},
    "inside": {"name": "inside", "inputSchema": {"type": "object", "properties": {"x": {}, "required": ["x"]}}},
    "null": {"name": "null", "inputSchema": {"type": "object", "properties": {"x": None}}},
    "list": {"name": "list", "inputSchema": {"type": "object", "properties": []}},
    "words": {"name": "words", "description": ["x"], "inputSchema": {"type": "object"}},
    "both": {"name": "both", "inputSchema": documented("n", [], x={})["parameters"] | {"not": {}}},
    "a list": ["no tool"],
    "deep": {"name": "deep", "inputSchema": reduce(lambda inner, _: {"properties": {"x": inner}}, range(150), {})},
}
"""Tools that can be called, and by a word of the line that says why others are left out."""


def of_the_page(name: str) -> Callable[..., Any]:
    """The function of a snippet on the page on chat."""
    [code] = [code for code in blocks("docs/chat.md", "python") if f"def {name}(" in code]
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "<page>", "exec"), names)
    return names[name]


def test_the_agent_of_the_page_calls_tools_of_a_server(
    decoder: SyntheticDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = McpServer(name="stub", command=MCP_STUB[0], args=MCP_STUB[1:])
    monkeypatch.setattr(McpServer, "parse", classmethod(lambda cls, text: stub))
    says(decoder, lambda prompt: "Done." if "[tool]" in prompt else "I ask.\n" + call("echo", text="Rome"))
    messages = of_the_page("run_agent")(decoder, "Say Rome.")
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert [message["content"] for message in messages] == ["Say Rome.", "I ask.", "Rome", "Done."]


def test_the_page_shows_a_stream(decoder: SyntheticDecoder, capsys: pytest.CaptureFixture[str]) -> None:
    says(decoder, lambda prompt: call("add", a=7, b=2))
    reply = of_the_page("show")(decoder, [{"role": "user", "content": "Add 7 and 2."}], [add])
    assert capsys.readouterr().out == f"{reply.ids[0]} add {{'a': 7, 'b': 2}}\n"
    assert reply.finish_reason == "tool_calls"
