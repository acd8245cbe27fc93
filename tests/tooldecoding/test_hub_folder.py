"""The folder in the hub's layout: ``model.generate(custom_generate=FOLDER, trust_remote_code=True)``."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import tool_decoding
from tooldecoding.errors import ConfigError

FOLDER = str(Path(__file__).parents[2] / "tooldecoding" / "generate" / "hub")
TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("llama", len(TOKENIZER))
TOOLS = "get_weather(city: str, days: int)"


def generate(**arguments: Any) -> Any:
    inputs = TOKENIZER(["User: the weather\n"], return_tensors="pt", return_token_type_ids=False)
    return MODEL.generate(**inputs, **arguments)


def from_folder(**arguments: Any) -> Any:
    return generate(custom_generate=FOLDER, trust_remote_code=True, **arguments)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path))


def test_the_folder_gives_the_method_of_the_package() -> None:
    found = from_folder(tokenizer=TOKENIZER, tools=TOOLS, decoding={"order_limit": 2, "max_value_tokens": 6})
    wanted = generate(custom_generate=tool_decoding(TOKENIZER, TOOLS, order_limit=2, max_value_tokens=6))
    assert torch.equal(found, wanted)
    assert "get_weather(" in TOKENIZER.decode(found[0])


@pytest.mark.parametrize("missing", ["tokenizer", "tools"])
def test_what_is_missing_is_named(missing: str) -> None:
    given = {"tokenizer": TOKENIZER, "tools": TOOLS}
    given.pop(missing)
    with pytest.raises(ConfigError, match=missing):
        from_folder(**given)


def test_what_cannot_be_honoured_is_refused() -> None:
    with pytest.raises(ConfigError, match="num_beams"):
        from_folder(tokenizer=TOKENIZER, tools=TOOLS, num_beams=4)
    with pytest.raises(ConfigError, match="orders"):
        from_folder(tokenizer=TOKENIZER, tools=TOOLS, decoding={"ordres": 3})
