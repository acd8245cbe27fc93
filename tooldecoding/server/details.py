"""The field ``tooldecoding`` of an answer: votes, confidence, orders, tokens and cost."""

from collections.abc import Sequence
from typing import Any

from tooldecoding.result import DecodeResult
from tooldecoding.tokens.token_table import TokenTable

_SHOWN = ("valid", "errors", "repeated", "format", "calls", "candidates", "counters")


def details(result: DecodeResult, table: TokenTable, tokens: bool, warnings: Sequence[str]) -> dict[str, Any]:
    """Return the object.

    Parameters
    ----------
    tokens : bool
        Whether to show the tokens of the answer, and of each candidate, with their labels.
    warnings : sequence of str
        What the model does not see as the client may expect.
    """
    whole = result.to_json("")
    row: dict[str, Any] = {name: whole[name] for name in _SHOWN}
    for call in row["calls"]:
        del call["arguments"]
    if warnings:
        row["warnings"] = list(warnings)
    if tokens:
        orders = [candidate for call in result.calls for candidate in call.candidates]
        for shown, candidate in zip(row["candidates"], orders, strict=True):
            shown["tokens"] = _labelled(candidate.token_ids, candidate.labels, table)
        row["tokens"] = [] if result.calls else _labelled(result.token_ids, ["free"] * len(result.token_ids), table)
    return row


def _labelled(ids: Sequence[int], labels: Sequence[str], table: TokenTable) -> list[dict[str, str]]:
    """Return the texts of tokens; one that ends inside a character is joined with the next ones."""
    rows: list[dict[str, str]] = []
    waiting = b""
    for number, (token, label) in enumerate(zip(ids, labels, strict=True), 1):
        waiting += table.text(token)
        try:
            text = waiting.decode()
        except UnicodeDecodeError:
            if number < len(ids):
                continue
            text = waiting.decode(errors="replace")
        rows.append({"text": table.special.shown(text), "label": label})
        waiting = b""
    return rows
