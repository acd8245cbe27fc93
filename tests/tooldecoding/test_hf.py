"""As a decoding method of transformers."""

import json

import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder, tool_decoding
from tooldecoding.hf import ToolDecodingOutput

TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("qwen2", len(TOKENIZER))
DOCS = json.dumps(
    {
        "name": "GetWeather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    }
)


def test_generate_gives_the_decoders_call() -> None:
    prompt = "User: the weather\n"
    inputs = TOKENIZER([prompt], return_tensors="pt", return_token_type_ids=False)
    method = tool_decoding(TOKENIZER, DOCS, max_value_tokens=6)
    sequences = MODEL.generate(**inputs, custom_generate=method, max_new_tokens=64)
    wanted = ToolDecoder(MODEL, TOKENIZER).decode(prompt, tools=DOCS, max_value_tokens=6)
    assert TOKENIZER.decode(sequences[0]) == prompt + wanted.text  # type: ignore[union-attr]


def test_padded_prompts_and_a_dictionary() -> None:
    prompts = ["x", "User: the weather in New York\n"]
    inputs = TOKENIZER(prompts, return_tensors="pt", padding=True, padding_side="left", return_token_type_ids=False)
    method = tool_decoding(TOKENIZER, DOCS, max_value_tokens=6, order_limit=1)
    output = MODEL.generate(**inputs, custom_generate=method, return_dict_in_generate=True, max_new_tokens=64)
    assert isinstance(output, ToolDecodingOutput) and output.results and output.sequences is not None
    alone = [ToolDecoder(MODEL, TOKENIZER).decode(p, tools=DOCS, max_value_tokens=6, order_limit=1) for p in prompts]
    assert [r.text for r in output.results] == [r.text for r in alone]  # type: ignore[union-attr]
    assert output.sequences.dtype == torch.long and output.sequences.shape[0] == 2
