"""An answer is a message in OpenAI's shape whatever the model wants, and every chat template takes it back."""

import json
import warnings
from typing import Any
from unittest.mock import patch

import pytest
from chat_models import decoder_of, random_logits
from own_templates import CALLS, ORIGINALS, original, template

from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.rendering import conversation_prompt
from tooldecoding.chat.reply import ChatMessage
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.chat.templates import PRINTED
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.testing import SyntheticDecoder
from tools import documented

TURNS = 3
BOOK = documented(
    "book_table",
    ["place", "people"],
    "Book a table.",
    place={"type": "string", "description": "Where."},
    people={"type": "integer", "description": "How many."},
    outside={"type": "boolean", "description": "Whether outside."},
    wishes={"type": "array", "items": {"type": "string"}, "description": "More."},
)
STOP = {"name": "stop", "description": "Stop.", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": each} for each in (BOOK, STOP)]
REQUIRED = {"book_table": {"place", "people"}, "stop": set()}

TEMPLATES = [
    *(pytest.param(lambda name=name: original(name), id=name) for name in ORIGINALS),
    *(pytest.param(lambda spelling=spelling: template(CALLS[spelling]), id=spelling) for spelling in CALLS),
]


def demand_message(reply: ChatMessage, names: set[str]) -> None:
    """The message has OpenAI's shape, and says what the votes say."""
    message = json.loads(json.dumps(reply.message))
    assert message["role"] == "assistant"
    assert message["content"] is None or isinstance(message["content"], str)
    assert message["content"] is not None or reply.calls
    calls = message.get("tool_calls", [])
    assert bool(calls) == bool(reply.calls) == (reply.finish_reason == "tool_calls")
    for given, call in zip(calls, reply.calls, strict=True):
        assert set(given) == {"id", "type", "function"} and given["type"] == "function"
        arguments = json.loads(given["function"]["arguments"], parse_constant=pytest.fail)
        assert given["function"]["name"] == call.name in names
        assert arguments == call.arguments and REQUIRED[call.name] <= arguments.keys()


def converse(decoder: SyntheticDecoder) -> list[dict[str, Any]]:
    """Let a random model answer three times, with results for its calls; returns the conversation."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": 'Do <it> & "go"'}]
    for turn in range(TURNS):
        random_logits(decoder, TURNS + turn)
        reply = decoder.chat(messages, TOOLS, ("required", "auto", "required")[turn])
        demand_message(reply, {*REQUIRED})
        assert reply.valid, reply.errors
        is_text = (reply.content or "").strip() or reply.result.thinking or reply.finish_reason == "length"
        assert reply.calls or is_text or messages[-1]["role"] == "user", "behind results something is said"
        messages.append(dict(reply.message))
        for call in reply.message.get("tool_calls", []):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result of {call['id']}"})
        if not reply.calls:
            messages[-1]["content"] = reply.content or "Well."  # Mistral's templates refuse an empty answer
            messages.append({"role": "user", "content": f"More, after {turn}?"})
    return messages


@pytest.mark.parametrize("chat_template", TEMPLATES)
def test_answers_go_back_through_every_template(chat_template: Any) -> None:
    decoder = decoder_of(chat_template(), max_text_tokens=8, max_calls=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChatWarning)  # DeepSeek V3 prints no tools
        messages = converse(decoder)
        reply = decoder.chat(messages, TOOLS, "none")
    assert not reply.calls and reply.finish_reason in ("stop", "length")
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    assert len({call["id"] for call in calls}) == len(calls) >= 2
    text = conversation_prompt(read_messages(messages), TOOLS, profile_of(decoder.tokenizer), decoder.tokenizer)
    assert "&#34;" not in text and "{'place'" not in text
    for call in calls:
        arguments = json.loads(call["function"]["arguments"])
        assert call["function"]["name"] in text and all(key in text for key in arguments)


USER = {"role": "user", "content": "A table at Da Gino, please."}
ARGUMENTS = ('{"place": "Da Gino", "people": 2}', '{"place": "Luigi", "people": 3}')
CALLED: list[dict[str, Any]] = [
    USER,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"toolu_{n}", "type": "function", "function": {"name": "book_table", "arguments": arguments}}
            for n, arguments in enumerate(ARGUMENTS)
        ],
    },
    {"role": "tool", "tool_call_id": "toolu_1", "content": "second: full"},
    {"role": "tool", "tool_call_id": "toolu_0", "content": "first: booked"},
]
SAID = [USER, CALLED[1] | {"content": "One moment."}, *CALLED[2:]]


SYSTEM = {"role": "system", "content": "Be brief."}


def test_nothing_is_left_out_in_silence() -> None:
    two, later = read_messages(CALLED), [USER, {"role": "assistant", "content": "Well."}, SYSTEM]
    tokenizer = decoder_of(original("gptoss")).tokenizer
    with pytest.raises(PromptError, match=r"messages\[1\]: .* writes only the first of the 2 calls"):
        conversation_prompt(two, TOOLS, profile_of(tokenizer), tokenizer)
    with pytest.raises(PromptError, match=r"messages\[2\]: .* leaves out this message of role system"):
        conversation_prompt(read_messages(later), TOOLS, profile_of(tokenizer), tokenizer)
    tokenizer = decoder_of(original("llama3_1")).tokenizer
    with pytest.raises(PromptError, match="refuses the dialogue: This model only supports single tool-calls at once"):
        conversation_prompt(two, TOOLS, profile_of(tokenizer), tokenizer)


TAKES_SYSTEM_LAST = {"glm4moe": True, "qwen2_5": True, "llama3_1": True, "gemma3": False, "qwen3_5_think": False}
"""Original template -> whether it takes a conversation that is a system message alone."""


@pytest.mark.parametrize("name", [*ORIGINALS, "gemma3", "cohere2", "phi3_5", "lfm2"])
def test_system_messages_stand_where_the_template_takes_them_or_join_the_first(name: str) -> None:
    tokenizer = decoder_of(original(name)).tokenizer
    profile, again = profile_of(tokenizer), {"role": "developer", "content": "Be kind."}
    for given in ([SYSTEM, USER, again], [SYSTEM, again, USER], [SYSTEM, USER, ANSWERED, again, USER], [USER, again]):
        text = conversation_prompt(read_messages(given), [], profile, tokenizer)
        said = [" ".join(row["content"].split()) for row in given]
        assert all(each in " ".join(text.split()) for each in said), "nothing is lost"
        assert SYSTEM not in given or text.index("Be brief.") < text.index("Be kind.")
    if (takes := TAKES_SYSTEM_LAST.get(name)) is not None:
        if takes:
            assert "Be brief." in conversation_prompt(read_messages([SYSTEM]), [], profile, tokenizer)
        else:
            with pytest.raises(PromptError, match=r"^messages\[0\]: the model's chat template"):
                conversation_prompt(read_messages([SYSTEM]), [], profile, tokenizer)


def test_a_refusal_names_the_system_message() -> None:
    tokenizer = decoder_of(original("qwen3_5_think")).tokenizer
    given = read_messages([USER, ANSWERED, USER, ANSWERED, SYSTEM])
    with pytest.raises(PromptError, match=r"^messages\[4\]: .* System message must be at the beginning"):
        conversation_prompt(given, [], profile_of(tokenizer), tokenizer)


ANSWERED = {"role": "assistant", "content": "Well."}


@pytest.mark.parametrize("chat_template", TEMPLATES)
def test_every_template_writes_arguments_that_are_no_object_and_ids_that_come_again(chat_template: Any) -> None:
    tokenizer = decoder_of(chat_template()).tokenizer
    given = [USER]
    for text in ('{"place": "Da Gi', "[1, 23]"):
        function = {"name": "book_table", "arguments": text}
        given += [{"role": "assistant", "content": None, "tool_calls": [{"id": "call_0", "function": function}]}]
        given += [{"role": "tool", "tool_call_id": "call_0", "content": f"wrong: {len(given)}"}]
    text = conversation_prompt(read_messages(given), TOOLS, profile_of(tokenizer), tokenizer)
    for said in ("Da Gi", "wrong: 2", "[1, 23]", "wrong: 4"):
        assert said in text and "&#34;" not in text
    assert text.index("Da Gi") < text.index("wrong: 2") < text.index("[1, 23]") < text.index("wrong: 4")


def test_text_that_a_template_refuses_beside_calls_is_warned_of() -> None:
    tokenizer = decoder_of(original("mistral_v3")).tokenizer
    with pytest.warns(ChatWarning, match="does not see the text that it wrote before a call: 'One moment.'") as warned:
        text = conversation_prompt(read_messages(SAID), TOOLS, profile_of(tokenizer), tokenizer)
    assert "One moment." not in text and len(warned) == 1


@pytest.mark.parametrize("name", [*ORIGINALS, "gemma3", "cohere2", "phi3_5", "lfm2"])
def test_an_answer_without_text_goes_back_through_every_template(name: str) -> None:
    tokenizer = decoder_of(original(name)).tokenizer
    given = read_messages([USER, ANSWERED | {"content": ""}, USER])
    text = conversation_prompt(given, [], profile_of(tokenizer), tokenizer)
    assert str(text).count(USER["content"]) == 2


ROLES = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
ANSWER = "{% if add_generation_prompt %}[assistant]{% endif %}"
STRICT = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}{% endfor %}"
)
BARE = {
    "roles": lambda: ROLES + ANSWER,
    "alternating, without system": lambda: STRICT + ROLES + ANSWER,
    **{name: (lambda name=name: original(name)) for name in ("phi3_5", "gemma3", "cohere2")},
}


@pytest.fixture(params=BARE)
def decoder(request: pytest.FixtureRequest) -> SyntheticDecoder:
    return decoder_of(BARE[request.param](), max_text_tokens=8, max_calls=2)


def prompt_of(decoder: SyntheticDecoder, messages: Any, tools: Any = TOOLS, **fields: Any) -> str:
    """What the model reads of a chat template that prints no tools, without a warning."""
    random_logits(decoder, 1)
    with warnings.catch_warnings(), patch.object(decoder, "run", wraps=decoder.run) as run:
        warnings.simplefilter("error")
        decoder.chat(messages, tools, **fields)
    return str(run.call_args.args[0][0].prompt)


def test_the_model_sees_the_tools_and_how_to_call_them(decoder: SyntheticDecoder) -> None:
    prompt = prompt_of(decoder, [USER], tool_choice="required")
    for shown in ("book_table", "How many.", "outside", "stop", CALL_FORMATS[PRINTED].start(0), USER["content"]):
        assert shown in prompt
    assert prompt.count("book_table") == 1 and prompt.index("book_table") < prompt.index(USER["content"])
    assert "book_table" not in prompt_of(decoder, [USER], None)
    names = prompt_of(decoder, [USER], documentation="names")
    signatures = prompt_of(decoder, [USER], documentation="signatures")
    assert "How many." not in signatures and "outside" in signatures and "outside" not in names and "stop" in names
    assert len(names) < len(signatures) < len(prompt)


def test_calls_and_results_are_written_as_text(decoder: SyntheticDecoder) -> None:
    prompt = prompt_of(decoder, [*SAID, {"role": "user", "content": "Thanks."}])
    calls = [Call("book_table", json.loads(arguments)) for arguments in ARGUMENTS]
    assert CALL_FORMATS[PRINTED].render(calls) in prompt
    shown = ["One moment.", "Da Gino", "Luigi", "book_table is: first: booked", "is: second: full", "Thanks."]
    places = [prompt.rindex(text) for text in shown]
    assert places == sorted(places)
    assert "enough" not in prompt and prompt_of(decoder, SAID).count("if this is enough") == 1
    assert "One moment." in prompt_of(decoder, SAID, None), "calls are shown without tools, too"
