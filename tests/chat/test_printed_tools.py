"""Chat templates that print no tools: Tool Decoding prints them, and calls and results as text, at every door."""

import json
import warnings
from typing import Any

import pytest
from chat_models import decoder_of, random_logits
from own_templates import original
from test_chat_laws import TOOLS

from tooldecoding.chat.templates import PRINTED
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
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


def test_calls_and_results_are_written_as_text(decoder: SyntheticDecoder) -> None:
    prompt = prompt_of(decoder, CALLED)
    calls = [Call("book_table", json.loads(call["function"]["arguments"])) for call in CALLED[1]["tool_calls"]]
    assert CALL_FORMATS[PRINTED].render(calls) in prompt
    shown = ["One moment.", "Da Gino", "Luigi", "book_table is: first: booked", "is: second: full", "Thanks."]
    places = [prompt.rindex(text) for text in shown]
    assert places == sorted(places)
    assert "enough" not in prompt and prompt_of(decoder, CALLED[:-1]).count("if this is enough") == 1
    assert "One moment." in prompt_of(decoder, CALLED, None), "calls are shown without tools, too"
