"""Logs as JSON objects, one a line, on standard error."""

import json
import logging
import time
from typing import Any, Final

_NAME: Final = "tooldecoding.server"


class _Lines(logging.Formatter):
    """Writes a record with its fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        row = {"time": f"{when}.{int(record.msecs):03d}Z", "level": record.levelname.lower()}
        row |= {"event": record.getMessage(), **fields}
        if record.exc_info:
            row["traceback"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False, default=str)


def begin_log() -> None:
    """Let all logs and warnings of the process go to standard error as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines())
    root, transformers = logging.getLogger(), logging.getLogger("transformers")
    root.handlers, transformers.handlers, transformers.propagate = [handler], [], True
    root.setLevel(logging.WARNING)
    logging.getLogger(_NAME).setLevel(logging.INFO)
    logging.captureWarnings(True)


def log(event: str, level: int = logging.INFO, failed: BaseException | None = None, **fields: Any) -> None:
    """Write one event with its fields; ``failed`` adds its traceback."""
    logging.getLogger(_NAME).log(level, event, extra={"fields": fields}, exc_info=failed)
