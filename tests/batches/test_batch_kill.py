"""A batch that is killed at any moment: no finished result is lost or doubled, and the same command goes on."""

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from batch_echo import Folder, row, said
from tooldecoding.cli.decode import decode
from tooldecoding.files.result_file import ResultFile
from tooldecoding.options.given import Given

ROWS = [*(row(n, f"prompt {n}") for n in range(2)), *[{"prompt": "no id"}] * 2, {"id": "bad"}]
KILLED = -signal.SIGKILL


class Hourglass:
    """Kills this process when some number of writes have begun, in the middle of one."""

    def __init__(self, moment: int) -> None:
        self._left = moment

    def falls(self) -> bool:
        """Count a write; returns whether it is the last."""
        self._left -= 1
        return self._left == 0

    def set(self) -> None:
        append, replace = ResultFile._append, Path.replace

        def append_killed(results: ResultFile, file: BinaryIO, data: bytes) -> None:
            if self.falls():
                append(results, file, data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            append(results, file, data)

        def replace_killed(path: Path, target: Path) -> Path:
            if self.falls():
                os.kill(os.getpid(), signal.SIGKILL)
            return replace(path, target)

        ResultFile._append = append_killed  # type: ignore[method-assign]
        Path.replace = replace_killed  # type: ignore[method-assign,assignment]


def child(command: Callable[[], None]) -> int:
    """Exit code of a copy of this process that runs a command; -9 if it was killed."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            sys.stderr = sys.stdout = io.StringIO()
            command()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run(folder: Folder, moment: int = 0) -> int:
    def command() -> None:
        Hourglass(moment).set()
        options = {"tool_choice": "none", "batch_size": 2}
        decode(Given({"batch": str(folder.rows), "out": str(folder.out), **options}))

    return child(command)


def whole(folder: Folder) -> dict[Any, str]:
    """Id -> text or error of the results that are whole; each stands there once."""
    data = folder.out.read_bytes() if folder.out.exists() else b""
    rows = [json.loads(line) for line in data.split(b"\n")[:-1]]
    found = {r["id"]: r.get("text", r.get("error")) for r in rows}
    assert len(found) == len(rows)
    return found


def test_killed_at_any_moment(folder: Folder) -> None:
    """And again while it goes on; the third run is not killed."""
    folder.write(ROWS)
    moment, ended, expected = 0, False, None
    while not ended:
        moment += 1
        for path in folder.out.parent.glob("out*"):
            path.unlink()
        before: dict[Any, str] = {}
        codes = []
        for killed_at in (moment, moment + 1, 0):
            codes.append(run(folder, killed_at))
            assert before.items() <= whole(folder).items()
            before = whole(folder)
        assert set(codes) <= {0, KILLED} and codes[-1] == 0
        expected = expected or before
        assert before == expected and len(before) == len(ROWS)
        ended = codes[0] == 0
    assert moment > 4 and before[1] == said("prompt 1")
