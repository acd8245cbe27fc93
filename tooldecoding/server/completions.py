"""Chat completions of one model: from the row of a request to those of its answer, whole or as a stream."""

import time

from starlette.concurrency import run_in_threadpool

from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.result import DecodeResult
from tooldecoding.server.api_error import told
from tooldecoding.server.app import Answerer
from tooldecoding.server.chat_answer import ChatAnswer
from tooldecoding.server.chat_body import demand_model, read_chat_body
from tooldecoding.server.exchange import MB, Head, Parts, Row, failed
from tooldecoding.server.json_log import log
from tooldecoding.server.prepared import Preparation
from tooldecoding.server.scheduler import Job, Scheduler


class Completions(Answerer):
    """Answers requests for one model, many at once."""

    def __init__(self, decoder: ToolDecoder, options: ServeCommand) -> None:
        super().__init__()
        self.scheduler = Scheduler(decoder, options.max_batch, options.queue, options.kv_cache_mb * MB, self.metrics)
        self._decoder = decoder
        self._options = options
        self._preparation = Preparation(decoder)
        self.scheduler.start()

    async def ready(self) -> Head:
        """Tell whether requests are taken."""
        return await super().ready() if self.scheduler.is_ready else Head(503, {"status": "not ready"})

    async def stop(self) -> None:
        """Take no more requests, and finish those that there are."""
        await run_in_threadpool(self.scheduler.stop)

    async def answer(self, given: Row, request_id: str) -> Parts:
        """Yield the answer to a request; an error behind the first piece of a stream is an event, too."""
        began, job, begun = time.monotonic(), None, False
        try:
            self.scheduler.demand_place()  # before the work of reading the request
            asked = read_chat_body(given)
            demand_model(asked.model, self._options)
            prepared = await run_in_threadpool(self._preparation.prepare, asked)
            if self._options.log_prompts:
                log("prompt", request_id=request_id, prompt=prepared.request.prompt)
            answer = ChatAnswer(asked, prepared, self._decoder, self._options.model_names[0])
            job = Job(prepared, bool(asked.stream), self._options.timeout)
            self.scheduler.submit(job)
            news = await job.next()
            if asked.stream:
                self.metrics.first.observe(time.monotonic() - began)
                begun = True
                yield Head(200, answer.begin(), streamed=True)
            while not isinstance(news, DecodeResult):
                for chunk in answer.chunks(news):
                    yield chunk
                news = await job.next()
            self._count(news, job, began)
            if not asked.stream:
                yield Head(200, answer.whole(news))
                return
            for chunk in answer.end(news):
                yield chunk
        except Exception as error:  # noqa: BLE001 - no traceback in an answer
            failure = told(error, request_id)
            yield failure.to_json() if begun else failed(failure)
        finally:
            if job is not None:
                self.scheduler.cancel(job)

    def _count(self, result: DecodeResult, job: Job, began: float) -> None:
        metrics = self.metrics
        metrics.whole.observe(time.monotonic() - began)
        metrics.prompt_tokens.inc(len(job.prepared.prompt_ids))
        metrics.reused_tokens.inc(result.counters.reused_positions)
        metrics.completion_tokens.inc(len(result.token_ids))
        for call in result.calls:
            metrics.calls.labels(valid=str(call.voted.valid).lower()).inc()
