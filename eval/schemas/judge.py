"""The judge of calls: the package jsonschema, which shares no code with ours."""

import importlib
import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

_SHOWN: Final = 200
_MOST: Final = 20


def faults(schema: Mapping[str, Any], value: Any) -> list[dict[str, str]]:
    """Return what of a value breaks a schema, with the formats that the judge knows.

    The draft is that of the schema's ``$schema``, else 2020-12. Nothing is fetched from the network.

    Returns
    -------
    list of dict
        ``word`` of the schema, ``place`` in the value, and ``message``; empty if the value is valid.

    Raises
    ------
    ValueError
        If the judge cannot read the schema: a reference to another document, or a pattern that Python does not know.
    FAILURES
        If the schema is malformed.
    """
    judges, known = importlib.import_module("jsonschema"), importlib.import_module("jsonschema.validators")
    unresolved = importlib.import_module("referencing.exceptions").Unresolvable
    kind = known.validator_for(schema, default=judges.Draft202012Validator)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER, registry=known.SPECIFICATIONS)
    written = json.loads(json.dumps(value))  # a tuple is an array
    try:
        found = list(islice(validator.iter_errors(written), _MOST))
    except (re.error, unresolved, judges.exceptions.UnknownType) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    return [
        {"word": str(error.validator), "place": error.json_path[:_SHOWN], "message": error.message[:_SHOWN]}
        for error in found
    ]
