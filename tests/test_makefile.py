"""The targets that run benchmarks: which runs they make, and with which options."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def planned(*arguments: str) -> list[str]:
    """The commands of ``tooldecoding`` and ``echo`` that make would run."""
    ran = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.removeprefix(".venv/bin/") for line in ran.stdout.splitlines()]
    return [line for line in lines if line.startswith(("tooldecoding ", 'echo "paper-'))]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one benchmark."""
    (tmp_path / "api-bank").mkdir()
    return tmp_path


def test_options_of_a_method() -> None:
    lines = planned("results-sgd", "METHODS=greedy tooldec+react orders-12+shots-4 order-reversed", "LIMIT=7")
    options = [line.partition("--model reference ")[2].partition(" --batch-size")[0] for line in lines[:-1]]
    assert options == [
        "--method greedy",
        "--method tooldec --tooldec-form react",
        "--order-limit 12 --shots 4",
        "--orders reversed",
    ]
    assert all("--limit 7" in line for line in lines[:-1])
    assert lines[-1].startswith("tooldecoding report runs/results/sgd/greedy runs/results/sgd/tooldec+react ")


def test_tables_share_runs_and_each_can_be_made_alone(data: Path) -> None:
    every = planned("paper-tables", f"DATA={data}", "MODEL=a/b")
    runs = [line.partition("--out ")[2] for line in every if line.startswith("tooldecoding eval")]
    assert len(runs) == len(set(runs)) > 10
    assert all(run.startswith("runs/papers/a--b/api-bank") for run in runs)
    assert not any("--limit" in line for line in every)
    examples = planned("paper-examples", f"DATA={data}", "LIMIT=5", "SHOTS=0 8")
    assert [line.partition("/api-bank-call/")[2] for line in examples[:-1]] == [
        "greedy",
        "greedy+shots-8",
        "orders-12",
        "orders-12+shots-8",
    ]
    assert all("--limit 5 " in line for line in examples[:-1])


def test_a_benchmark_without_data_is_one_line(data: Path) -> None:
    lines = [line for line in planned("paper-tables", f"DATA={data}") if line.startswith("echo")]
    assert len(lines) == 4
    assert (
        f"paper-stages is left out: no {data}/ultratool; get it: git clone https://github.com/JoeYing1019" in lines[1]
    )
