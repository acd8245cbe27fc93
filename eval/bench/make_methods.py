"""Makes the methods of one cell, and finds those that cannot be measured."""

from dataclasses import replace

from eval.bench.failures import FAILURES, failure
from eval.bench.generate_method import Constraint, GenerateMethod, call_pattern
from eval.bench.measurements import Cell, MeasuredMethod
from eval.bench.method import Method
from eval.bench.options import GREEDY, BenchOptions, beams_of
from eval.bench.peers import PEERS, admitted_path, installed, ready_peer
from eval.bench.subject import Subject
from eval.bench.tool_decoding_method import ToolDecodingMethod
from eval.bench.workload import Workload
from tooldecoding.options import DecodeOptions


def new_cell(options: BenchOptions, subject: Subject, workload: Workload) -> Cell:
    """Return a cell that describes the model, the workload and the settings."""
    model, tasks = subject.model, workload.tasks
    return Cell(
        {
            "model": subject.label,
            "parameters": sum(p.numel() for p in model.parameters()),
            "dtype": str(model.dtype).removeprefix("torch."),
            "vocabulary": len(subject.decoder.table.texts),
            "table_seconds": subject.table_seconds,
            "strategy": subject.decoder.strategy,
            "batch": len(tasks),
            "prompt_tokens": [len(t.prompt_ids) for t in tasks],
            "call_tokens": [len(t.call_ids) for t in tasks],
            "call": tasks[0].call,
            "copied_values": workload.copied_values,
            "values": len(tasks[0].values),
            "draft_tokens": _decode_options(options, 1).draft_tokens,
            "stopping": options.stopping,
        }
    )


def make_methods(options: BenchOptions, subject: Subject, workload: Workload, cell: Cell) -> list[Method]:
    """Return all methods that can be measured. ``cell`` lists them, and the reason why others are missing."""
    model, tokenizer = subject.model, subject.tokenizer
    methods: list[Method] = [
        ToolDecodingMethod(subject.decoder, subject.engines, workload, _decode_options(options, limit))
        for limit in options.order_limits
    ]
    for name in options.against:
        beams = 1 if name == GREEDY else beams_of(name)
        if beams is not None:
            methods.append(GenerateMethod(name, model, tokenizer, workload, beams))
            continue
        constraint = _constraint(name, subject, workload)
        if isinstance(constraint, str):
            cell.missing[name] = constraint
        else:
            methods.append(GenerateMethod(name, model, tokenizer, workload, 1, constraint))
    for method in methods:
        note = _note(method) if method.name in PEERS else ""
        cell.methods.append(MeasuredMethod(method.name, method.formula, method.preparation, note))
    return methods


def _decode_options(options: BenchOptions, order_limit: int) -> DecodeOptions:
    decode = DecodeOptions(
        format=options.format, order_limit=order_limit, max_calls=1, seed=options.seed, stopping=options.stopping
    )
    return decode if options.draft_tokens is None else replace(decode, draft_tokens=options.draft_tokens)


def _constraint(name: str, subject: Subject, workload: Workload) -> Constraint | str:
    """Prepare a library for the workload's tool, or return why it cannot be measured."""
    special = [m for m in workload.call_format.marks if m in subject.decoder.table.special.characters]
    if special:
        return (
            f"a regular expression cannot ask for the tokens {', '.join(special)} of the format {workload.ask.format}"
        )
    ready = ready_peer(name, subject.model, subject.tokenizer, call_pattern(workload))
    if isinstance(ready, str):
        return ready
    peer, preparation = ready
    table = subject.decoder.table
    try:
        calls = [admitted_path(peer, t.prompt_ids, t.call_ids, table) for t in workload.tasks]
    except FAILURES as error:
        return failure(error)
    return Constraint(peer.processor, preparation, calls)


def _note(method: Method) -> str:
    notes = [f"version {installed(method.name)}", PEERS[method.name].note]
    if method.more_tokens:
        notes.append(
            f"it refused tokens that begin the wanted text, which was written in {method.more_tokens} tokens more"
        )
    return "; ".join(filter(None, notes))
