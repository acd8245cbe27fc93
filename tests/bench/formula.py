"""The number of forward passes of a voted call, computed only from its text.

A call takes one pass for each decision of the model along its longest order, and one more if the prompt is computed
before the orders fork. In the bench a decision is a token that writes a part of a value or its closing quote, even if
it also writes other text: there is one tool without optional keys, and no number whose end would be a decision of its
own. All other text costs no pass, because the teacher wants the tokenizer's own tokens for it.
"""

from eval.bench.workload import Task
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from voting import draw_orders


def formula_passes(task: Task, options: DecodeOptions, table: TokenTable) -> int:
    """Return the forward passes of one prompt, without drafts."""
    orders = draw_orders(tuple(task.values), options.order_limit, options.orders, options.seed)
    return max(_free_tokens(task, order, table) for order in orders) + (len(orders) > 1)


def _free_tokens(task: Task, order: tuple[str, ...], table: TokenTable) -> int:
    text = task.text(order)
    free = bytearray(len(text.encode()))
    for key in order:
        start = text.index(task.pairs[key]) + len(f"{key}='")
        size = len(task.values[key]) + 1
        free[start : start + size] = b"\1" * size
    place, count = 0, 0
    for token in table.encode_after(table.join(task.prompt_ids[-64:]), text.encode()):
        size = len(table.text(token))
        count += any(free[place : place + size])
        place += size
    return count
