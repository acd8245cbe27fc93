"""The Python API: a prompt as text, token ids or messages is the same tokens; a typed error for each mistake.

The reference model's chat template: BFCL's prompt, calls in the format pythonic, one clear line on errors.
"""

import json
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from command_line import CASES
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding import Request, ToolDecoder, tool_decoding
from tooldecoding.chat.probe import chat_prompt
from tooldecoding.chat.templates import BFCL_ENDING, bfcl_prompt
from tooldecoding.chat.tools import read_tools
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.errors import ConfigError, ModelError, PromptError
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.options import DecodeOptions
from tools import WEATHER, lookup, tool

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What's the weather in New York?"}]
TOOLS = lookup(WEATHER)
FIELDS: dict[str, Any] = {"max_value_tokens": 5, "order_limit": 2, "format": "api-bank", "tool_choice": "required"}


def adding(tokenizer: PreTrainedTokenizerFast, template: str) -> PreTrainedTokenizerFast:
    """The tokenizer with a post-processor that adds special tokens."""
    ids = [(t, tokenizer.convert_tokens_to_ids(t)) for t in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ids)
    tokenizer.chat_template = TEMPLATE
    return tokenizer


TOKENIZERS = {
    "byte level": adding(byte_level_tokenizer(), "<s> $A"),
    "pieces and bytes": adding(sentencepiece_tokenizer(True), "<s> $A"),
    "end as well": adding(byte_level_tokenizer(), "<s> $A </s>"),
}


@pytest.fixture(scope="module", params=TOKENIZERS)
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    tokenizer = TOKENIZERS[request.param]
    assert tokenizer.encode("x")[0] == tokenizer.bos_token_id
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, "batched", prompt_cache_mb=0, **FIELDS)


def chat(decoder: ToolDecoder, tokenize: bool) -> Any:
    tools, given = read_tools(TOOLS).as_chat_tools(), {"add_generation_prompt": True, "return_dict": False}
    return decoder.tokenizer.apply_chat_template(MESSAGES, tools=tools, tokenize=tokenize, **given)


def fed(decoder: ToolDecoder, prompt: Any) -> list[int]:
    """The first branch's tokens that an engine is fed while a prompt is decoded, up to the prompt's end and beyond."""
    with patch.object(BatchedEngine, "extend", autospec=True, side_effect=BatchedEngine.extend) as extend:
        decoder.decode(prompt, TOOLS)
    return [token for call in extend.call_args_list for token in call.args[1][0].tokens]


def test_text_ids_and_messages_are_one_prompt(decoder: ToolDecoder) -> None:
    text, ids = chat(decoder, False), chat(decoder, True)
    beginning = decoder.tokenizer.bos_token_id
    assert text.startswith("<s>") and ids.count(beginning) == 1
    prompts = [text, ids, MESSAGES]
    decode = partial(decoder.decode, tools=TOOLS, optional_arguments="all")  # messages say what a text does not
    results: list[Any] = [*decode(prompts), *map(decode, prompts)]
    written = [(r.text, r.token_ids, [c.token_ids for call in r.calls for c in call.candidates]) for r in results]
    assert len(set(map(repr, written))) == 1
    for prompt in (*prompts, text.removeprefix("<s>")):
        tokens = fed(decoder, prompt)
        assert tokens[: len(ids) - 1].count(beginning) == 1 and tokens[0] == beginning
    assert decoder.prompt_ids(Request(text, TOOLS, DecodeOptions())) == ids


def test_what_is_no_prompt(decoder: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(decoder.table.texts)
    for prompt, said in [
        (None, "expected a prompt, a text, token ids .* or messages .*, or a list of prompts, got NoneType"),
        ({"prompt": "text"}, "got dict"),
        (["text", 7], "prompt 1 of the list: expected a text, token ids .* got int"),
        ("", "the prompt is empty"),
        ([5, -1], "token 1 of the prompt is -1, but the model's ids go from 0 to"),
        ([[5], [6, size]], f"token 1 of the prompt is {size}, but the model's ids go from 0 to {size - 1}"),
        ([5, 1.0], "token 1: expected a whole number, got float"),
        ([[5], [5, True]], "prompt 1 of the list: token 1: expected a whole number, got bool"),
        ([[5], []], "prompt 1 of the list: expected a text, token ids .* got an empty list"),
        (range(60, 65), "got range; lists are lists or tuples"),
        (np.array([5, 6]), "got ndarray; .* tolist"),
        ([torch.tensor(5), torch.tensor(6)], "prompt 0 of the list: .* got Tensor"),
        ([{"role": "user", "content": "x"}, "y"], r"the prompt: messages\[1\]: expected a message .* found str"),
        ([[{"content": "x"}]], r"prompt 0 of the list: messages\[0\]: expected a 'role' of"),
    ]:
        with pytest.raises(PromptError, match=said):
            decoder.decode(prompt, TOOLS)  # type: ignore[arg-type]
    assert decoder.decode((), TOOLS) == [] and not isinstance(decoder.decode((np.int64(5), 6), TOOLS), list)
    with pytest.raises(PromptError, match="ids go from 0"):
        decoder.run([Request([size], TOOLS, DecodeOptions())])
    monkeypatch.setattr(decoder.tokenizer, "chat_template", None)
    with pytest.raises(ModelError, match="no chat template; give a text"):
        decoder.decode(MESSAGES, TOOLS)


TOKENIZER = byte_level_tokenizer()
DECODER = ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
DOCUMENTED = (CASES / "tools.jsonl").read_text()


@pytest.mark.parametrize(
    ("tools", "fields", "error", "said"),
    [
        (DOCUMENTED, {"order_limits": 1}, ConfigError, "unknown option 'order_limits'; did you mean 'order_limit'"),
        (DOCUMENTED, {"order_limit": 0}, ConfigError, "order_limit: expected a whole number of 1 or more, got 0"),
        (DOCUMENTED, {"tool_choice": "Halt"}, PromptError, "'Halt'; known: auto, required, none, BookTable"),
        (5, {}, DocumentationError, "int"),
        (lookup(), {}, PromptError, "no tool to call"),
        (lookup(tool("f"), tool("f(x)")), {}, DocumentationError, r"'f\(' is the beginning of 'f\(x\)\('"),
    ],
)
def test_what_is_no_option_and_no_documentation(tools: Any, fields: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        DECODER.decode("x", tools, **fields)
    for make in (partial(ToolDecoder, DECODER.model, TOKENIZER), partial(tool_decoding, TOKENIZER, DOCUMENTED)):
        with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
            make(nonsense=1)


REFERENCE = load_tokenizer("reference")
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": "Größe <b>", "parameters": {"type": "object"}}}
    for name in ("f", "g.h")
]
USER = {"role": "user", "content": "Hello."}


def asked(given: object, *more: dict[str, Any]) -> dict[str, Any]:
    """Calls, the first of f."""
    first = {"id": "1", "type": "function", "function": {"name": "f", "arguments": given}}
    return {"role": "assistant", "content": None, "tool_calls": [first, *more]}


DEEP = "[" * 70 + "]" * 70
MALFORMED = ["", "{", "[]", "{} {}", '{"a": 1,}', "{a: 1}", '{"a": "b}', '{"a": "\\u12"}', '{"a": 1}}', "{,}"]
MALFORMED += ['{"a": NaN}', f'{{"a": {DEEP}}}']
NO_OBJECT = "the arguments of the call of f are not the text of one JSON object"


def test_a_dialogue_of_several_turns() -> None:
    messages = [
        {"role": "system", "content": "Be\nbrief."},
        USER,
        asked({"city": "Paris"}, {"name": "g.h", "arguments": '{"n": [1, true, null]}'}),
        {"role": "tool", "tool_call_id": "1", "content": '{\n "sky": "blue"\n}'},
        {"role": "tool", "tool_call_id": "2", "content": "it's 20"},
        {"role": "assistant", "content": "It is blue."},
        {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": " now?"}]},
    ]
    lines = [
        "System: Be brief.",
        "User: Hello.",
        "Calls: [f(city='Paris'), g.h(n=[1, True, None])]",
        'Results: {  "sky": "blue" }',
        'Results: "it\'s 20"',
        "AI: It is blue.",
        "User: And now?",
    ]
    functions = json.dumps([tool["function"] for tool in FUNCTIONS], indent=4, ensure_ascii=False)
    prompt = chat_prompt(REFERENCE, messages, FUNCTIONS)
    assert prompt == bfcl_prompt(functions, lines)
    history = REFERENCE.apply_chat_template(messages, tools=FUNCTIONS, tokenize=False)
    assert history + BFCL_ENDING == prompt


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "critic", "content": "x"}], "unknown role critic; known: system, user, assistant, tool"),
        ([{"content": "x"}], "unknown role ; known"),
        ([USER, {"role": "system", "content": "x"}], "a system message must be the first message"),
        ([USER, {"role": "tool", "content": "x"}], "a tool message must follow the call whose result it is"),
        ([asked({}), *[{"role": "tool", "content": "x"}] * 2], "must follow the call"),
        ([asked({}), {"role": "tool"}], "a message of role tool needs a content"),
        ([{"role": "user", "content": 3}], "a message of role user needs a content"),
        ([{"role": "user", "content": [{"type": "image"}]}], "texts only; a message of role user has another part"),
        ([{"role": "assistant", "content": None}], "a message of role assistant needs a content"),
        ([asked({}, {"type": "function"})], "a tool call needs a function with a name"),
        *(([USER, asked(text)], NO_OBJECT) for text in MALFORMED),
        ([asked([1])], "the arguments of the call of f are not"),
        ([asked({"a": json.loads(DEEP)})], "nested deeper than 64 levels"),
    ],
)
def test_wrong_messages(messages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(PromptError, match=message) as error:
        chat_prompt(REFERENCE, messages, FUNCTIONS)
    assert "\n" not in str(error.value)
