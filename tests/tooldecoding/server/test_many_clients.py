"""Law: an answer does not depend on who else is served, streamed or not, short or long, also while others hang up."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from running_server import every_kind, running, wait_until
from tooldecoding.decoder import ToolDecoder


def test_answers_do_not_depend_on_other_clients(reference: ToolDecoder) -> None:
    asked = every_kind()
    with running(reference, max_batch=4) as server, ThreadPoolExecutor(8) as clients:
        alone = [server.answered(**request) for request in asked]
        together = [clients.submit(server.answered, **request) for request in reversed(asked)]
        for request in asked[::4]:
            with closing(server.unread(**request)) as connection:
                connection.recv(1) if request["stream"] else connection.close()
        assert [each.result() for each in reversed(together)] == alone
        wait_until(lambda: not server.asked)
        assert len(server.answerer.scheduler._batch) == 0
