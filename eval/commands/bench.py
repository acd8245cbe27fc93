"""``tooldecoding bench`` and ``tooldecoding bench schemas``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval.bench.options import BenchOptions
from eval.errors import EvalError
from eval.options import PEER_METHODS
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on, output_console
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import CountOrNone, option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments


def bench(given: ParsedArguments) -> None:
    """Measure Tool Decoding against other methods that write the same call, or what a sub-command measures."""
    if given.subcommand is not None:
        for each in options_of(BenchOptions):
            if each.name in given.values:
                raise EvalError(f"{each.written} belongs to bench alone, not to bench {given.subcommand}")
        return
    demand_extra("eval", "scipy", "pandas")
    from eval.bench.runner import BenchRunner
    from eval.bench.tables import bench_tables
    from eval.report.table import show

    options = given.read(BenchOptions)
    runner = BenchRunner(options)
    record = runner.run()
    show(output_console(), bench_tables(record))
    output_console(stderr=True).print(f"written: {runner.path}")


BENCH = Command("bench", bench, options_of(BenchOptions))


@dataclass(frozen=True, kw_only=True)
class BenchSchemasCommand:
    """Which schemas are measured, with what."""

    data: str = option(..., "Checkout of the repository guidance-ai/jsonschemabench.", metavar="DIR")
    limit: CountOrNone = option(300, "Schemas, drawn with --seed; 0 for all.")
    seed: int = option(0, "Seed of the draw.")
    tokenizer: str = option("reference", "Folder or hub id of the tokenizer.")
    peers: tuple[Literal["xgrammar", "llguidance"], ...] = option(
        PEER_METHODS, "Libraries to measure beside, those that are installed; empty for none.", commas=True
    )
    out: str = option("runs/schemas.jsonl", "File of rows; the same command goes on in it.", metavar="FILE")


def bench_schemas(given: ParsedArguments) -> None:
    """Measure grammars of JSON Schemas on MaskBench: verdicts on instances, and times, beside other libraries."""
    demand_extra("eval", "scipy", "pandas")
    command = given.read(BenchSchemasCommand)
    import torch

    from eval.bench.machine import describe_machine, machine_line
    from eval.bench.schemas import find_files, installed, run
    from eval.bench.tables import schema_tables
    from eval.report.table import show
    from eval.runs.run import draw
    from tooldecoding.models.loading import load_tokenizer
    from tooldecoding.tokens.token_table import TokenTable

    engines = installed(command.peers)
    every = find_files(command.data)
    files = draw(every, command.limit or None, command.seed)
    table = TokenTable(load_tokenizer(command.tokenizer))
    with going_on(command.out):
        rows = run(files, engines, command.tokenizer, table, command.out)
    machine = machine_line(describe_machine(torch.device("cpu")))
    tokenizer = f"tokenizer {Path(command.tokenizer).name}, {len(table.texts):,} tokens"
    drawn = f"{len(files):,} of {len(every):,} schemas (seed {command.seed})"
    show(output_console(), schema_tables(rows, f"{drawn}; {tokenizer}; {machine}."))


BENCH_SCHEMAS = Command("bench schemas", bench_schemas, options_of(BenchSchemasCommand))
