"""Grammars of whole JSON Schemas, measured on MaskBench: verdicts and times, ours beside other libraries.

The libraries are those of the methods of ``eval``; keys that are not listed are allowed, as JSON Schema has it. Each
file is measured in a process that is stopped if it takes too long.
"""

import gc
import json
import os
import re
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time, process_time_ns
from typing import Any, Final, NamedTuple

from eval.errors import FAILURES, EvalError, failure
from eval.methods.call_grammar import Grammar
from eval.methods.peers import PEERS, end_tokens
from eval.validation import read_rows
from lookup.documents.text.text_file import read_text
from lookup.errors import ToolDecodingError
from lookup.grammar.value_grammar import ValueGrammar, schema_grammar
from lookup.schema.value_schema import value_schema
from tooldecoding.cli.console import progress_bar
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.result_file import ResultFile
from tooldecoding.formats.json_objects import HERMES
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

OWN: Final = "tooldecoding"

REFUSALS: Final = (*FAILURES, ArithmeticError, MemoryError, ToolDecodingError)
"""What an engine raises for a schema that it has no grammar of."""

_PLACE: Final = re.compile(r"^\[[\d:]+\] \S+ ")
"""Time and line of the source, with which xgrammar's messages begin."""


Take = Callable[[int | None], bool]
"""Takes the next token of an instance if it is allowed, or says, for None, whether it may end; may raise REFUSALS."""


class SchemaGrammar(NamedTuple):
    """The grammar of one schema.

    ``start`` begins an instance. ``allows`` is the check of a finished value. ``notes`` has what is not enforced while
    decoding; it is asked for last, because it may make all that was not needed before.
    """

    start: Callable[[], Take]
    allows: Callable[[Any], bool] = lambda value: True
    notes: Callable[[], Sequence[str]] = tuple


Compile = Callable[[Any], SchemaGrammar]
"""Makes the grammar of a schema, until it has answered for the first token; REFUSALS if there is none."""

Load = Callable[[str], Compile]


def load_own(tokenizer: str) -> Compile:
    """Load our own values, as the decoder writes them in JSON, where ``}`` or a comma follows."""
    table = TokenTable(load_tokenizer(tokenizer))

    def compiled(schema: Any) -> SchemaGrammar:
        checked = value_schema(schema)
        grammar = schema_grammar(checked, "json")
        ValueState(grammar, HERMES).first_bytes()
        return SchemaGrammar(lambda: _begin(grammar, table), checked.allows, lambda: checked.notes)

    return compiled


def _begin(grammar: ValueGrammar, table: TokenTable) -> Take:
    """Begin a value. Its opening bracket or quote is given: the tokens that write it write only what goes on."""
    state, given = ValueState(grammar, HERMES), grammar.opener.encode()

    def take(token: int | None) -> bool:
        nonlocal given
        if token is None:
            return not given and not state.tail and (state.closed or grammar.complete(state.text))
        piece = table.texts[token]
        if piece is None or state.closed:
            return False
        same = min(len(given), len(piece))
        if given[:same] != piece[:same]:
            return False
        given, piece = given[same:], piece[same:]
        if not piece:
            return True
        wanted = len(state.tail) + len(piece)
        step = state(piece)
        if step is None:
            return False
        state.write(piece)
        return len(step.value.encode()) + len(step.tail) == wanted  # else the value ended inside the token

    return take


def load_library(name: str, tokenizer: str) -> Compile:
    """Load a library."""
    table = TokenTable(load_tokenizer(tokenizer))
    peer, ends = PEERS[name](table), end_tokens(table)

    def compiled(schema: Any) -> SchemaGrammar:
        rules = Grammar("start: schema\n", {"schema": schema if isinstance(schema, dict) else {"allOf": [schema]}})

        def start() -> Take:
            matcher = peer(rules)

            def take(token: int | None) -> bool:
                bits = matcher.allowed()
                wanted = ends if token is None else [token]
                allowed = any(bits[each // 32] >> (each % 32) & 1 for each in wanted)
                if allowed and token is not None:
                    matcher.take(token)
                return allowed

            return take

        try:
            peer(rules).allowed()
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None
        return SchemaGrammar(start)

    return compiled


LOADERS: Final[dict[str, Load]] = {OWN: load_own, **{name: partial(load_library, name) for name in PEERS}}
"""Package -> engine."""


def installed(names: Sequence[str]) -> dict[str, Load]:
    """Return our engine and those of the names that are installed, by name and version."""
    engines = {}
    for name in (OWN, *names):
        with suppress(PackageNotFoundError):
            engines[f"{name} {version(name)}"] = LOADERS[name]
    return engines


MOST_MEMORY: Final = 8 * 2**30
"""Bytes of data that a process may hold; one that asks for more fails."""
MOST_SECONDS: Final = 60
"""Processor time for one schema; the process ends there."""


def find_files(data: str | Path) -> list[Path]:
    """Return the files of a checkout of guidance-ai/jsonschemabench, sorted by name; EvalError if there are none."""
    folder = Path(data) / "maskbench" / "data"
    files = sorted(folder.glob("*.json"))
    if not files:
        raise EvalError(f"{data}: expected a checkout of guidance-ai/jsonschemabench; there is no {folder}/*.json")
    return files


def read_sample(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Return the schema of a file and its instances, each with ``valid`` and ``data``; EvalError if it is malformed."""
    try:
        row = json.loads(read_text(path, EvalError))
        tests = [{"valid": test["valid"], "data": test["data"]} for test in row["tests"]]
        if not all(isinstance(test["valid"], bool) for test in tests):
            raise TypeError("expected 'valid' to be true or false")
        return row["schema"], tests
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise EvalError(f"{path}: this is no file of MaskBench: {reason}") from None


def run(
    files: Sequence[Path], engines: Mapping[str, Load], tokenizer: str, table: TokenTable, out: str
) -> dict[str, list[dict[str, Any]]]:
    """Measure engines, by name and version, on the files that have no row in ``out``, and return the rows of each."""
    ids = {label: [f"{label}/{Path(tokenizer).name}/{path.name}" for path in files] for label in engines}
    for label, load in engines.items():
        with closing(ResultFile(out, frozenset({"refused", "verdicts"}))) as results:
            missing = [(path, key) for path, key in zip(files, ids[label], strict=True) if key not in results.done]
            if missing:
                with closing(Worker(label, load, tokenizer)) as worker, progress_bar(label, len(missing)) as advance:
                    for path, key in missing:
                        schema, tests = read_sample(path)
                        for test in tests:
                            test["tokens"] = table.encode_after(b"", json_line(test["data"]).encode())
                        found = worker.ask({"schema": schema, "tests": tests})
                        results.write([{"id": key, "engine": label, "instances": len(tests)} | found])
                        advance(1)
    rows = {row["id"]: row for _, row in read_rows(Path(out), "the same command goes on in it")}
    return {label: [rows[key] for key in ids[label]] for label in engines}


class Worker:
    """One engine in a process of its own; EvalError if it cannot be loaded with the tokenizer (folder or hub id)."""

    def __init__(self, name: str, load: Load, tokenizer: str) -> None:
        self._name = name
        self._asked = load, tokenizer
        self._start()

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``measure`` finds for a task. Too much time, or the end of the process, is a refusal."""
        found: dict[str, Any] | str = self._answer(task)
        if isinstance(found, dict):
            return found
        self.close()
        self._start()
        return {"refused": found}

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._asked), daemon=True)
        self._process.start()
        theirs.close()
        if problem := self._answer():
            self.close()
            raise EvalError(f"{self._name} cannot be loaded with the tokenizer {self._asked[1]!r}: {problem}")

    def _answer(self, task: Mapping[str, Any] | None = None) -> Any:
        try:
            if task is not None:
                self._pipe.send(task)
            return self._pipe.recv()
        except (EOFError, OSError):
            return f"its process died, or took more than {MOST_SECONDS} s"


def _serve(pipe: Connection, load: Load, tokenizer: str) -> None:
    """Load the engine and measure tasks; interrupts and the terminal are the parent's, memory and time are bounded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    try:
        compiled = load(tokenizer)
    except REFUSALS as error:
        pipe.send(failure(error))
        return
    gc.collect()
    gc.freeze()  # no schema waits for a look at the tokenizer
    pipe.send("")
    with suppress(EOFError):  # the parent has ended
        while task := pipe.recv():
            resource.setrlimit(resource.RLIMIT_CPU, (ceil(process_time()) + MOST_SECONDS, resource.RLIM_INFINITY))
            pipe.send(measure(compiled, task))


def measure(compiled: Compile, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what comes of a ``schema`` and ``tests``, each with ``valid``, ``data`` and ``tokens``.

    Either the reason why it is ``refused``; or ``notes``, nanoseconds of ``grammar`` and of all ``tokens`` of valid
    tests, and ``verdicts``: whether each was ``accepted``, and ``kept`` by the check after decoding.
    """
    gc.collect()
    gc.disable()
    try:
        start = process_time_ns()
        made = compiled(task["schema"])
        grammar = process_time_ns() - start
        verdicts, tokens = [], list[int]()
        for test in task["tests"]:
            accepted, times = _judge(made.start(), test["tokens"])
            kept = accepted and made.allows(test["data"])
            verdicts.append({"valid": test["valid"], "accepted": accepted, "kept": kept})
            tokens += times if test["valid"] else []
        return {"notes": list(made.notes()), "grammar": grammar, "tokens": tokens, "verdicts": verdicts}
    except REFUSALS as error:
        return {"refused": failure(error)}
    finally:
        gc.enable()


def _judge(take: Take, tokens: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether an instance is accepted, and the nanoseconds of its tokens up to the first that is refused."""
    times = []
    for token in tokens:
        start = process_time_ns()
        taken = take(token)
        times.append(process_time_ns() - start)
        if not taken:
            return False, times
    return take(None), times
