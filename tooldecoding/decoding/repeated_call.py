"""A call whose result stands at the end of the conversation is not made again: the model answers with the result."""

import re
from collections.abc import Hashable, Sequence
from itertools import takewhile
from typing import Final

from lookup.schema.equality import identity
from tooldecoding.chat.messages import Message

_SEEN: Final = 128
"""Characters of a result in which a failure is looked for."""

_NOTHING: Final = r"\"?\s{0,4}[:=]\s{0,4}(?:null|none|false|0|\[\]|\{\}|\"\")"
"""Behind ``error`` of ``{"ok": true, "error": null}``."""

_TRY_AGAIN: Final = re.compile(
    rf"errors?\b(?!{_NOTHING})|exception|fail|time.?out|timed out|unavailable|rate.limit|busy|again|retry|broken off"
    r"|pending|running|loading|in.progress|queued|processing|not.ready",
    re.IGNORECASE,
)
"""What is said of a call that failed, or has not ended. Where that is not so, the model may only do what it did before:
make the call again."""


def answered_calls(conversation: Sequence[Message]) -> set[Hashable]:
    """Return the calls whose results end a conversation, as ``DecodedCall.identity``; not those that failed.

    ::

        user: Rain in Rome and in Paris?
        assistant: rain(city="Rome"), rain(city="Paris")
        tool: 3 mm                                          rain(city="Rome") is answered
        tool: Error: try again                              rain(city="Paris") may be made again
    """
    results = takewhile(lambda message: message.result_of is not None, reversed(conversation))
    return {
        (message.result_of.name, identity(message.result_of.arguments))
        for message in results
        if message.result_of is not None and not _TRY_AGAIN.search(message.content[:_SEEN])
    }
