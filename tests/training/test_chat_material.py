"""Chats in the shape of hermes: what the model writes, where its turns end, and the template of a trained model."""

import json
from collections.abc import Iterator

import pytest
from tiny_run import sgd_train, tiny_tokenizer
from transformers import PreTrainedTokenizerFast

from data import needs_data
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import ToolResponse, Utterance
from tooldecoding.prompts.prompts import chat_prompt
from training.answer import CONTEXT, TEXT, Answer
from training.chat import HERMES
from training.encoding.encode import encode
from training.example import TEMPLATES, Example, Segment, segments
from training.synthetic.chats import make_chat
from training.synthetic.everyday import EVERYDAY, Everyday, ask_everyday, everyday_tool, keys_of
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size

TOOL = {"type": "function", "function": {"name": "f", "description": "é", "parameters": {"type": "object"}}}
CALLS = (Call("f", {"a": 'x "y"\n', "b": [1, None, {"c": True}]}), Call("f", {}))
TURNS = (
    Utterance("system", "Be brief."),
    Utterance("user", "Do it\ntwice."),
    Utterance("assistant", "One moment."),
    Answer(CALLS),
    ToolResponse("f", {"é": 1}),
    ToolResponse("f", "fine"),
    Utterance("assistant", "Done."),
    Utterance("user", "Fly!"),
    Answer(refusal="I cannot."),
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    return tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def chats(count: int) -> Iterator[Example]:
    d = Draw("chats")
    yield from (make_chat(d, Size(3, 4, 4)) for _ in range(count))


def messages(example: Example, parts: list[Segment], text_arguments: bool) -> list[dict[str, object]]:
    """The example as messages for a chat template, with the keys of calls as the segments have them."""
    out: list[dict[str, object]] = []
    answers = (part.answer for part in parts if part.answer)
    for turn in HERMES.turns(example.turns):
        if isinstance(turn, Answer):
            turn = next(answers)
            out.append({"role": "assistant", "content": turn.refusal or turn.said})
            if turn.calls:
                functions = [{"name": c.name, "arguments": dict(c.arguments)} for c in turn.calls]
                if text_arguments:
                    functions = [f | {"arguments": json.dumps(f["arguments"], ensure_ascii=False)} for f in functions]
                out[-1]["tool_calls"] = [{"type": "function", "function": f} for f in functions]
        elif isinstance(turn, ToolResponse):
            content = turn.value if isinstance(turn.value, str) else json.dumps(turn.value, ensure_ascii=False)
            out.append({"role": "tool", "content": content})
        else:
            out.append({"role": turn.speaker, "content": turn.text})
    return out


def test_turns_are_written_as_chat_models_write_them() -> None:
    example = Example((TOOL,), {"f": ["a", "b"]}, TURNS, HERMES)
    parts = segments(example, Draw("x"), 0.0)
    assert [p.text for p in parts if p.answer] == [
        'One moment.\n<tool_call>\n{"name": "f", "arguments": {"a": "x \\"y\\"\\n", "b": [1, null, {"c": true}]}}\n'
        '</tool_call>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>',
        "Done.<|im_end|>",
        "I cannot.<|im_end|>",
    ]
    contexts = [p.text for p in parts if not p.answer]
    assert contexts[0].startswith("<|im_start|>system\nBe brief.\n\n# Tools\n\n")
    assert f"<tools>\n{json.dumps(TOOL, ensure_ascii=False)}\n</tools>" in contexts[0]
    assert contexts[0].endswith("<|im_end|>\n<|im_start|>user\nDo it\ntwice.<|im_end|>\n<|im_start|>assistant\n")
    assert contexts[1:] == [
        '\n<|im_start|>user\n<tool_response>\n{"é": 1}\n</tool_response>\n<tool_response>\nfine\n</tool_response>'
        "<|im_end|>\n<|im_start|>assistant\n",
        "\n<|im_start|>user\nFly!<|im_end|>\n<|im_start|>assistant\n",
    ]


@pytest.mark.parametrize("text_arguments", [False, True])
def test_the_chat_template_prints_the_training_text(tokenizer: PreTrainedTokenizerFast, text_arguments: bool) -> None:
    for example in [Example((TOOL,), {"f": ["a", "b"]}, TURNS, HERMES), *chats(60)]:
        parts = segments(example, Draw("x"))
        given = messages(example, parts, text_arguments)
        text = tokenizer.apply_chat_template(given, tools=list(example.tools), tokenize=False)
        whole = "".join(part.text for part in parts)
        assert text[: len(whole)] == whole
        before = next(n for n, message in enumerate(given) if message["role"] == "assistant")
        prompt = tokenizer.apply_chat_template(
            given[:before], tools=list(example.tools), tokenize=False, add_generation_prompt=True
        )
        assert prompt == parts[0].text


ASKED = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([{"role": "critic", "content": "x"}], "unknown role critic; known: system, user, assistant, tool"),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "x"}], "must be the first message"),
        (
            [{"role": "user", "content": "x"}, {"role": "tool", "content": "x"}],
            "must follow the call whose result it is",
        ),
        ([{"role": "tool", "content": "x"}], "must follow the call whose result it is"),
        ([ASKED, {"role": "tool"}], "a message of role tool needs a content"),
        ([{"role": "user"}], "a message of role user needs a content"),
        ([{"role": "assistant", "content": None}], "a message of role assistant needs a content"),
        ([{"role": "user", "content": [{"type": "image"}]}], "the model reads texts only"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "a tool call needs a function with a name"),
        ([{"role": "assistant", "tool_calls": [{"name": "f"}]}], "the arguments of the call of f are no object"),
    ],
)
def test_wrong_messages(tokenizer: PreTrainedTokenizerFast, messages: list[dict[str, object]], error: str) -> None:
    with pytest.raises(PromptError, match=error) as refused:
        chat_prompt(tokenizer, messages, [TOOL])
    assert "\n" not in str(refused.value)


def test_the_loss_covers_the_assistants_turns_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    said = 0
    for example in chats(60):
        encoded = encode(segments(example, Draw("x")), tokenizer, 100_000)
        assert encoded is not None
        marks = [tokenizer.convert_tokens_to_ids(mark) for mark in ("<|im_start|>", "<|im_end|>")]
        inside, begins = False, tokenizer.encode("assistant\n")
        for n, (token, kind) in enumerate(zip(encoded.ids, encoded.kinds, strict=True)):
            assert (kind != CONTEXT) is inside
            said += kind == TEXT
            if token == marks[1]:
                inside = False
            elif encoded.ids[n - len(begins) : n + 1] == [marks[0], *begins]:
                inside = True
        assert encoded.ids[-1] == marks[1]
    assert said > 100


def test_chats_have_calls_results_and_text_without_calls() -> None:
    answers = [t for e in chats(200) for t in HERMES.turns(e.turns) if isinstance(t, Answer)]
    assert sum(bool(a.refusal) for a in answers) > 20
    assert sum(bool(a.said and not a.calls) for a in answers) > 100
    assert sum(bool(a.said and a.calls) for a in answers) > 5
    assert sum(len(a.calls) > 1 for a in answers) > 30
    after_results = [
        second
        for e in chats(200)
        for first, second in zip(e.turns, e.turns[1:], strict=False)
        if isinstance(first, ToolResponse) and isinstance(second, Utterance)
    ]
    assert sum(turn.speaker == "assistant" for turn in after_results) > 100


@pytest.mark.parametrize("kind", EVERYDAY, ids=lambda kind: kind.names[0])
def test_requests_of_everyday_tools_say_all_required_values(kind: Everyday) -> None:
    d = Draw(kind.names[0])
    assert set(kind.required) <= set(kind.slots) and "{" not in kind.bare
    for request in kind.requests:
        assert set(kind.required) <= set(keys_of(request)) <= set(kind.slots)
    for twice in (False, True) * 10:
        tool = everyday_tool(d, kind)
        text, calls = ask_everyday(d, kind, tool, twice)
        assert text and 1 <= len(calls) <= 1 + twice
        for call in calls:
            assert call.name == tool.name and set(kind.required) <= set(call.arguments)


@needs_data
def test_no_text_stands_where_sgd_has_a_call() -> None:
    dialogues, d = sgd_train(), Draw("sgd")
    for _ in range(60):
        [example] = dialogues.draw(d, "hermes", most_calls=1, renamed=False)
        calls = [n for n, turn in enumerate(example.turns) if isinstance(turn, Answer)]
        assert len(calls) <= 1 and example.template is TEMPLATES["hermes"]
        rest = [turn for turn in example.turns[calls[0] + 1 :] if isinstance(turn, ToolResponse)] if calls else []
        assert len(rest) <= 1
        assert all(tool["type"] == "function" for tool in example.tools)
