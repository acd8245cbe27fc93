"""Held-out synthetic material as files: the evaluation reads them, and its scorers find the answers right."""

from pathlib import Path

import pytest
from tiny_run import RunCommand

from eval.benchmarks.bfcl.benchmark import BFCL_LIVE
from eval.benchmarks.samples import Benchmark
from eval.benchmarks.sgd.benchmark import SGD
from tooldecoding.formats.known_formats import CALL_FORMATS
from training.evaluation.benchmark_files import CATEGORIES, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("held-out")
    write(out, 25)
    return out


@pytest.mark.parametrize(("benchmark", "part", "count"), [(BFCL_LIVE, "questions", 150), (SGD, "dialogues", 30)])
def test_the_answers_are_right(folder: Path, benchmark: Benchmark, part: str, count: int) -> None:
    samples = benchmark.load(str(folder / part), benchmark.categories)
    assert len(samples) >= count
    for sample in samples:
        form = CALL_FORMATS[benchmark.call_format]
        text = form.render(sample.calls) if sample.calls else "None."
        wanted = sample.category != "live_relevance"
        assert benchmark.judge(sample, text).correct is wanted, (sample.id, text)


def test_every_category_is_there(folder: Path) -> None:
    samples = BFCL_LIVE.load(str(folder / "questions"), BFCL_LIVE.categories)
    assert {s.category for s in samples} == {f"live_{category}" for category in CATEGORIES} == set(BFCL_LIVE.categories)
    several = [s for s in samples if "parallel" in s.category]
    assert sum(len(s.calls) > 1 for s in several) > 0.8 * len(several)
    assert all(len(s.documentation.lookup.tools) > 1 for s in samples if "multiple" in s.category)


def test_a_file_in_the_way(tmp_path: Path, run_command: RunCommand) -> None:
    (tmp_path / "file").write_text("")
    code, error = run_command("held_out", "--out", tmp_path / "file", "--count", 1)
    assert code == 2 and error.startswith(f"error: {tmp_path / 'file'}") and error.count("\n") == 1


def test_the_same_at_every_call(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, 25)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 6 + 4 + 3
    for path in files:
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes()
