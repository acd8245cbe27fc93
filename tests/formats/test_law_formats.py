"""Law 1 in every call format, on a part of all documentation; all of it as a table: ``make formats``."""

from functools import cache

import pytest

from data import DATA, needs_data
from formats.law.documents import Document, documents
from formats.law.judges import Judged, Refused, judges_of, strict_reader
from formats.law.law import FORMATS, check
from formats.readers.reader_cases import needs_judges

STEP = 930


@cache
def everything() -> list[Document]:
    return list(documents(DATA))


@needs_data
@needs_judges
@pytest.mark.parametrize("name", FORMATS)
def test_a_part_of_all_documentation(name: str) -> None:
    first = list(FORMATS).index(name) * (STEP // len(FORMATS))  # each format has others
    tally = check(everything()[first::STEP], FORMATS[name])
    assert not tally.examples, "\n".join(tally.examples[:5])
    assert all(tally.calls[judge] > tally.documents for judge in judges_of(name) if judge != "xgrammar")
    strict = sum(n for (judge, why), n in tally.excluded.items() if judge == "strict reader" and "tuple" not in why)
    assert strict < tally.calls["strict reader"] / 2, tally.excluded


@needs_judges
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "reads"), ('{"b": 1, "a": "x"}', "undocumented key 'b'"), ('{"a": 1}', "is 1, not string"),
        ('{"a": "x", "a": "x"}', "written twice"), ('{"a": "x"', "not JSON"),
    ],
)  # fmt: skip
def test_the_judges_can_refuse(text: str, expected: str) -> None:
    schemas = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    written = f"[TOOL_CALLS]f[ARGS]{text}"
    with pytest.raises(Refused, match=expected):
        strict_reader(Judged("mistral-args", written, [("f", {"a": "x"})], schemas))
