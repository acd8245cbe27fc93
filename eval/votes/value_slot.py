"""The value slot, a row of ``values.jsonl``: one question about a decoded call that has a right answer."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel

from eval.validation import Text

SlotKind = Literal["required", "optional", "presence"]

COUNTS: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of orders whose votes are compared."""
ALL: Final = "all"
"""The vote over all orders."""
LIKELIEST: Final = {count: f"likeliest of {count}" for count in (2, 4, 12)}
"""Not a vote: the call of one order."""


class ValueSlot(BaseModel, frozen=True):
    """One question with a right answer: the value of a key, or whether an optional key is there.

    Its ``kind`` is a required value; the value of an optional key that the reference has; or whether an optional key is
    there, which it may be as in the reference with any value. Optional keys that the benchmark leaves open count
    not. ``keys`` counts the tool's required keys, ``type`` is the documented type or ``enum``, ``places`` has the place
    of the key in each order, from 0 (empty for optional keys). ``orders`` says whether each order alone is right,
    ``votes`` the same of each vote by its name.
    """

    id: Text
    dialogue: Text
    tool: Text
    key: Text
    kind: SlotKind
    keys: int
    type: Text
    places: Sequence[int]
    orders: Sequence[bool]
    votes: Mapping[Text, bool]
