"""The readers find the calls that the models' original templates wrote."""

import json
from typing import Any

import pytest
from reader_cases import RAW, READERS, needs_judges, padded, rendered

from tooldecoding.formats.reading import UnreadableCallError

RENDERED = [
    "cohere", "deepseek-v3", "deepseek-v3.1", "deepseek-v3.2", "gemma4", "glm-4.5", "harmony", "hermes", "json-list",
    "kimi-k2", "lfm2.5", "llama3-json", "minimax-m2", "mistral-args", "mistral-list", "qwen-xml",
]  # fmt: skip


def typed(calls: Any) -> str:
    """The calls as a text that tells 1, 1.0 and true apart."""
    return json.dumps(calls)


@needs_judges
@pytest.mark.parametrize("name", [n for n in RENDERED if n not in RAW])
def test_every_rendered_call_is_read(name: str) -> None:
    for text, calls in rendered()[name]:
        assert typed(READERS[name](text)) == typed(calls), text


@needs_judges
@pytest.mark.parametrize("name", [n for n in RENDERED if n in RAW])
def test_every_rendered_call_is_read_as_raw_texts(name: str) -> None:
    for text, calls in rendered()[name]:
        if padded(calls):
            with pytest.raises(UnreadableCallError, match="white space"):
                READERS[name](text)
            continue
        found = READERS[name](text)
        assert [(n, [k for k, _ in pairs]) for n, pairs in found] == [(n, [k for k, _ in pairs]) for n, pairs in calls]
        for (_, pairs), (_, meant) in zip(found, calls, strict=True):
            for (_, raw), (_, value) in zip(pairs, meant, strict=True):
                assert raw == value if isinstance(value, str) else typed(json.loads(raw)) == typed(value), text


@needs_judges
def test_every_format_that_templates_wrote_is_tested() -> None:
    assert sorted(rendered()) == RENDERED
