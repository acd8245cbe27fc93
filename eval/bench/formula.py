"""The number of forward passes of a voted call, computed only from its text.

A call takes one pass for each decision of the model along its longest order, and one more if the prompt is computed
before the orders fork. In this workload a decision is a token that writes a part of a value or of what closes it, a
quote or a mark, even if it also writes other text: there is one tool without optional keys, and no number whose end
would be a decision of its own. All other text costs no pass, because the teacher wants the tokenizer's own tokens for
it.
"""

from eval.bench.workload import Task, Workload
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from voting import draw_orders


def formula_passes(workload: Workload, task: Task, options: DecodeOptions, table: TokenTable) -> int:
    """Return the forward passes of one prompt, without drafts."""
    orders = draw_orders(tuple(workload.parts(task).pairs), options.order_limit, options.orders, options.seed)
    free = max(_free_tokens(workload, task, order, table) for order in orders)
    return free + (len(orders) > 1)


def _free_tokens(workload: Workload, task: Task, order: tuple[str, ...], table: TokenTable) -> int:
    parts = workload.parts(task, table)
    free = bytearray(len(parts.start.encode()))
    for number, key in enumerate(order):
        pair = parts.pairs[key]
        free += bytes(len(((parts.separator if number else "") + pair.before).encode()))
        free += b"\1" * len((pair.value + pair.closing).encode())
    free += bytes(len(parts.end.encode()))
    text = parts.text(order)
    place, count = 0, 0
    for token in table.encode_after(table.join(task.prompt_ids[-64:]), text.encode()):
        size = len(table.texts[token] or b"")
        count += any(free[place : place + size])
        place += size
    return count
