"""Agents: what is called, asked and told, by a model that answers as it is told; and the command."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from chat_models import HERMES, MCP_STUB, call, decoder_of, says

from command_line import Ran, assert_bad
from lookup import ToolDecodingError
from tooldecoding.agents.agent import Agent, Event
from tooldecoding.testing import SyntheticDecoder

STUB = " ".join(MCP_STUB)


def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: One.
        b: Another.
    """
    return a + b


def broken(a: int) -> int:
    """Fail.

    Args:
        a: Anything.
    """
    raise OSError("no luck")


def calls_first(*calls: str, answer: str = "Done.") -> Callable[[str], str]:
    """A model that makes calls, and answers when it reads a result."""
    return lambda prompt: answer if "[tool]" in prompt else "\n".join(calls)


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES)


def events(agent: Agent, question: str = "Go.", **options: Any) -> list[Event]:
    return list(agent.run(question, **options))


def test_the_model_calls_reads_the_result_and_answers(decoder):
    says(decoder, lambda prompt: "It is 5." if "[tool]5" in prompt else call("add", a=2, b=3))
    agent = Agent(decoder, [add])
    called, returned, said, end = events(agent)
    assert called.kind == "call" and (called.name, called.arguments) == ("add", {"a": 2, "b": 3})
    assert set(called.confidence) == {"a", "b"} and 0 < called.least <= 1
    assert returned == Event("result", "5", called.id, "add")
    assert (said, end) == (Event("text", "It is 5."), Event("end", "answer"))
    assert [message["role"] for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
    assert [json.loads(json.dumps(each.to_json()))["event"] for each in (called, returned, said, end)] == [
        "call", "result", "text", "end",
    ]  # fmt: skip
    assert events(agent, "And again?")[-1] == Event("end", "answer") and len(agent.messages) == 6


def test_several_calls_are_run_in_their_sequence(decoder):
    says(decoder, calls_first(call("add", a=1, b=1), call("add", a=2, b=2)))
    results = [each.content for each in events(Agent(decoder, [add])) if each.kind == "result"]
    assert results == ["2", "4"]


def test_a_tool_that_fails_is_told_to_the_model(decoder):
    says(decoder, calls_first(call("broken", a=1)))
    _, returned, *_, end = events(Agent(decoder, [broken, add]))
    assert returned.failed and returned.content == "error: OSError: no luck" and end == Event("end", "answer")


def test_a_refused_call_does_not_run_and_is_told_to_the_model(decoder):
    seen: list[Event] = []
    says(decoder, calls_first(call("broken", a=1)))
    agent = Agent(decoder, [broken], approve=lambda asked: bool(seen.append(asked)))
    called, returned, *_ = events(agent)
    assert seen == [called] and returned.refused and "refused" in agent.messages[2]["content"]


def test_it_ends_after_the_turns_that_it_has(decoder):
    says(decoder, lambda prompt: call("add", a=1, b=1))
    agent = Agent(decoder, [add], max_turns=3)
    assert events(agent)[-1] == Event("end", "turns") and len(agent.messages) == 7


def test_a_call_is_required_in_the_first_turn_alone(decoder):
    says(decoder, lambda prompt: "Text.")
    called, *_, end = events(Agent(decoder, [add]), tool_choice="required")
    assert called.kind == "call" and end == Event("end", "answer")


def test_an_answer_that_is_cut_is_none(decoder):
    says(decoder, lambda prompt: "A long text.")
    assert events(Agent(decoder, []), max_text_tokens=3)[-1] == Event("end", "length")


def test_two_tools_of_one_name_are_an_error(decoder):
    with pytest.raises(ToolDecodingError, match="two tools are called 'add'"):
        Agent(decoder, [add, add])


class TestCommand:
    @pytest.fixture
    def run(self, cli: Callable[..., Ran], decoder: SyntheticDecoder, monkeypatch: pytest.MonkeyPatch) -> Any:
        """``run(answer, *arguments, stdin=…)`` with a model that answers as it is told; stdin is no terminal."""
        monkeypatch.setattr("tooldecoding.cli.agent.load_decoder", lambda command, cache: decoder)

        def run(answer: Callable[[str], str], *arguments: str, typed: str | None = None) -> Ran:
            says(decoder, answer)
            stdin = StringIO(typed or "")
            stdin.isatty = lambda: typed is not None  # type: ignore[method-assign]
            monkeypatch.setattr("sys.stdin", stdin)
            return cli("agent", "--mcp", STUB, "--prompt", "Go.", *arguments)

        return run

    ECHO = staticmethod(calls_first(call("echo", text="hello")))

    @pytest.mark.parametrize(
        ("arguments", "typed", "ran"),
        [
            ((), None, False),
            ((), "y\n", True),
            ((), "n\n", False),
            ((), "\n", False),
            (("--yes", "--min-confidence", "0"), None, True),
            (("--yes", "--min-confidence", "1"), None, False),
            (("--allow", "echo"), None, True),
            (("--allow", "now"), None, False),
        ],
    )
    def test_who_decides(self, run: Any, arguments: tuple[str, ...], typed: str | None, ran: bool) -> None:
        done = run(self.ECHO, "--json", *arguments, typed=typed)
        rows = [json.loads(line) for line in done.out.splitlines()]
        [result] = [row for row in rows if row["event"] == "result"]
        assert result["refused"] is not ran and (result["content"] == "hello") is ran
        nobody = not ran and typed is None
        assert done.code == (3 if nobody else 0) and ("without a terminal" in done.err) is nobody

    def test_what_is_printed(self, run: Any) -> None:
        done = run(self.ECHO, "--yes", "--min-confidence", "0")
        assert "→ echo of " in done.out and "\n  Done." in done.out and "(it says: readOnlyHint)" in done.out
        assert "text = 'hello'   confidence 0." in done.out and "← hello" in done.out and "Done." in done.out

    def test_no_answer_has_an_exit_code(self, run: Any) -> None:
        done = run(lambda prompt: call("echo", text="x"), "--allow", "echo", "--max-turns", "2")
        assert done.code == 4 and "no answer: --max-turns is reached" in done.err

    def test_wrong_options(self, run: Any, cli: Callable[..., Ran]) -> None:
        assert_bad(run(self.ECHO, "--allow", "ecco"), "--allow: no server has 'ecco'")
        assert_bad(cli("agent", "--prompt", "x"), "--mcp SERVER")
        assert_bad(cli("lookup"), "DOCS", "--mcp")

    def test_lookup_reads_the_tools_of_a_server(self, cli: Callable[..., Ran]) -> None:
        ran = cli("lookup", "--json", "--mcp", STUB)
        assert ran.code == 0 and '"echo"' in ran.out
