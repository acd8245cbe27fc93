"""The Calculator's arithmetic, in linear time: whole numbers, ``+ - * /``, and brackets that do not nest."""

import re
from typing import Final

from eval.benchmarks.api_bank.tools.tool import ToolFailure

_TOKEN: Final = re.compile(r"[0-9]++|[-+*/()]")
_MAX_LENGTH: Final = 10_000


def calculate(formula: str) -> float:
    """The value of a formula.

    Raises
    ------
    ToolFailure
        For anything that is no such formula. The official tool never ends on some of these (a leading minus).
    """
    formula = formula.replace(" ", "")
    if not set("+-*/") & set(formula) or len(formula) > _MAX_LENGTH:
        raise ToolFailure("a formula needs an operator")
    tokens = _TOKEN.findall(formula)
    if sum(map(len, tokens)) != len(formula):
        raise ToolFailure("only whole numbers, + - * / and brackets are allowed")
    flat: list[str | float] = []
    start: int | None = None
    for token in tokens:
        if token == "(" and start is None:
            start = len(flat)
        elif token == ")" and start is not None:
            flat[start:] = [_evaluate(flat[start:])]
            start = None
        elif token in "()":
            raise ToolFailure("brackets are not closed, or nested")
        else:
            flat.append(float(token) if token.isdecimal() else token)
    if start is not None:
        raise ToolFailure("a bracket is not closed")
    return _evaluate(flat)


def _evaluate(tokens: list[str | float]) -> float:
    """Numbers and operators in turn; ``*`` and ``/`` first, each from left to right."""
    if len(tokens) % 2 == 0 or any(isinstance(t, str) == (n % 2 == 0) for n, t in enumerate(tokens)):
        raise ToolFailure("numbers and operators must take turns")
    terms: list[float] = [float(tokens[0])]
    signs: list[str | float] = []
    try:
        for operator, number in zip(tokens[1::2], map(float, tokens[2::2]), strict=True):
            if operator == "*":
                terms[-1] *= number
            elif operator == "/":
                terms[-1] /= number
            else:
                signs.append(operator)
                terms.append(number)
    except ZeroDivisionError as error:
        raise ToolFailure("division by zero") from error
    total = terms[0]
    for sign, term in zip(signs, terms[1:], strict=True):
        total = total + term if sign == "+" else total - term
    return total
