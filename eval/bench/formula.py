"""The number of forward passes of a voted call, computed only from its text.

A call takes one pass for each decision of the model along its longest order, and one more if the prompt is computed
before the orders fork. In this workload a decision is a token that writes a part of a value or its closing quote, even
if it also writes other text: there is one tool without optional keys, and no number whose end would be a decision of
its own. All other text costs no pass, because the teacher wants the tokenizer's own tokens for it.
"""

from eval.bench.workload import Task, Workload
from lookup.values.literal_values import render_value
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from voting import draw_orders


def formula_passes(workload: Workload, task: Task, options: DecodeOptions, table: TokenTable) -> int:
    """Return the forward passes of one prompt, without drafts."""
    orders = draw_orders(tuple(task.values), options.order_limit, options.orders, options.seed)
    free = max(_free_tokens(workload, task, order, table) for order in orders)
    return free + (len(orders) > 1)


def _free_tokens(workload: Workload, task: Task, order: tuple[str, ...], table: TokenTable) -> int:
    call_format = workload.call_format
    text = f"{call_format.start(0)}{workload.tools.tools[0].name}{call_format.bracket_of(0)}"
    free = bytearray(len(text.encode()))
    for number, key in enumerate(order):
        before = (call_format.separator if number else "") + call_format.key(key)
        literal = render_value(task.values[key], call_format.notation)
        free += bytes(len(before.encode()) + 1) + b"\1" * (len(literal.encode()) - 1)
        text += before + literal
    text += call_format.end + call_format.closer
    free += bytes(len((call_format.end + call_format.closer).encode()))
    place, count = 0, 0
    for token in table.encode_after(table.join(task.prompt_ids[-64:]), text.encode()):
        size = len(table.texts[token] or b"")
        count += any(free[place : place + size])
        place += size
    return count
