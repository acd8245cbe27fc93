"""What the command line prints of a decoded prompt."""

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tooldecoding.cli.console import shown, table

if TYPE_CHECKING:
    from tooldecoding.calls.decoded_call import DecodedCall
    from tooldecoding.result import Counters, DecodeResult

PROMPT_LINES = 4
PROMPT_CHARACTERS = 400
"""Most that is printed of the end of the prompt: lines, and characters of a line."""


def show_result(
    console: Console, prompt: str, result: "DecodeResult", show_orders: bool, greedy: "DecodeResult | None" = None
) -> None:
    """Print the end of the prompt, the text that follows it, a table for each call, and the counters.

    Parameters
    ----------
    greedy : DecodeResult, optional
        What the model writes by itself, to be printed beside.
    """
    lines = [_end_of(line) for line in shown(prompt).split("\n")[-PROMPT_LINES:]]
    console.print(Text("\n".join(lines), style="dim") + _answer(result))
    for call in result.calls:
        console.print()
        if show_orders:
            _show_candidates(console, call)
        _show_call(console, call)
    for error in result.errors:
        console.print(Text(shown(f"invalid: {error}" if not result.valid else f"note: {error}"), style="red"))
    if result.repeated:
        console.print(Text("note: the model wrote a call again; it is left out, and ended the answer", style="red"))
    console.print()
    if greedy is None:
        console.print(_counters_table(result.counters))
        return
    rows = [("the model by itself", greedy), ("Tool Decoding", result)]
    columns = ("", "writes", "tokens", "forward passes", "seconds")
    console.print(table(columns, [(name, *map(str, greedy_json(each).values())) for name, each in rows]))


def greedy_json(result: "DecodeResult") -> dict[str, Any]:
    """Return what is told of a result beside another: its text, tokens, forward passes and seconds."""
    counters = result.counters
    return {
        "text": result.text,
        "tokens": len(result.token_ids),
        "forward_passes": counters.forward_passes,
        "seconds": round(counters.seconds, 2),
    }


def _answer(result: "DecodeResult") -> Text:
    """Return the text that the model wrote, its thinking dim."""
    text, thinking = shown(result.text), shown(result.thinking)
    answer = Text(text, style="bold green")
    if thinking and (begin := text.find(thinking)) >= 0:
        answer.stylize("not bold dim default", begin, begin + len(thinking))
    return answer


def _end_of(line: str) -> str:
    return line if len(line) <= PROMPT_CHARACTERS else "…" + line[-PROMPT_CHARACTERS:]


def _show_candidates(console: Console, call: "DecodedCall") -> None:
    console.print(f"{shown(call.voted.name)}: a candidate call for each order of the required keys")
    rows = [(str(n), " → ".join(c.order), c.text) for n, c in enumerate(call.candidates, start=1)]
    console.print(table(("", "order", "candidate call"), rows))


def _show_call(console: Console, call: "DecodedCall") -> None:
    """Print the vote, a row for each parameter."""
    voted = call.voted
    if not voted.parameters:
        console.print(Text(shown(f"{voted.name}: a call without parameters")))
        return
    over = "1 candidate" if voted.candidates == 1 else f"{voted.candidates} candidates"
    if voted.candidates < call.orders_possible:
        over += f" of {call.orders_possible} orders"
    console.print(Text(shown(f"{voted.name}: the vote over {over}")))
    columns = ["parameter", "value", "votes", "share", "log-probability"]
    rows = [
        [p.key, repr(p.value), f"{p.votes}/{voted.candidates}", f"{p.share:.0%}", f"{p.logprob:.3f}"]
        for p in voted.parameters
    ]
    if call.min_confidence is not None:
        columns.append("confidence")
        for row, confidence, unsure in zip(rows, call.confidences, call.needs_confirmation, strict=True):
            row.append(f"{confidence:.3f}" + ", needs confirmation" * unsure)
    console.print(table(columns, rows))


def _counters_table(counters: "Counters") -> Table:
    cells = {
        "forward passes": f"{counters.forward_passes:,}",
        "positions": f"{counters.positions:,}",
        "reused": f"{counters.reused_positions:,}",
        "forced": f"{counters.forced_tokens:,}",
        "constrained": f"{counters.constrained_tokens:,}",
        "free tokens": f"{counters.free_tokens:,}",
        "cache bytes": f"{counters.cache_bytes:,}",
        "seconds": f"{counters.seconds:.2f}",
    }
    return table(list(cells), [list(cells.values())])
