"""Held-out synthetic material as files: the evaluation reads them, and its scorers find the answers right."""

from pathlib import Path

import pytest
import typer

from eval.benchmarks.bfcl.benchmark import BFCL_LIVE
from eval.benchmarks.samples import Benchmark
from eval.benchmarks.sgd.benchmark import SGD
from tooldecoding.formats.call_format import CALL_FORMATS
from training.evaluation.benchmark_files import CATEGORIES
from training.held_out import main, write


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


def test_a_file_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(typer.Exit) as ended:
        main(tmp_path / "file", 1)
    assert ended.value.exit_code == 2 and "file: cannot be written: " in capsys.readouterr().err


def test_the_same_at_every_call(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, 25)
    for path in (p for p in folder.rglob("*.json") if p.is_file()):
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes()
