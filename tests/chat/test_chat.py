"""Chat in Python: answers of a model that wants something, tools in every shape, streams, and bad input."""

import json
import math
from contextlib import closing
from dataclasses import fields
from typing import Any

import pytest
from chat_models import HERMES, decoder_of, says
from own_templates import original
from pydantic import BaseModel

from call_ids import OPENAI as OPENAI_ID
from call_ids import without_ids
from lookup import ToolDecodingError, extract
from synthetic import RandomEngine, ScriptedEngine
from tooldecoding import DecodeOptions, ToolDecoder, chat_inputs, tool_decoding
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoding.decoded_call import TextPiece
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.formats.thinking import split_thinking
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_texts import END

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
        assert call.voted.parameters[0].votes == 1 and 0 < call.confidence("minutes") == call.confidences[0] <= 1
        assert str(call) == "set_timer(minutes=7)" in repr(call) and "valid" in repr(reply.result)
        with pytest.raises(KeyError):
            call.confidence("label")
        as_json = json.loads(json.dumps(reply.to_json("x")))
        assert as_json["message"] == reply.message and as_json["calls"][0]["parameters"][0]["votes"] == 1

    def test_text(self, decoder: SyntheticDecoder) -> None:
        says(decoder, lambda prompt: "No.")
        for tools, choice in ((None, "auto"), ([], "auto"), ([OPENAI], "auto"), ([OPENAI], "none")):
            reply = decoder.chat([USER], tools, choice)
            assert reply.message == {"role": "assistant", "content": "No."} and reply.finish_reason == "stop"

    @pytest.mark.parametrize("takes_system", [True, False])
    def test_a_model_that_may_not_call_is_told_that_its_calls_are_done(self, takes_system: bool) -> None:
        refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        decoder, prompts = decoder_of(refusal * (not takes_system) + HERMES), list[str]()
        says(decoder, lambda prompt: prompts.append(prompt) or "Done.")
        done = [
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "set_timer", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "set"},
        ]
        system = [{"role": "system", "content": "Be brief."}] * takes_system
        told = "You can call functions. The results of your calls are in the conversation."
        assert decoder.chat([*system, USER, *done], [OPENAI], "none").content == "Done."
        said, _, rest = prompts[-1].partition(told)
        assert said == ("[system]Be brief.\n\n" if takes_system else "[user]") and "Do it." in rest
        for messages, tools, choice in (
            ([USER, *done], [OPENAI], "auto"),
            ([USER], [OPENAI], "none"),
            ([USER, *done], [], "none"),
            ([USER, *done, {"role": "assistant", "content": "Set."}, USER], [OPENAI], "none"),
        ):
            decoder.chat([*system, *messages], tools, choice)
            assert told not in prompts[-1]
        shown = "{% for m in messages if m.role != 'system' or messages[-1].role == 'user' %}"
        mistral = decoder_of(HERMES.replace("{% for m in messages %}", shown))
        says(mistral, lambda prompt: prompts.append(prompt) or "Done.")
        assert mistral.chat([USER, *done], [OPENAI], "none").content == "Done." and told not in prompts[-1]
        qwen = decoder_of(original("qwen2_5")).tokenizer
        inputs = chat_inputs(qwen, [USER, *done], [OPENAI], tool_choice="none")
        assert "in <tool_response></tool_response>. Tell the user" in qwen.decode(inputs["input_ids"][0])

    @pytest.mark.parametrize("prints_tools", [True, False])
    def test_a_further_call_that_the_model_would_not_write_by_itself(self, prints_tools: bool) -> None:
        decoder = decoder_of(HERMES if prints_tools else HERMES.replace("{% if tools %}", "{% if false %}"))
        call = {"name": "set_timer", "arguments": {"minutes": 7}}
        listed = "```json\n[\n  " + json.dumps(call, indent=2).replace("\n", "\n  ") + ",\n"

        def continuation(text: str) -> str:
            written = text.rpartition("[assistant]")[2]
            if written == CALL:
                return END
            behind = written.removeprefix(CALL + "\n")
            said = listed if written.startswith("```") else CALL.replace("7", "7" if behind == written else "8") + END
            return said[len(behind) :]

        decoder.engine = ScriptedEngine(decoder.table.texts, continuation)
        both = {"role": "user", "content": "One of 7 minutes and one of 8."}
        for options in ({}, {"documentation": "summaries"}):
            assert len(decoder.chat([both], [OPENAI], "required", **options).calls) == 1 + prints_tools
            # nobody said anything of the second one
            assert len(decoder.chat([USER], [OPENAI], "required", **options).calls) == 1
        assert len(decoder.chat([both], [OPENAI], "required", next_call_threshold=math.inf).calls) == 1

    @pytest.mark.parametrize("choice", ["auto", "required", "set_timer"])
    def test_at_most_one_call_where_parallel_ones_are_not_wanted(self, decoder: SyntheticDecoder, choice: str) -> None:
        says(decoder, lambda prompt: "\n".join(CALL.replace("7", str(minutes)) for minutes in (7, 8, 9)))
        said = {"role": "user", "content": "7, 8 and 9 minutes."}
        for wanted, allowed in ((3, {}), (3, {"parallel_tool_calls": True}), (1, {"parallel_tool_calls": False})):
            assert len(decoder.chat([said], [OPENAI], choice, **allowed).calls) == wanted
            *pieces, last = decoder.stream([said], [OPENAI], choice, **allowed)
            assert isinstance(last, ChatMessage) and last.valid
            assert len([piece for piece in pieces if isinstance(piece, CallPiece)]) == len(last.calls) == wanted
        assert len(decoder.chat([USER], [OPENAI], choice, parallel_tool_calls=False, max_calls=2).calls) == 1
        with pytest.raises(PromptError, match="parallel_tool_calls: expected True or False, found 'no'"):
            decoder.chat([USER], [OPENAI], choice, parallel_tool_calls="no")  # type: ignore[arg-type]


class TestStreams:
    @pytest.mark.parametrize("marks", [(), ("<think>", "</think>", "<tool_call>", "</tool_call>")])
    @pytest.mark.parametrize("answer", ["No, I do not.", f"I set it.\n{CALL}", f"<think>\nSeven.\n</think>\n\n{CALL}"])
    def test_pieces_add_up_to_the_message(self, answer: str, marks: tuple[str, ...]) -> None:
        decoder = decoder_of(HERMES, marks)
        says(decoder, lambda prompt: answer)
        *pieces, last = decoder.stream([USER], [OPENAI])
        whole = decoder.chat([USER], [OPENAI])
        assert isinstance(last, ChatMessage) and without_ids(last.message) == without_ids(whole.message)
        assert whole.result.thinking == ("Seven." if "<think>" in answer else "")
        texts = [piece for piece in pieces if isinstance(piece, TextPiece)]
        for kind, text in (("content", whole.result.content), ("thinking", whole.result.thinking)):
            assert "".join(piece.text for piece in texts if piece.kind == kind) == text
        calls = [piece for piece in pieces if isinstance(piece, CallPiece)]
        assert [piece.message for piece in calls] == last.message.get("tool_calls", [])
        assert pieces == [*texts, *calls]

    @pytest.mark.parametrize(
        ("answer", "result", "behind", "minutes"),
        [
            (CALL, "set", [], []),
            ("\n\n", "set", [], []),
            (f"{CALL}\n{CALL.replace('7', '8')}", "set", [], []),
            (f"{CALL.replace('7', '8')}\n{CALL}", "set", [], [8]),
            (f" {CALL}", "set", [], []),
            (f"Let me see. {CALL}", '{"error": null}', [], []),
            (f"<think>\nSeven.\n</think>\n\n{CALL}", "set", [], []),
            (CALL, "Error: try later", [], [7]),
            (CALL, '{"status": "pending"}', [], [7]),
            (CALL, "set", [USER], [7]),
        ],
        ids=[
            "again", "silence", "again, and another", "another, and again", "behind a space", "behind words",
            "behind a thought", "failed", "not ended", "asked again",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("prints_tools", [True, False])
    def test_behind_a_result_no_call_is_made_again_and_something_is_said(
        self, answer: str, result: str, behind: list[Any], minutes: list[int], prints_tools: bool
    ) -> None:
        decoder = decoder_of(HERMES if prints_tools else HERMES.replace("{% if tools %}", "{% if false %}"))
        says(decoder, lambda prompt: "It is set." if "The results of your calls" in prompt else answer)
        function = {"name": "set_timer", "arguments": '{"minutes": 7}'}
        done = [
            {"role": "assistant", "tool_calls": [{"id": "a", "function": function}]},
            {"role": "tool", "tool_call_id": "a", "content": result},
        ]
        said = {"role": "user", "content": "One of 7 minutes and one of 8."}
        for options in ({}, {"documentation": "summaries"}):
            reply = decoder.chat([said, *done, *behind], [OPENAI], **options)
            assert [call.arguments["minutes"] for call in reply.calls] == minutes
            said_before = answer[: answer.index("<")].strip("\n") if "<" in answer else ""
            assert reply.content == (None if minutes else said_before + "It is set.") and reply.valid
            thought_and_said = reply.result.thinking, reply.content
            assert minutes or split_thinking(reply.result.text.strip("\n"), None) == thought_and_said
            assert reply.result.thinking == ("Seven." if "Seven" in answer else "")
            *pieces, last = decoder.stream([said, *done, *behind], [OPENAI], **options)
            assert isinstance(last, ChatMessage) and without_ids(last.message) == without_ids(reply.message)
            texts = [piece.text for piece in pieces if isinstance(piece, TextPiece)]
            assert "".join(texts) == reply.result.thinking + (reply.content or "")
        assert decoder.chat([said, *done, *behind], [OPENAI], "required").calls, "where the model must call"

    def test_broken_characters_are_replaced_as_in_the_message(self, decoder: SyntheticDecoder) -> None:
        decoder.engine = RandomEngine(decoder.table.texts, 1, lambda text: 5.0 * (text[0] >= 0x80))
        *pieces, last = decoder.stream([USER], None, max_text_tokens=40)
        assert isinstance(last, ChatMessage) and "\ufffd" in last.result.content
        assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == last.result.content


class TestTools:
    @pytest.mark.parametrize(
        "tools",
        [
            set_timer, [OPENAI], OPENAI, {"tools": [MCP]}, [OPENAI["function"]], json.dumps({"tools": [MCP]}),
            "set_timer(minutes: int, label: str = '')", extract([set_timer]), [Cancel, set_timer], [MCP, Cancel],
        ],
    )  # fmt: skip
    def test_every_shape_is_read_and_shown(self, tools: Any) -> None:
        documentation = read_tools(tools)
        shown = documentation.as_chat_tools()
        assert [tool["function"]["name"] for tool in shown] == list(documentation.lookup)
        assert extract(shown)["set_timer"].parameters[0].name == "minutes"
        assert all(tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object" for tool in shown)

    @pytest.mark.parametrize(
        ("tools", "said"),
        [
            ([OPENAI, {"type": "function", "function": {"parameters": SCHEMA}}], "tools[1]"),
            ([{"name": "", "inputSchema": SCHEMA}], "a tool needs a name"),
            ([OPENAI, {"type": "web_search"}], "tools[1]: no tool documentation found"),
            ([lambda x: x], "a tool needs a name"),
            ("nothing of the kind", "tools: no tool documentation found"),
        ],
    )
    def test_what_is_no_tool_is_one_clear_line(self, decoder: SyntheticDecoder, tools: Any, said: str) -> None:
        with pytest.raises(ToolDecodingError) as error:
            decoder.chat([USER], tools)
        assert said in str(error.value) and "\n" not in str(error.value)

    @pytest.mark.parametrize("name", ["gptoss", "qwen3", "glm4moe", "llama3_1"])
    def test_a_tool_may_say_no_more_than_its_name(self, name: str) -> None:
        decoder = decoder_of(original(name))
        decoder.engine = RandomEngine(decoder.table.texts, 1)
        for said in ({}, {"parameters": None}, {"parameters": None, "description": None, "strict": None}):
            tools = [{"type": "function", "function": {"name": "stop", **said}}]
            [call] = decoder.chat([USER], tools, "required", max_calls=1).calls
            assert (call.name, call.arguments) == ("stop", {})


class TestToolChoice:
    @pytest.mark.parametrize("given", [3, [], {}, {"type": "tool", "name": "f"}, {"type": "function"}])
    def test_anything_else_is_refused(self, decoder: SyntheticDecoder, given: Any) -> None:
        with pytest.raises(PromptError, match=r"^tool_choice: expected auto, required, none, the name of a tool or"):
            decoder.chat([USER], [OPENAI], given)


def test_generate_finds_the_format_of_a_chat_prompt_that_ends_in_plain_text() -> None:
    decoder = ToolDecoder.from_pretrained("reference")
    inputs = chat_inputs(decoder.tokenizer, [USER], [OPENAI])
    method = tool_decoding(decoder.tokenizer, [OPENAI], order_limit=1)
    output: Any = decoder.model.generate(**inputs, custom_generate=method, return_dict_in_generate=True)  # type: ignore[operator]
    assert output.results[0].call_format.name == "pythonic"


def test_options_are_taken_as_an_object() -> None:
    model, tokenizer = decoder_of(HERMES).model, decoder_of(HERMES).tokenizer
    decoder = ToolDecoder(model, tokenizer, order_limit=1, max_calls=1, max_text_tokens=4)
    wanted = DecodeOptions(tool_choice="required", order_limit=1, max_calls=1, max_value_tokens=3, format="hermes")
    as_fields: dict[str, Any] = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
    by_field = decoder.decode([USER], [OPENAI], **as_fields).text  # type: ignore[call-overload]
    assert decoder.decode([USER], [OPENAI], options=wanted).text == by_field  # type: ignore[union-attr]
    assert decoder.chat([USER], [OPENAI], options=wanted).result.text == by_field
    *_, last = decoder.stream([USER], [OPENAI], options=wanted)
    assert last.result.text == by_field  # type: ignore[union-attr]
    inputs = chat_inputs(tokenizer, [USER], [OPENAI], options=wanted)
    method = tool_decoding(tokenizer, [OPENAI], options=wanted)
    ids = model.generate(**inputs, max_new_tokens=400, custom_generate=method)  # type: ignore[operator]
    assert tokenizer.decode(ids[0, inputs["input_ids"].shape[1] :]) == by_field
    assert decoder.chat([USER], [OPENAI], "none", options=wanted).result.calls == (), "an argument wins"
    assert decoder.chat([USER], [OPENAI], options=wanted, format="pythonic").result.call_format.name == "pythonic"
    with closing(decoder.stream([USER], [OPENAI], stop=["x"], max_text_tokens=1, temperature=1e-40)) as pieces:
        next(pieces)
    for arguments in ({"strategy": "pakced"}, {"prompt_cache_mb": -1}):
        with pytest.raises(ConfigError, match=f"{next(iter(arguments))}: expected"):
            ToolDecoder(model, tokenizer, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="tokenizer: expected the model's tokenizer"):
        tool_decoding([OPENAI], tokenizer)  # type: ignore[arg-type]
    for wrong in ({"order_limit": 1}, "fast", DecodeOptions):
        for door in (decoder.decode, decoder.chat, decoder.stream):
            with pytest.raises(ConfigError, match="options: expected DecodeOptions, got"):
                door([USER], [OPENAI], options=wrong)  # type: ignore[operator]


HARMONY_MARKS = ("<|channel|>", "<|message|>", "<|start|>", "<|end|>")
FINAL = "<|channel|>final<|message|>Hi you."


@pytest.mark.parametrize("marks", [(), (*HARMONY_MARKS, "<think>", "</think>", "[THINK]", "[/THINK]")])
@pytest.mark.parametrize(
    "said",
    [
        " <think>Hm.</think>Yes",
        "\t\n[THINK]Hm.[/THINK]Yes",
        "  Yes\n",
        FINAL,
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant{FINAL}",
        f"<|channel|>commentary<|message|>I look.<|end|><|start|>assistant{FINAL}",
        "a <|start|>assistant b <|start|>",
    ],
)
def test_the_pieces_of_a_stream_are_the_whole_answer(said: str, marks: tuple[str, ...]) -> None:
    decoder = decoder_of(HERMES, marks)
    says(decoder, lambda prompt: said)
    *pieces, last = decoder.stream([USER])
    for kind, text in (("thinking", last.result.thinking), ("content", last.result.content)):
        assert "".join(piece.text for piece in pieces if piece.kind == kind) == text
    assert last.message == decoder.chat([USER]).message


def test_a_limit_leaves_out_a_call_that_has_begun() -> None:
    decoder = decoder_of(HERMES)
    says(decoder, lambda prompt: f"I go.\n{CALL}")
    for limit in range(8, 32):
        reply = decoder.chat([USER], [OPENAI], max_tokens=limit, max_text_tokens=limit)
        assert (reply.message["content"], reply.finish_reason) == ("I go.", "length"), limit


def test_thinking_that_reaches_the_limit_is_not_closed_beyond_it() -> None:
    decoder = decoder_of(HERMES, ("<think>", "</think>"))
    says(decoder, lambda prompt: f"<think>{'x' * 99}")
    for limit in (1, 2, 5, 20):
        reply = decoder.chat([USER], max_tokens=limit, max_text_tokens=limit)
        assert len(reply.result.token_ids) <= limit and reply.finish_reason == "length"
