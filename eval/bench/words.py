"""Words, keys and documentation, for prompts and values."""

import json
from collections.abc import Sequence
from typing import Final

TOOL: Final = "MakeAppointment"

_HEADS: Final = ("patient", "appointment", "doctor", "hospital", "account", "meeting", "hotel", "flight")
_TAILS: Final = ("name", "date", "code", "city", "time", "phone", "number", "reason")


def keys(count: int) -> tuple[str, ...]:
    """Return the first ``count`` keys, of two words each; none is a prefix of another."""
    return tuple(f"{_HEADS[n % 8]}_{_TAILS[(n + n // 8) % 8]}" for n in range(count))


COMMON: Final = tuple(
    "after again air all back ball big blue book box boy bread car city cold cup dark day door dry east end face fall "
    "fast field fire fish five food friend game garden girl gold good green hand hard head high hill home horse hot "
    "house ice island key king lake land last left letter light line list long map market milk money moon morning "
    "music name new night north old open order paper park people place plan point power rain red rest right river "
    "road rock room sea ship short side sky small snow song sound south star stone story street summer sun table ten "
    "tree turn two wall warm water west white wind window winter wood work world year young".split()
)
"""Words that any tokenizer writes as one or two tokens."""

MOST_KEYS: Final = len(_HEADS) * len(_TAILS)


def documentation(required: Sequence[str]) -> str:
    """Document one tool with these keys, in API-Bank's form."""
    row = {
        "name": TOOL,
        "description": "Makes an appointment and returns its number.",
        "input_parameters": {
            key: {"type": "str", "description": f"The {key.replace('_', ' ')} as the user gave it."} for key in required
        },
        "output_parameters": {"status": {"type": "str", "description": "success or failed"}},
    }
    return json.dumps(row)
