"""Which requests share what a replica keeps: their prompts begin alike."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def beginning(body: Mapping[str, Any]) -> str | None:
    """Return a name of what the prompt begins with; None if nothing is known of it.

    Tools, or the schema of an answer in JSON, take most of a prompt and are prepared before they are decoded: requests
    that share them have one name, whatever their messages are. The other requests have that of their first message, so
    that a dialogue stays where it was.

    Parameters
    ----------
    body : mapping
        The body of a request as it came: nothing in it has been checked.
    """
    for field in ("tools", "response_format", "messages"):
        value = body.get(field)
        if not value:
            continue
        if field == "messages":
            value = value[:1] if isinstance(value, list) else None
        # in the sequence in which the keys came: a chat template may write them so
        return sha256(json.dumps([field, value]).encode()).hexdigest()
    return None
