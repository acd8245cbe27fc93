"""The engines of ``bench schemas``, ours and other libraries, judge the same simple instances alike."""

from collections.abc import Sequence
from typing import Any

import pytest

from eval.schemas.engines import PEERS, Engine, OwnEngine
from eval.schemas.run import measure
from tooldecoding.files.json_lines import json_line
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}
CASES: Sequence[tuple[Any, list[Any], list[Any]]] = [
    (OBJECT, [{"a": 12}, {"a": 1, "b": 'ü"x{'}, {"a": -3, "b": ""}], [{"a": "x"}, {}, [1]]),
    ({"type": "integer"}, [0, 12, -345], [1.5, "1", None]),
    ({"type": "array", "items": {"type": "boolean"}}, [[], [True, False]], [[1], True]),
    ({"type": "object", "additionalProperties": {"type": "null"}}, [{}, {"x": None}], [{"x": 0}]),
    ({"enum": ["one", "only"]}, ["one", "only"], ["on", "onlyx", 1]),
]


def engine(kind: type[Engine], tokenizer: str) -> Engine:
    if kind is not OwnEngine:
        pytest.importorskip(kind.package.replace("-", "_"))
    return kind(tokenizer)


@pytest.mark.parametrize("kind", [OwnEngine, *PEERS.values()], ids=lambda kind: kind.name)
def test_an_engine_judges(kind: type[Engine], tiny_model_path: str) -> None:
    judge, table = engine(kind, tiny_model_path), TokenTable(load_tokenizer(tiny_model_path))
    for schema, valid, invalid in CASES:
        data = [(value, True) for value in valid] + [(value, False) for value in invalid]
        tests = [
            {"valid": right, "data": value, "tokens": table.encode_after(b"", json_line(value).encode())}
            for value, right in data
        ]
        found = measure(judge, {"schema": schema, "tests": tests})
        judged = {
            json_line(value): verdict["accepted"] for (value, _), verdict in zip(data, found["verdicts"], strict=True)
        }
        assert judged == {json_line(value): right for value, right in data}
        assert [v["kept"] for v in found["verdicts"]] == [right for _, right in data]
        assert len(found["tokens"]) == sum(len(test["tokens"]) for test in tests if test["valid"])
        assert bool(found["search"]) == (kind is OwnEngine) and found["grammar"] > 0


@pytest.mark.parametrize("kind", [OwnEngine, *PEERS.values()], ids=lambda kind: kind.name)
def test_a_text_that_ends_early_is_refused(kind: type[Engine], tiny_model_path: str) -> None:
    judge, table = engine(kind, tiny_model_path), TokenTable(load_tokenizer(tiny_model_path))
    judge.compile(OBJECT)
    for text in (b"{", b'{"a": 1', b'{"a": 1}}', b'{"a": 1},'):
        judge.start()
        assert not (all(judge.take(token) for token in table.encode_after(b"", text)) and judge.complete())


@pytest.mark.parametrize("kind", [OwnEngine, PEERS["llguidance"], PEERS["xgrammar"]], ids=lambda kind: kind.name)
def test_keys_that_are_not_listed_are_allowed(kind: type[Engine], tiny_model_path: str) -> None:
    judge, table = engine(kind, tiny_model_path), TokenTable(load_tokenizer(tiny_model_path))
    tokens = table.encode_after(b"", b'{"a": 1, "c": [null]}')
    found = measure(
        judge, {"schema": OBJECT, "tests": [{"valid": True, "data": {"a": 1, "c": [None]}, "tokens": tokens}]}
    )
    assert found["verdicts"] == [{"accepted": True, "kept": True, "taken": len(tokens)}]
