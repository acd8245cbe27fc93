"""Many clients at once, each of which sends one request behind the other."""

from collections.abc import Callable, Sequence
from threading import Lock, Thread
from time import perf_counter

from eval.load.client import Answer, ask
from eval.load.requests import LoadRequest


def run_clients(
    port: int, requests: Sequence[LoadRequest], clients: int, advance: Callable[[int], None]
) -> tuple[dict[int, Answer], float]:
    """Send all requests; returns the answers by the requests' numbers, and the seconds that all took together."""
    waiting = iter(requests)
    answers: dict[int, Answer] = {}
    lock = Lock()

    def client() -> None:
        while True:
            with lock:
                request = next(waiting, None)
            if request is None:
                return
            answer = ask(port, request)
            with lock:
                answers[request.number] = answer
                advance(1)

    threads = [Thread(target=client, daemon=True) for _ in range(clients)]
    began = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, perf_counter() - began
