"""Ids of calls, which differ from answer to answer."""

import re
from typing import Any

OPENAI = re.compile("call_[a-zA-Z0-9]{24}")
"""An id as OpenAI's."""


def without_ids(answer: Any) -> Any:
    """An answer, or a part of one, without the ids of its calls, to compare it with another one."""
    if isinstance(answer, dict):
        return {k: without_ids(v) for k, v in answer.items() if not (k == "id" and OPENAI.fullmatch(str(v)))}
    return [*map(without_ids, answer)] if isinstance(answer, list | tuple) else answer
