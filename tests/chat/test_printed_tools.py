"""Chat templates that print no tools: Tool Decoding prints them, and calls and results as text, at every door."""

import json
import warnings
from typing import Any

import pytest
from chat_models import HERMES, decoder_of, original, random_logits, says
from test_chat_laws import TOOLS, converse

from tooldecoding import chat_inputs, tool_decoding
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.choose_format import PRINTED
from tooldecoding.testing import SyntheticDecoder

ROLES = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
ANSWER = "{% if add_generation_prompt %}[assistant]{% endif %}"
STRICT = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}{% endfor %}"
)
TEMPLATES = {
    "roles": lambda: ROLES + ANSWER,
    "alternating, without system": lambda: STRICT + ROLES + ANSWER,
    **{name: (lambda name=name: original(name)) for name in ("phi3_5", "gemma3", "cohere2")},
}
SYSTEM = {"role": "system", "content": "Answer in <verse>."}
USER = {"role": "user", "content": "A table at Da Gino, please."}
CALLED: list[dict[str, Any]] = [
    USER,
    {
        "role": "assistant",
        "content": "One moment.",
        "tool_calls": [
            {"id": f"c{n}", "type": "function", "function": {"name": "book_table", "arguments": arguments}}
            for n, arguments in enumerate(('{"place": "Da Gino", "people": 2}', '{"place": "Luigi", "people": 3}'))
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "second: full"},
    {"role": "tool", "tool_call_id": "c0", "content": "first: booked"},
    {"role": "user", "content": "Thanks. And one for tomorrow."},
]


@pytest.fixture(params=TEMPLATES)
def decoder(request: pytest.FixtureRequest) -> SyntheticDecoder:
    return decoder_of(TEMPLATES[request.param](), max_text_tokens=8, max_calls=2)


def prompt_of(decoder: SyntheticDecoder, messages: Any, tools: Any = TOOLS, **fields: Any) -> str:
    """What the model reads, without a warning."""
    random_logits(decoder, 1)
    read: list[str] = []
    run = decoder.run
    decoder.run = lambda requests: [read.append(str(r.prompt)) for r in requests] and run(requests)  # type: ignore
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            decoder.chat(messages, tools, **fields)
    finally:
        decoder.run = run  # type: ignore[method-assign]
    return read[0]


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


def test_tools_stand_beside_the_users_own_system_message(decoder: SyntheticDecoder) -> None:
    if habits_of(decoder.tokenizer).takes_system:
        prompt = prompt_of(decoder, [SYSTEM, USER])
        assert prompt.index(SYSTEM["content"]) < prompt.index("book_table") < prompt.index(USER["content"])


def test_calls_and_results_are_written_as_text(decoder: SyntheticDecoder) -> None:
    prompt = prompt_of(decoder, CALLED)
    calls = [Call("book_table", json.loads(call["function"]["arguments"])) for call in CALLED[1]["tool_calls"]]
    assert CALL_FORMATS[PRINTED].render(calls) in prompt
    shown = ["One moment.", "Da Gino", "Luigi", "book_table is: first: booked", "is: second: full", "Thanks."]
    places = [prompt.rindex(text) for text in shown]
    assert places == sorted(places)
    assert "enough" not in prompt and prompt_of(decoder, CALLED[:-1]).count("if this is enough") == 1
    assert "One moment." in prompt_of(decoder, CALLED, None), "calls are shown without tools, too"


def test_answers_go_back_through_the_template(decoder: SyntheticDecoder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        messages = converse(decoder, seed=1)
    assert sum(len(message.get("tool_calls", [])) for message in messages) >= 2


def test_every_door_makes_the_same_prompt(decoder: SyntheticDecoder) -> None:
    random_logits(decoder, 2)
    fields: dict[str, Any] = {"tool_choice": "required", "max_calls": 1}
    chat = decoder.chat([USER], TOOLS, **fields).result
    *_, last = decoder.stream([USER], TOOLS, **fields)
    decoded: Any = decoder.decode([USER], TOOLS, **fields)
    assert chat.text == last.result.text == decoded.text  # type: ignore[union-attr]
    assert chat.token_ids == decoded.token_ids and chat.call_format.name == PRINTED


def test_a_wanted_call_is_made_and_a_wanted_text_is_not_one() -> None:
    decoder = decoder_of(ROLES + ANSWER)
    call = CALL_FORMATS[PRINTED].render([Call("book_table", {"place": "Bo", "people": 2})])
    says(decoder, lambda prompt: call if "table" in prompt.rpartition("[user]")[2] else "Hi.")
    reply = decoder.chat([USER], TOOLS)
    assert [(c.name, c.arguments) for c in reply.calls] == [("book_table", {"place": "Bo", "people": 2})]
    assert decoder.chat([{"role": "user", "content": "Hello"}], TOOLS).message["content"] == "Hi."


def test_templates_that_print_tools_are_left_alone() -> None:
    prompt = prompt_of(decoder_of(HERMES), CALLED)
    assert "You can call" not in prompt and prompt.count("<tools>") == 1 and "The result of" not in prompt


def test_a_template_that_writes_calls_but_no_tools_keeps_its_calls() -> None:
    decoder = decoder_of(original("deepseekv3"))
    habits = habits_of(decoder.tokenizer)
    assert not habits.prints_tools and habits.shown_calls == "all"
    prompt = prompt_of(decoder, CALLED)
    assert "How many." in prompt and "The result of" not in prompt and "first: booked" in prompt


def test_generate_reads_the_same_prompt(decoder: SyntheticDecoder) -> None:
    """Both ways into ``generate`` take ``chat_inputs``; the format is found."""
    tokenizer, model = decoder.tokenizer, decoder.model
    inputs = chat_inputs(tokenizer, [SYSTEM] * habits_of(tokenizer).takes_system + [USER], TOOLS)
    assert "book_table" in tokenizer.decode(inputs["input_ids"][0])
    fields: dict[str, Any] = {"order_limit": 1, "max_value_tokens": 4, "max_calls": 1}
    method = tool_decoding(tokenizer, TOOLS, **fields)
    ids = model.generate(**inputs, max_new_tokens=512, custom_generate=method)[0, inputs["input_ids"].shape[1] :]
    if any(token in tokenizer.all_special_ids for token in inputs["input_ids"][0, -8:].tolist()):
        assert tokenizer.decode(ids).startswith(CALL_FORMATS[PRINTED].start(0))
