"""How commands end on full disks, closed pipes and signals: one line, the documented exit code, results are kept."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batch_echo import Echo, Folder, row
from command_line import CASES
from test_layers import ROOT
from tooldecoding.batches.decode_rows import GROUP
from tooldecoding.cli.app import INTERRUPTED, NO_READER, TERMINATED, WRONG_INPUT, end_well
from tools import documented

TOOLS = CASES / "tools.jsonl"
FULL = Path("/dev/full")
COMMAND = [sys.executable, "-c", "from tooldecoding.cli.app import main; main()"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_full_standard_output() -> None:
    with FULL.open("w") as full:
        command = [*COMMAND, "lookup", str(TOOLS)]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
    assert ran.returncode == WRONG_INPUT
    assert ran.stderr == "error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(("count", "arguments"), [(1, []), (3000, []), (3000, ["--json"])])  # more than a pipe holds
def test_a_closed_pipe(tmp_path: Path, arguments: list[str], count: int) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps(documented(f"Tool{n}", description="x" * 90)) + "\n" for n in range(count)))
    command = [*COMMAND, "lookup", str(docs), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        said = process.stderr.read()
    assert said == b"" and process.returncode == NO_READER


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
def test_signals_end_a_batch_alike_and_what_is_finished_is_kept(
    folder: Folder, echo: Echo, number: int, code: int
) -> None:
    # a shell that runs the tests in the background has SIGINT ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    echo.rows, echo.interrupt = 2 * GROUP, lambda *_: os.kill(os.getpid(), number)
    try:
        ran = folder.decode([*map(row, range(3 * GROUP))], "--batch-size", 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ran.code == code
    assert f"interrupted: the same command goes on behind what stands in {folder.out}\n" in ran.err
    assert {result["id"] for result in folder.results()} == {*range(2 * GROUP)}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SystemExit(7), 7, ""),
        (SystemExit(), 0, ""),
        (OSError(28, "No space left on device", "a/file"), WRONG_INPUT, "error: a/file: No space left on device\n"),
    ],
)
def test_exit_codes(capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str) -> None:
    def command() -> None:
        raise error

    assert end_well(lambda: None) == 0
    assert end_well(command) == code
    assert capsys.readouterr().err == said
