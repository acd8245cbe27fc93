"""How many forward passes a voted call takes, computed from its text alone.

The passes of a call are the places where the model decides, along its longest order, plus one where a prompt is
computed alone before orders part. Here these are the tokens that write a part of a value, or the quote that ends it,
wherever they begin and end beside: there is one tool without optional keys, and no number, whose end would be a
decision of its own. Whatever else stands in a call rides along: the teacher wants the tokenizer's own tokens of it.
"""

from eval.bench.workload import Task, Workload
from lookup.values.literal_values import render_value
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.token_table import TokenTable
from voting import draw_orders


def formula_passes(workload: Workload, task: Task, options: DecodeOptions, table: TokenTable) -> int:
    """Forward passes of one prompt, without drafts."""
    orders = draw_orders(tuple(task.values), options.order_limit, options.orders, options.seed)
    free = max(_free_tokens(workload, task, order, table) for order in orders)
    return free + (len(orders) > 1)


def _free_tokens(workload: Workload, task: Task, order: tuple[str, ...], table: TokenTable) -> int:
    form = workload.form
    text = f"{form.opener}{workload.tools.tools[0].name}{form.bracket}"
    free = bytearray(len(text.encode()))
    for number, key in enumerate(order):
        before = (form.separator if number else "") + form.key(key)
        literal = render_value(task.values[key], form.notation)
        free += bytes(len(before.encode()) + 1) + b"\1" * (len(literal.encode()) - 1)
        text += before + literal
    text += form.end + form.closer
    free += bytes(len((form.end + form.closer).encode()))
    place, count = 0, 0
    for token in table.encode_after(table.join(task.prompt_ids[-64:]), text.encode()):
        size = len(table.texts[token] or b"")
        count += any(free[place : place + size])
        place += size
    return count
