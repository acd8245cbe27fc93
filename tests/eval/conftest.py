"""The small ``sgd`` that most tests of runs decode or score."""

from pathlib import Path

import pytest

from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd import SGD
from eval_data import write_sgd


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; nobody may change what is in it."""
    return write_sgd(tmp_path_factory.mktemp("data") / "sgd")


@pytest.fixture(scope="session")
def samples(data: Path) -> list[Sample]:
    return SGD.load(str(data), SGD.categories)
