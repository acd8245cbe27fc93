"""What ``/metrics`` shows, in the format of Prometheus, and logs as JSON objects, one a line, on standard error."""

import json
import logging
import time
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.answers = Counter("tooldecoding_answers", "Answers by status.", ["status"], registry=registry)
        self.refused = Counter("tooldecoding_refused", "Requests refused: queue full.", registry=registry)
        self.cancelled = Counter("tooldecoding_cancelled", "Requests whose client went away.", registry=registry)
        self.running = Gauge("tooldecoding_running", "Requests that are decoded.", registry=registry)
        self.waiting = Gauge("tooldecoding_waiting", "Requests in the queue.", registry=registry)
        self.cache_bytes = Gauge("tooldecoding_kv_cache_bytes", "KV cache of what runs.", registry=registry)
        self.passes = Counter("tooldecoding_forward_passes", "Forward passes.", registry=registry)
        self.prompt_tokens = Counter("tooldecoding_prompt_tokens", "Tokens of prompts.", registry=registry)
        self.reused_tokens = Counter("tooldecoding_reused_tokens", "Prompt tokens not computed.", registry=registry)
        self.completion_tokens = Counter("tooldecoding_completion_tokens", "Tokens of answers.", registry=registry)
        self.calls = Counter("tooldecoding_calls", "Voted calls.", ["valid"], registry=registry)
        self.first = Histogram(
            "tooldecoding_first_piece_seconds", "Until the first piece.", registry=registry, buckets=_SECONDS
        )
        self.whole = Histogram("tooldecoding_answer_seconds", "Until the end.", registry=registry, buckets=_SECONDS)

    def families(self) -> list[Metric]:
        """Return all figures, which can be pickled."""
        return list(self._registry.collect())


def exposition(families: Iterable[Metric]) -> bytes:
    """Return figures in the format of Prometheus."""
    registry: Any = SimpleNamespace(collect=lambda: families)
    found: bytes = generate_latest(registry)
    return found


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
