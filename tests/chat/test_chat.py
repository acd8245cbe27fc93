"""Chat in Python: answers of a model that wants something, tools in every shape, streams, and bad input."""

import json
from typing import Any

import pytest
from chat_models import HERMES, decoder_of, original, random_logits, says
from pydantic import BaseModel

from call_ids import OPENAI as OPENAI_ID
from call_ids import without_ids
from lookup import ToolDecodingError, extract
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.chat.tools import NO_TOOLS, read_tool_choice, read_tools
from tooldecoding.errors import ChatWarning, ModelError, PromptError
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.text_stream import TextPiece

USER = {"role": "user", "content": "Do it."}


def set_timer(minutes: int, label: str = "") -> str:
    """Set a timer.

    Args:
        minutes: How long.
        label: What for.
    """


class Cancel(BaseModel):
    """Cancel a timer."""

    number: int


SCHEMA = {"type": "object", "properties": {"minutes": {"type": "integer", "title": "Kept"}}, "required": ["minutes"]}
OPENAI = {"type": "function", "function": {"name": "set_timer", "description": "Set.", "parameters": SCHEMA}}
MCP = {"name": "set_timer", "description": "Set.", "inputSchema": SCHEMA}
CALL = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 7}}\n</tool_call>'


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES)


class TestAnswers:
    def test_a_call(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: CALL)
        reply = decoder.chat([USER], [OPENAI])
        function = {"name": "set_timer", "arguments": '{"minutes": 7}'}
        calls = [{"type": "function", "function": function}]
        assert without_ids(reply.message) == {"role": "assistant", "content": None, "tool_calls": calls}
        assert OPENAI_ID.fullmatch(reply.ids[0])
        assert (reply.finish_reason, reply.valid, reply.errors) == ("tool_calls", True, ())
        assert reply.result.call_format.name == "hermes" and str(reply) == CALL
        [call] = reply.calls
        assert call.voted.parameters[0].votes == 1 and 0 < call.confidence("minutes") <= 1
        as_json = json.loads(json.dumps(reply.to_json("x")))
        assert as_json["message"] == reply.message and as_json["calls"][0]["parameters"][0]["votes"] == 1

    def test_text_and_a_call(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: f"I set it.\n{CALL}")
        reply = decoder.chat([USER], [OPENAI])
        assert (reply.message["content"], reply.finish_reason) == ("I set it.", "tool_calls")

    def test_text(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: "No.")
        for tools, choice in ((None, "auto"), ([], "auto"), ([OPENAI], "auto"), ([OPENAI], "none")):
            reply = decoder.chat([USER], tools, choice)
            assert reply.message == {"role": "assistant", "content": "No."} and reply.finish_reason == "stop"

    def test_a_text_that_is_cut(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: "and so on, " * 20)
        assert decoder.chat([USER], max_text_tokens=3).finish_reason == "length"

    def test_thinking(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: f"<think>\nSeven.\n</think>\n\n{CALL}")
        reply = decoder.chat([USER], [OPENAI])
        assert (reply.message["reasoning_content"], reply.message["content"]) == ("Seven.", None)
        assert len(reply.calls) == 1

    def test_a_call_that_is_required(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: "No.")
        assert decoder.chat([USER], [OPENAI, Cancel], "required").calls[0].name in ("set_timer", "Cancel")
        for choice in ("set_timer", {"type": "function", "function": {"name": "set_timer"}}):
            assert [call.name for call in decoder.chat([USER], [OPENAI, Cancel], choice, max_calls=1).calls] == [
                "set_timer"
            ]

    @pytest.mark.parametrize("choice", ["auto", "required", "set_timer"])
    def test_at_most_one_call_where_parallel_ones_are_not_wanted(self, decoder: SyntheticDecoder, choice: str) -> None:
        says(decoder, lambda prompt: "\n".join(CALL.replace("7", str(minutes)) for minutes in (7, 8, 9)))
        for wanted, allowed in ((3, {}), (3, {"parallel_tool_calls": True}), (1, {"parallel_tool_calls": False})):
            assert len(decoder.chat([USER], [OPENAI], choice, **allowed).calls) == wanted
            *pieces, last = decoder.stream([USER], [OPENAI], choice, **allowed)
            assert isinstance(last, ChatMessage) and last.valid
            assert len([piece for piece in pieces if isinstance(piece, CallPiece)]) == len(last.calls) == wanted
        assert len(decoder.chat([USER], [OPENAI], choice, parallel_tool_calls=False, max_calls=2).calls) == 1
        with pytest.raises(PromptError, match="parallel_tool_calls: expected True or False, found 'no'"):
            decoder.chat([USER], [OPENAI], choice, parallel_tool_calls="no")  # type: ignore[arg-type]

    def test_a_template_without_tools_can_chat(self) -> None:
        decoder = decoder_of("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]")
        says(decoder, lambda prompt: "Hello.")
        assert decoder.chat([USER]).message["content"] == "Hello."

    def test_a_named_format(self, decoder: SyntheticDecoder) -> None:
        random_logits(decoder, 1)
        with pytest.warns(ChatWarning, match="writes calls in the format hermes, but they are decoded in pythonic"):
            reply = decoder.chat([USER], [OPENAI], "required", format="pythonic")
        assert reply.result.text.startswith("[set_timer(minutes=")

    def test_messages_of_decode_have_the_format_of_the_template(self, decoder: SyntheticDecoder) -> None:
        random_logits(decoder, 1)
        text = str(decoder.tokenizer.apply_chat_template([USER], tokenize=False, add_generation_prompt=True))
        prompts: list[Any] = [[USER], text, decoder.tokenizer.encode(text)]
        results = decoder.decode(prompts, [OPENAI], tool_choice="required")
        assert [r.call_format.name for r in results] == ["hermes", "api-bank", "api-bank"]
        assert results[0].text.startswith("<tool_call>") and results[0].valid
        named = decoder.decode([USER], [OPENAI], format="pythonic")
        assert named.call_format.name == "pythonic"  # type: ignore[attr-defined]


class TestStreams:
    @pytest.mark.parametrize("marks", [(), ("<think>", "</think>", "<tool_call>", "</tool_call>")])
    @pytest.mark.parametrize("answer", ["No, I do not.", f"I set it.\n{CALL}", f"<think>\nSeven.\n</think>\n\n{CALL}"])
    def test_pieces_add_up_to_the_message(self, answer: str, marks: tuple[str, ...]) -> None:
        decoder = decoder_of(HERMES, marks)
        says(decoder, lambda prompt: answer)
        *pieces, last = decoder.stream([USER], [OPENAI])
        whole = decoder.chat([USER], [OPENAI])
        assert isinstance(last, ChatMessage) and without_ids(last.message) == without_ids(whole.message)
        texts = [piece for piece in pieces if isinstance(piece, TextPiece)]
        for kind, text in (("content", whole.result.content), ("thinking", whole.result.thinking)):
            assert "".join(piece.text for piece in texts if piece.kind == kind) == text
        calls = [piece for piece in pieces if isinstance(piece, CallPiece)]
        assert [piece.message for piece in calls] == last.message.get("tool_calls", [])
        assert pieces == [*texts, *calls]

    def test_each_call_comes_once_it_is_voted(self, decoder: SyntheticDecoder) -> None:
        asked = 0

        def answer(prompt: str) -> str:
            nonlocal asked
            asked += 1
            return f"I set both.\n{CALL}\n{CALL.replace('7', '8')}"

        says(decoder, answer)
        seen: list[tuple[str, int]] = []
        for piece in decoder.stream([USER], [OPENAI]):
            seen.append((type(piece).__name__, asked))
        kinds = [kind for kind, _ in seen]
        assert kinds[-3:] == ["CallPiece", "CallPiece", "ChatMessage"] and {*kinds[:-3]} == {"TextPiece"}
        first_call, second_call = seen[-3:-1]
        assert seen[-4][1] < first_call[1] < second_call[1], "the model goes on behind each piece"

    def test_mistakes_come_before_the_first_piece(self, decoder: SyntheticDecoder) -> None:
        with pytest.raises(PromptError, match="unknown tool_choice 'other'"):
            decoder.stream([USER], [OPENAI], "other")


class TestTools:
    @pytest.mark.parametrize(
        "tools",
        [
            [set_timer], set_timer, [OPENAI], OPENAI, [MCP], {"tools": [MCP]}, [OPENAI["function"]],
            json.dumps([OPENAI]), json.dumps({"tools": [MCP]}), "set_timer(minutes: int, label: str = '')",
            extract([set_timer]), [Cancel, set_timer], [MCP, Cancel],
        ],
    )  # fmt: skip
    def test_every_shape_is_read_and_shown(self, tools: Any) -> None:
        documentation = read_tools(tools)
        shown = documentation.as_chat_tools()
        assert [tool["function"]["name"] for tool in shown] == list(documentation.lookup)
        assert extract(shown)["set_timer"].parameters[0].name == "minutes"
        assert all(tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object" for tool in shown)

    def test_schemas_are_shown_as_given(self) -> None:
        assert read_tools([OPENAI]).as_chat_tools() == [OPENAI]
        for tools in ([MCP], {"tools": [MCP]}, [set_timer.__name__ and MCP, Cancel]):
            assert read_tools(tools).as_chat_tools()[0] == OPENAI
        assert read_tools([OPENAI, Cancel]).as_chat_tools()[0] is OPENAI

    @pytest.mark.parametrize("tools", [None, [], {"tools": []}])
    def test_no_tools(self, tools: Any) -> None:
        assert read_tools(tools) is NO_TOOLS

    @pytest.mark.parametrize(
        ("tools", "said"),
        [
            ([{"type": "function", "function": {"description": "x", "parameters": SCHEMA}}], "a tool needs a name"),
            ([OPENAI, {"type": "function", "function": {"parameters": SCHEMA}}], "tools[1]"),
            ([{"name": "", "inputSchema": SCHEMA}], "a tool needs a name"),
            ([OPENAI, {"type": "web_search"}], "tools[1]: no tool documentation found"),
            ([OPENAI, 3], "tools[1]: no tool documentation found"),
            ([OPENAI, OPENAI], "two tools of one name: 'set_timer'"),
            ([lambda x: x], "a tool needs a name"),
            (3, "tools: no tool documentation found"),
            ("nothing of the kind", "tools: no tool documentation found"),
            ("", "tools: expected tool documentation, found an empty text"),
        ],
    )
    def test_what_is_no_tool_is_one_clear_line(self, decoder: SyntheticDecoder, tools: Any, said: str) -> None:
        with pytest.raises(ToolDecodingError) as error:
            decoder.chat([USER], tools)
        assert said in str(error.value) and "\n" not in str(error.value)


class TestToolChoice:
    def test_openai_names_a_function_in_two_ways(self) -> None:
        assert read_tool_choice({"type": "function", "function": {"name": "f"}}) == "f"
        assert read_tool_choice({"type": "function", "name": "f"}) == "f"
        assert read_tool_choice("required") == "required"

    @pytest.mark.parametrize("given", [3, [], {}, {"type": "tool", "name": "f"}, {"type": "function"}])
    def test_anything_else_is_refused(self, decoder: SyntheticDecoder, given: Any) -> None:
        with pytest.raises(PromptError, match=r"^tool_choice: expected auto, required, none, the name of a tool or"):
            decoder.chat([USER], [OPENAI], given)

    @pytest.mark.parametrize("name", ["other", "set", ""])
    def test_an_unknown_name_is_refused_with_the_known_ones(self, decoder: SyntheticDecoder, name: str) -> None:
        with pytest.raises(PromptError, match=f"unknown tool_choice '{name}'; known: auto, required, none, set_timer"):
            decoder.chat([USER], [OPENAI], name)

    @pytest.mark.parametrize("choice", ["required", "set_timer"])
    def test_a_call_needs_tools(self, decoder: SyntheticDecoder, choice: str) -> None:
        with pytest.raises(PromptError, match="there is no tool to call"):
            decoder.chat([USER], None, choice)


class TestModels:
    @pytest.mark.parametrize("tools", [None, [OPENAI]])
    def test_without_a_chat_template(self, tools: Any) -> None:
        with pytest.raises(ModelError, match="no chat template"):
            decoder_of(None).chat([USER], tools)

    def test_a_template_that_writes_no_known_format(self) -> None:
        decoder = decoder_of(HERMES.replace("<tool_call>", "<tooooool>"))
        with pytest.raises(ModelError, match=r"writes calls in no known format: .*tooooool.* --format"):
            decoder.chat([USER], [OPENAI])
        with pytest.raises(ModelError, match="no known format"):
            decoder.decode([USER], [OPENAI])

    @pytest.mark.parametrize(
        "refusal",
        [
            "{{ raise_exception('no\nway') }}", "{{ messages[0].content + 1 }}", "{{ 1 // 0 }}", "{{ nothing.at.all }}",
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{ broken",
        ],
    )  # fmt: skip
    def test_a_template_that_raises(self, refusal: str) -> None:
        with pytest.raises(PromptError, match=r"^the model's chat template refuses the dialogue: ") as error:
            decoder_of(refusal).chat([USER], tools=[OPENAI], format="hermes")
        assert "\n" not in str(error.value)

    def test_two_calls_of_llama(self) -> None:
        made = [{"id": i, "function": {"name": "set_timer", "arguments": '{"minutes": 1}'}} for i in "ab"]
        results = [{"role": "tool", "tool_call_id": i, "content": "ok"} for i in "ab"]
        with pytest.raises(PromptError, match="refuses the dialogue: This model only supports single tool-calls"):
            decoder_of(original("llama3_1")).chat([USER, {"role": "assistant", "tool_calls": made}, *results], [OPENAI])

    def test_a_conversation_that_is_too_long(self, decoder: SyntheticDecoder) -> None:
        with pytest.raises(PromptError, match="context is 4096 tokens"):
            decoder.chat([{"role": "user", "content": "word " * 5000}], [OPENAI])

    def test_text_that_is_no_unicode(self, decoder: SyntheticDecoder) -> None:
        with pytest.raises(PromptError, match="lone surrogate"):
            decoder.chat([{"role": "user", "content": "\ud800"}], [OPENAI])
