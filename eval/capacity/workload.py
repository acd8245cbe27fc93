"""The prompts of recorded runs: found again in the benchmark's data, and mixed with other documentation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eval.benchmarks.registry import choose_categories, find_benchmark
from eval.benchmarks.samples import Sample
from eval.capacity.trace import Tokens
from eval.errors import EvalError
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval.report.finished_run import Run
from eval.runs.run import draw
from eval.runs.run_folder import MANIFEST
from tooldecoding.files.manifest import digest, read_manifest
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.options.option import options_of
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.prompt_tokens import text_ids
from tooldecoding.tokens.token_table import TokenTable


@dataclass(frozen=True)
class Workload:
    """The prompts of runs on the same samples.

    Attributes
    ----------
    benchmark : str
    every : sequence of Sample
        All samples of the runs' categories.
    samples : sequence of Sample
        Those that were decoded.
    prompter : Prompter
    recorded, planned : TokenTable
        Of the runs' tokenizer, and of the one that is planned for.
    """

    benchmark: str
    every: Sequence[Sample]
    samples: Sequence[Sample]
    prompter: Prompter
    recorded: TokenTable
    planned: TokenTable

    def prompt_ids(self, sample: Sample, documentation: Documentation | None = None) -> list[int]:
        """Return a sample's prompt in tokens that are planned for, with its own or other documentation."""
        given = sample if documentation is None else replace(sample, documentation=documentation)
        return self._ids(given, self.planned)

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens of the decoded prompts; the factor is that of the samples' reference calls."""
        call_format = CALL_FORMATS[self.prompter.settings.format]
        texts = [call_format.render(sample.calls) for sample in self.samples if sample.calls]
        texts = texts or [self.prompter.text(sample) for sample in self.samples]
        recorded, planned = (
            sum(len(table.tokenizer.encode(text, add_special_tokens=False)) for text in texts)
            for table in (self.recorded, self.planned)
        )
        return Tokens(
            {sample.id: len(self._ids(sample, self.recorded)) for sample in self.samples},
            {sample.id: len(self._ids(sample, self.planned)) for sample in self.samples},
            planned / recorded,
        )

    def _ids(self, sample: Sample, table: TokenTable) -> list[int]:
        request = self.prompter.request(sample)
        return text_ids(str(request.prompt), table, request.special_tokens)


def read_workload(runs: Sequence[Run], data: str, tokenizer: str | None) -> Workload:
    """Find the prompts of runs again.

    Parameters
    ----------
    data : str
        The benchmark's data, as ``eval`` got it.
    tokenizer : str, optional
        Folder or hub id of the tokenizer that is planned for; the runs' own by default.

    Raises
    ------
    EvalError
        If the runs have different prompts or models, or the data or a template has changed since.
    ModelError
        If a tokenizer cannot be loaded.
    """
    first, prompts = runs[0], _manifest(runs[0]).get("prompts")
    for other in runs[1:]:
        if _manifest(other).get("prompts") != prompts or (other.benchmark, other.model) != (
            first.benchmark,
            first.model,
        ):
            raise EvalError(
                f"{other.folder}: expected a run with the prompts and the model of {first.folder}, found others; "
                "give runs that differ in their method or orders only"
            )
    benchmark = find_benchmark(first.benchmark)
    options = run_options(first)
    categories = choose_categories(benchmark, first.categories)
    every = benchmark.of_template(options.template, categories).load(data, categories)
    samples = draw(every, options.limit, options.seed)
    own = TokenTable(load_tokenizer(options.model))
    prompter = Prompter(options, every, own.tokenizer)
    if digest([prompter.text(sample) for sample in samples]) != prompts:
        raise EvalError(
            f"{first.folder}: --data {data} does not give the prompts of this run; give the data that "
            "eval got, and the same version of tooldecoding"
        )
    planned = own if tokenizer is None else TokenTable(load_tokenizer(tokenizer))
    return Workload(first.benchmark, every, samples, prompter, own, planned)


def _manifest(run: Run) -> dict[str, Any]:
    return read_manifest(run.folder / MANIFEST, EvalError, "give the folder of a finished run")


def run_options(run: Run) -> EvalOptions:
    """Return the options with which a run was made; EvalError or ConfigError if they cannot be those of a run."""
    known = {each.name for each in options_of(EvalOptions)} - {"trust_remote_code", "calibration"}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in run.settings.items()}
    if not {"template", "format", "model", "limit", "seed"} <= given.keys():
        raise EvalError(f"{run.folder / MANIFEST}: its settings are not those of a run of `tooldecoding eval`")
    fields: dict[str, Any] = {name: value for name, value in given.items() if name in known}
    return EvalOptions(**fields)
