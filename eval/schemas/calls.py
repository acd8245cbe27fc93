"""Each schema as the parameters of one tool, which a model with random weights calls, and jsonschema judges."""

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

import torch

from eval.bench.failures import failure
from eval.bench.shapes import random_model
from eval.schemas.engines import REFUSALS
from eval.schemas.rows import RowFile, read_sample, split_of
from eval.schemas.run import row_id
from eval.schemas.worker import Worker
from lookup.extract import extract
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.json_lines import json_line
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_texts import token_texts

VALUE_TOKENS: Final = 24
"""So few that many values are closed by force."""
CALLS: Final = "calls"
"""The label of the rows."""
_TOOL: Final = "answer"
_SHOWN: Final = 200
_MOST: Final = 20


class Caller:
    """A decoder over a model with random weights. It lives in a process of its own.

    Parameters
    ----------
    tokenizer : str
        Folder or hub id.
    """

    name: ClassVar[str] = "the model with random weights"

    def __init__(self, tokenizer: str) -> None:
        loaded = load_tokenizer(tokenizer)
        model = random_model("tiny", torch.device("cpu"), torch.float32, 0, len(token_texts(loaded)))
        self.decoder = ToolDecoder(
            model, loaded, prompt_cache_mb=0, format="hermes", max_value_tokens=VALUE_TOKENS, max_calls=1
        )


def judged_call(caller: Caller, task: Mapping[str, Any]) -> dict[str, Any]:
    """Decode a call and judge it.

    Parameters
    ----------
    task : mapping
        ``schema``, ``prompt`` and ``orders``.

    Returns
    -------
    dict
        ``no_tool`` if the schema describes no keys; ``refused`` with the reason if there is no call; or ``notes``,
        ``said_valid``, ``truncated`` and ``arguments`` of the call, and ``faults``, see ``faults``, or ``unjudged``
        with the reason.
    """
    schema = task["schema"]
    if not isinstance(schema, Mapping) or not schema.get("properties"):
        return {"no_tool": True}
    try:
        tools = extract({"name": _TOOL, "description": "", "parameters": schema}, origin="schema")
        notes = list(tools[_TOOL].unenforced)
        prompt = f"{task['prompt']}: call {_TOOL}.\n"
        voted = caller.decoder.decode(prompt, tools, order_limit=task["orders"]).calls[0].voted
    except REFUSALS as error:
        return {"refused": failure(error)}
    truncated = any(parameter.truncated for parameter in voted.parameters)
    row = {"notes": notes, "said_valid": voted.valid, "truncated": truncated, "arguments": voted.arguments}
    try:
        return row | {"faults": faults(schema, voted.arguments)}
    except REFUSALS as error:
        return row | {"unjudged": failure(error)}


def faults(schema: Mapping[str, Any], value: Any) -> list[dict[str, str]]:
    """Return what of a value breaks a schema, by the package jsonschema with the formats that it knows.

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


def run_calls(
    files: Sequence[Path], orders: int, tokenizer: str, time_limit: float, rows: RowFile, advance: Callable[[int], None]
) -> None:
    """Judge a call for each of the files that lack a row.

    Parameters
    ----------
    orders : int
        Most orders of the required keys.
    time_limit : float
        Seconds for a schema.
    """
    with closing(Worker(Caller, judged_call, tokenizer, time_limit)) as worker:
        for path in files:
            if (number := row_id(CALLS, path)) not in rows.by_id:
                task = {"schema": read_sample(path).law, "prompt": path.stem, "orders": orders}
                rows.write([{"id": number, "split": split_of(path), **worker.ask(json_line(task))}])
            advance(1)
