"""Law 1 in every call format, on a part of all documentation; all of it as a table: ``make formats``."""

import ast
from functools import cache

import pytest

from data import DATA, needs_data
from formats.law.documents import Document, documents
from formats.law.judges import DEFAULT, MEMBER
from formats.law.law import BIASES, check, texts, uncarried
from formats.readers.reader_cases import needs_judges
from synthetic import Ending, closing_mark, synthetic
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request

STEP = 600


@cache
def everything() -> list[Document]:
    return list(documents(DATA))


@needs_data
@needs_judges
@pytest.mark.parametrize("step", [STEP, pytest.param(STEP // 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CALL_FORMATS)
def test_a_part_of_all_documentation(name: str, step: int) -> None:
    first = list(CALL_FORMATS).index(name) * (step // len(CALL_FORMATS))  # each format has others
    part = everything()[first::step]
    counts = check(part, CALL_FORMATS[name])
    assert counts[""] > len(part)
    assert counts[DEFAULT] + counts[MEMBER] <= counts[""] / 2, counts


@needs_data
@pytest.mark.parametrize("name", ["pythonic", "api-bank"])
def test_free_values_leave_names_and_keys(name: str) -> None:
    call_format, judged = CALL_FORMATS[name], 0
    for number, document in enumerate(everything()[7 :: STEP // 3]):
        if uncarried(document, call_format):
            continue
        decoder = synthetic()
        bias, mark = list(BIASES.values())[number % len(BIASES)], closing_mark(call_format, decoder.table)
        decoder.engine = Ending(decoder.table.texts, number, bias, mark)
        options = DecodeOptions(format=name, value_constraint="free", max_value_tokens=60, max_calls=2, order_limit=2)
        [result] = decoder.run([Request(document.question + "\n", document.tools, options)])
        schemas = {schema["name"]: schema["parameters"] for schema in document.schemas}
        lost = {key for call in result.calls for key in call.voted.cut}
        for text, calls in texts(result, call_format):
            nodes = ast.parse(text, mode="eval").body.elts  # type: ignore[attr-defined]
            assert [ast.unparse(node.func) for node in nodes] == [called for called, _ in calls]
            for node in nodes:
                keys, schema = [keyword.arg for keyword in node.keywords], schemas[ast.unparse(node.func)]
                assert len(set(keys)) == len(keys)
                assert {*schema.get("required", ())} - lost <= {*keys} <= {*schema.get("properties", ())}
                judged += 1
    assert judged > 10
