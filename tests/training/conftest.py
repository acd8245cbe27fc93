"""The commands ``python -m training.…``, run in this process."""

import runpy
import sys

import pytest
from tiny_run import RunCommand


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """``run_command("train", "--budget", 1)`` returns the exit code and what was written to standard error."""

    def run(name: str, *arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        monkeypatch.delitem(sys.modules, f"training.{name}", raising=False)  # as in a new process
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(f"training.{name}", run_name="__main__")
        return int(ended.value.code or 0), capsys.readouterr().err

    return run
