"""A prompt as text, token ids or messages: the model reads the same tokens, with one beginning of sequence."""

from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding import Request, ToolDecoder
from tooldecoding.chat.tools import read_tools
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.options import DecodeOptions
from tools import WEATHER, lookup

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What's the weather in New York?"}]
FIELDS: dict[str, Any] = {
    "tools": lookup(WEATHER),
    "max_value_tokens": 5,
    "order_limit": 2,
    "format": "api-bank",
    "tool_choice": "required",
}


def adding(tokenizer: PreTrainedTokenizerFast, template: str) -> PreTrainedTokenizerFast:
    """The tokenizer with a post-processor that adds special tokens."""
    ids = [(t, tokenizer.convert_tokens_to_ids(t)) for t in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ids)
    tokenizer.chat_template = TEMPLATE
    return tokenizer


TOKENIZERS = {
    "byte level": adding(byte_level_tokenizer(), "<s> $A"),
    "pieces and bytes": adding(sentencepiece_tokenizer(byte_fallback=True), "<s> $A"),
    "end as well": adding(byte_level_tokenizer(), "<s> $A </s>"),
}


@pytest.fixture(scope="module", params=TOKENIZERS)
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    tokenizer = TOKENIZERS[request.param]
    assert tokenizer.encode("x")[0] == tokenizer.bos_token_id
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, strategy="batched", prompt_cache_mb=0)


def chat(decoder: ToolDecoder, tokenize: bool) -> Any:
    tools = read_tools(FIELDS["tools"]).as_chat_tools()
    return decoder.tokenizer.apply_chat_template(
        MESSAGES, tools=tools, tokenize=tokenize, add_generation_prompt=True, return_dict=False
    )


def fed(decoder: ToolDecoder, prompt: Any, **fields: Any) -> list[int]:
    """The first branch's tokens that an engine is fed while a prompt is decoded, up to the prompt's end and beyond."""
    make, tokens = decoder.new_engine, []

    def watched() -> Any:
        engine = make()
        extend = engine.extend

        def heard(feeds: Any) -> Any:
            tokens.extend(feeds[0].tokens)
            return extend(feeds)

        engine.extend = heard  # type: ignore[method-assign]
        return engine

    decoder.new_engine = watched
    try:
        decoder.decode(prompt, **FIELDS | fields)
    finally:
        decoder.new_engine = make
    return tokens


def written(result: Any) -> Any:
    return result.text, result.token_ids, [[c.token_ids for c in call.candidates] for call in result.calls]


def test_text_ids_and_messages_are_one_prompt(decoder: ToolDecoder) -> None:
    text, ids = chat(decoder, False), chat(decoder, True)
    assert text.startswith("<s>") and ids.count(decoder.tokenizer.bos_token_id) == 1
    several: Any = decoder.decode([text, ids, MESSAGES], **FIELDS)
    alone: list[Any] = [decoder.decode(prompt, **FIELDS) for prompt in (text, ids, MESSAGES)]
    assert len({repr(written(result)) for result in [*several, *alone]}) == 1


def test_the_model_reads_one_beginning(decoder: ToolDecoder) -> None:
    beginning = decoder.tokenizer.bos_token_id
    text, ids = chat(decoder, False), chat(decoder, True)
    for prompt in (text, ids, MESSAGES, text.removeprefix("<s>")):
        tokens = fed(decoder, prompt)
        assert tokens[: len(ids) - 1].count(beginning) == 1 and tokens[0] == beginning
    assert decoder.prompt_ids(Request(text, FIELDS["tools"], DecodeOptions())) == ids


def test_what_is_no_prompt_of_tokens(decoder: ToolDecoder) -> None:
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
        ([[{"content": "x"}]], r"prompt 0 of the list: messages\[0\]: a message needs a 'role'"),
    ]:
        with pytest.raises(PromptError, match=said):
            decoder.decode(prompt, **FIELDS)  # type: ignore[arg-type]
    assert decoder.decode((), **FIELDS) == [] and not isinstance(decoder.decode((np.int64(5), 6), **FIELDS), list)
    with pytest.raises(PromptError, match="ids go from 0"):
        decoder.run([Request([size], FIELDS["tools"], DecodeOptions())])


def test_messages_need_a_template(decoder: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder.tokenizer, "chat_template", None)
    with pytest.raises(ModelError, match="no chat template; give a text"):
        decoder.decode(MESSAGES, **FIELDS)
