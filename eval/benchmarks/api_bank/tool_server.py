"""Verdicts from API-Bank's own tool manager, in a checkout that the user has.

It executes the checkout's code, in a process of its own; what that code does to the machine is not confined.
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import IO, Any, Final

from eval.benchmarks.api_bank.data import ApiBankAnswer
from eval.benchmarks.api_bank.parser import get_api_call, parse_arguments
from eval.benchmarks.samples import Judgement, Sample
from eval.errors import EvalError
from tooldecoding.formats.call_format import Call

START_SECONDS: Final = 300.0
"""Time for the checkout's imports, which load the models of its tools' libraries."""

SAMPLE_SECONDS: Final = 60.0
"""Time for one sample."""

_DRIVER: Final = Path(__file__).with_name("tool_server_driver.py")
_NEEDED: Final = ("tool_manager.py", "api_call_extraction.py", "apis", "init_database")
_PACKAGES: Final = {
    "sentence_transformers": "sentence-transformers",
    "rank_bm25": "rank-bm25",
    "googletrans": "googletrans==3.1.0a0",
}
"""Module -> what pip calls it, where the names differ or a version is needed."""


class ToolServer:
    """The official tool manager as a judge: ``with ToolServer(folder) as judge: judge(sample, prediction)``.

    Each sample gets a fresh tool manager, as the official evaluator gives it. A prediction that does not end within the
    time (the Calculator never ends on some formulas) is wrong, with the error ``CRASH:TimeoutError``.

    Parameters
    ----------
    folder : str
        A checkout of AlibabaResearch/DAMO-ConvAI, or its api-bank.
    start_seconds, sample_seconds : float
        Limits of time.

    Raises
    ------
    EvalError
        From the constructor if this is no such folder; on entering if its code cannot be loaded, naming the package
        that is missing; on judging if the process ends.
    """

    def __init__(
        self, folder: str, start_seconds: float = START_SECONDS, sample_seconds: float = SAMPLE_SECONDS
    ) -> None:
        self.folder = _find_checkout(Path(folder))
        self._start_seconds, self._sample_seconds = start_seconds, sample_seconds
        self._worker: _Worker | None = None

    def __enter__(self) -> "ToolServer":
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def __call__(self, sample: Sample, prediction: str) -> Judgement:
        """The tool manager's verdict on a prediction."""
        worker = self._worker or self._start()
        answer: ApiBankAnswer = sample.answer
        truth = answer.truth
        result = {"api_name": truth.name, "input": truth.input, "output": truth.output, "exception": truth.exception}
        worker.send({"prediction": prediction, "api_name": truth.name, "result": result})
        text = get_api_call(prediction)
        calls = (Call(text.name, parse_arguments(text.arguments)),) if text else None
        try:
            verdict = worker.receive(self._sample_seconds)
        except TimeoutError:
            self._stop()
            message = f"the tool manager was still busy after {self._sample_seconds:g} seconds"
            return Judgement(False, "CRASH:TimeoutError", message, calls)
        return Judgement(verdict["correct"], verdict["error"], verdict["message"], calls)

    def _start(self) -> "_Worker":
        self._worker = worker = _Worker(self.folder)
        try:
            ready = worker.receive(self._start_seconds)
        except TimeoutError:
            self._stop()
            raise EvalError(f"{self.folder}: not loaded after {self._start_seconds:g} seconds") from None
        if "missing" in ready:
            self._stop()
            raise EvalError(_missing_module(self.folder, ready["missing"]))
        if "failed" in ready:
            self._stop()
            raise EvalError(f"{self.folder}: the tool manager cannot be loaded: {ready['failed']}")
        return worker

    def _stop(self) -> None:
        if self._worker:
            self._worker.stop()
        self._worker = None


class _Worker:
    """The process that runs the checkout's code: JSON lines in, JSON lines out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, str(_DRIVER), str(folder)],
            cwd=folder,  # the tool manager reads ./apis and ./init_database
            # its Translate writes ALL_PROXY back, which must be a text
            env=os.environ | {"ALL_PROXY": os.environ.get("ALL_PROXY", ""), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._lines: Queue[bytes | None] = Queue()
        assert self._process.stdin and self._process.stdout
        self._input = self._process.stdin
        Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, output: IO[bytes]) -> None:
        for line in output:
            self._lines.put(line)
        self._lines.put(None)

    def send(self, message: dict[str, Any]) -> None:
        """Write one message; EvalError if the process has ended."""
        try:
            self._input.write(json.dumps(message).encode() + b"\n")
            self._input.flush()
        except OSError:
            raise self._ended() from None

    def receive(self, seconds: float) -> dict[str, Any]:
        """The next answer; TimeoutError if there is none in time, EvalError if the process has ended."""
        try:
            line = self._lines.get(timeout=seconds)
        except Empty:
            raise TimeoutError from None
        if line is None:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> EvalError:
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return EvalError(f"{self._folder}: the tool manager ended (code {code}): {last[-1] if last else 'no message'}")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # what the process has not read
            self._input.close()
        self._errors.close()


def _find_checkout(folder: Path) -> Path:
    for place in (folder, folder / "api-bank"):
        if all((place / name).exists() for name in _NEEDED):
            return place.resolve()
    missing = ", ".join(name for name in _NEEDED if not (folder / name).exists())
    raise EvalError(f"{folder}: expected a checkout of DAMO-ConvAI or its folder api-bank; it lacks {missing}")


def _missing_module(folder: Path, module: str) -> str:
    if (folder / module.partition(".")[0]).exists():
        return f"{folder}: the checkout is not complete: it lacks the module {module}"
    package = _PACKAGES.get(module, module)
    return f"{folder}: its tools need the module {module}; install it: pip install {package}"
