"""The value slot, a row of ``values.jsonl``: one question about a decoded call that has a right answer."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel

from eval.validation import Text

Kind = Literal["required", "optional", "presence"]

COUNTS: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of orders whose votes are compared."""
ALL: Final = "all"
"""The vote over all orders."""


class ValueSlot(BaseModel, frozen=True):
    """One question with a right answer: the value of a key, or whether an optional key is there.

    Attributes
    ----------
    id, dialogue, tool, key : str
    kind : {"required", "optional", "presence"}
        A required value; the value of an optional key that the reference has; whether an optional key is there, which
        it may be as in the reference with any value. Optional keys that the benchmark leaves open do not count.
    keys : int
        Required keys of the tool.
    type : str
        The documented type, or ``enum``.
    orders : sequence of bool
        Whether each order alone is right.
    votes : mapping
        Name of a vote -> whether it is right.
    """

    id: Text
    dialogue: Text
    tool: Text
    key: Text
    kind: Kind
    keys: int
    type: Text
    orders: Sequence[bool]
    votes: Mapping[Text, bool]
