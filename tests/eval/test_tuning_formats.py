"""Law: a row of candidates, written as JSON and read again, holds what was decoded, in every call format."""

import json

import pytest

from eval.methods.prediction import candidate_rows
from eval.methods.scored_text import ScoredText
from eval.tuning.decoded_prompt import DecodedPrompt, VoteOptions, read_decoded
from eval.tuning.evidence import derive
from formats.law.law import decoders
from lookup import extract
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine
from voting import merge


def tool(name: str, required: list[str], **keys: object) -> dict[str, object]:
    return {"name": name, "parameters": {"type": "object", "properties": keys, "required": required}}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = extract(
    [
        tool("f", ["city", "days", "price"], city=TEXT, days=WHOLE, price={"type": "number"}),
        tool("g", ["on", "unit"], on={"type": "boolean"}, unit={"enum": ["C", "1", 1]}, note=TEXT | {"default": "-"}),
        tool("h", ["tags", "where"], tags={"type": "array", "items": TEXT}, where={"type": "object"}),
        tool("k", ["any"], any={}, maybe={"type": ["string", "null"]}),
    ]
)
LIMIT = VoteOptions(4)
SPECIAL = b"'\"\\,.]})>:\n </parameter>0123456789"


def decode(call_format: str, marks_are_tokens: bool, seed: int) -> tuple[Request, DecodeResult]:
    made = decoders()[marks_are_tokens]
    options = DecodeOptions(format=call_format, order_limit=4, max_calls=3, max_value_tokens=10, seed=seed)
    request = Request("What now?\n", TOOLS, options)
    further = made.table.special.bound(CALL_FORMATS[call_format].start(1)).encode()

    def bias(piece: bytes) -> float:
        """Likes special characters, or a further call."""
        if seed % 3 == 0:
            return 8.0 if piece in further or further in piece else 0.0
        return 4.0 if seed % 3 == 1 and all(byte in SPECIAL for byte in piece) else 0.0

    made.engine = RandomEngine(made.table.texts, seed, bias)
    return request, made.run([request])[0]


def written_and_read(request: Request, result: DecodeResult) -> DecodedPrompt:
    candidates = candidate_rows([call.candidates for call in result.calls])
    row = json.loads(json.dumps({"id": "a", "prediction": result.text, "candidates": candidates}))
    return read_decoded(row, "file:1", request, LIMIT)


@pytest.mark.parametrize("marks_are_tokens", [True, False])
@pytest.mark.parametrize("call_format", CALL_FORMATS)
def test_a_row_holds_what_was_decoded(call_format: str, marks_are_tokens: bool) -> None:
    most, several = 0, CALL_FORMATS[call_format].parallel
    for seed in range(100, 124):
        if seed >= 102 and (most > 1 or not several):
            break
        request, result = decode(call_format, marks_are_tokens, seed)
        read = written_and_read(request, result)
        assert read.text == result.text
        assert len(read.calls) == len(result.calls)
        for ours, call in zip(read.calls, result.calls, strict=True):
            assert [(c.name, c.order, c.values, c.text) for c in ours.candidates] == [
                (c.name, c.order, c.values, c.text) for c in call.candidates
            ]
            assert merge(ours.candidates, ours.tool, LIMIT.optional_share) == call.voted
        form = CALL_FORMATS[call_format]
        outcome = derive(read, LIMIT, ScoredText(form, form, as_it_stands=True))
        assert outcome is not None and outcome.text == result.text
        most = max(most, len(result.calls))
    assert most > 1 if several else most == 1
