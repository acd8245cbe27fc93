"""``tooldecoding doctor``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from rich.text import Text

from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, shown, stderr_line, table
from tooldecoding.files.json_lines import json_line
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.decode_options import Strategy
from tooldecoding.options.model_options import LoadOptions
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

# torch and transformers take seconds to import: the functions that need them import them


@dataclass(frozen=True, kw_only=True)
class DoctorCommand(LoadOptions):
    """Everything that ``tooldecoding doctor`` can be told."""

    format: str = option(
        "auto", "The call format to check; auto finds it in the chat template.", choices=("auto", *CALL_FORMATS)
    )
    as_json: bool = option(False, "Print JSON instead of tables.", flag="--json")
    strategy: Strategy = option("auto", "How orders share a forward pass; auto finds out what the model supports.")


def doctor(given: ParsedArguments) -> None:
    """Show what is found about a model before the first decode, and check it.

    Exit code 1 if something needs your attention: each problem is one line that says what to do.
    """
    command = given.read(DoctorCommand)
    from tooldecoding.doctor import examine
    from tooldecoding.models.loading import load_quietly

    model, tokenizer = load_quietly(command.model, tell=stderr_line, **command.loading)
    findings = examine(command.model, model, tokenizer, command.strategy, command.format)
    if command.as_json:
        print(json_line(findings))
    else:
        _show(findings)
    if findings["problems"]:
        raise typer.Exit(1)


def _show(findings: Mapping[str, Any]) -> None:
    console = output_console()
    console.print(table(("", "found"), [*_rows(findings)]))
    if findings["prompt"]:
        console.print(Text(shown(f"the prompt of one tool:\n{findings['prompt']}")), soft_wrap=True)
    for problem in findings["problems"]:
        console.print(Text(shown(f"problem: {problem}"), style="yellow"), soft_wrap=True)
    if not findings["problems"]:
        console.print("all is well")


def _rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    quantized = found["quantized"] and f", {found['quantized']}"
    readable = "cannot be read" if found["tokenizer_error"] else "can be read"
    prints = "prints tools" if found["prints_tools"] else "prints no tools: Tool Decoding prints them"
    yield "model", found["model"]
    yield "architecture", "{architecture} ({model_type})".format(**found)
    if found["parameters"] is not None:
        yield "parameters", f"{found['parameters']:,}"
    yield "weights", "{dtype} on {device}".format(**found) + quantized
    yield "engine", "{engine}: {engine_reason}".format(**found)
    yield "context", "no limit in the configuration" if found["context"] is None else f"{found['context']:,} tokens"
    yield "tokenizer", "{tokenizer}, {tokens:,} tokens for {vocabulary:,} logits; they ".format(**found) + readable
    yield "beginning", _listed([found["bos"]])
    yield "end", _listed([found["eos"]])
    ends = ["{} from {}".format(_listed([end]), end["from"]) for end in found["turn_ends"]]
    yield "ends of turn", "; ".join(ends) or "none"
    yield "chat template", prints if found["chat_template"] else "none"
    yield "call format", "unknown" if found["format"] is None else "{format}: {format_reason}".format(**found)
    yield "marks as tokens", _listed([mark for mark in found["marks"] if mark["id"] is not None])
    yield "marks as text", _listed([mark for mark in found["marks"] if mark["id"] is None])
    yield "by itself it writes", found["own_call"] or "not asked"
    exact = "{exact} of {tried} sample calls decoded exactly"
    yield "self-check", exact.format(**found["self_check"]) if found["self_check"] else "not run"


def _listed(tokens: Sequence[Mapping[str, Any] | None]) -> str:
    known = [token for token in tokens if token is not None]
    return ", ".join(t["text"] if t["id"] is None else f"{t['text']} ({t['id']})" for t in known) or "none"


DOCTOR = Command("doctor", doctor, options_of(DoctorCommand))
