"""What the teacher wants behind every beginning of a call, and behind what begins none."""

from itertools import permutations

from tiny_bench import subject, workload

from eval.bench.lesson import Lesson

WORKLOAD = workload()
TASK = WORKLOAD.tasks[0]
TABLE = subject().decoder.table
PROMPT = TABLE.join(TASK.prompt_ids)
LESSON = Lesson(WORKLOAD, TASK, TABLE)


def rest(written: str) -> str:
    """What follows by the teacher's wishes, until there are none."""
    text = PROMPT + written.encode()
    while (token := LESSON.wanted(text)) is not None:
        text += TABLE.texts[token] or b""
    return text[len(PROMPT) :].decode()


def test_the_call_in_documentation_order() -> None:
    assert rest("") == TASK.call
    for end in range(len(TASK.call)):
        assert rest(TASK.call[:end]) == TASK.call


def test_keys_in_any_order_and_then_those_that_are_missing() -> None:
    pairs = {key: f"{key}='{value}'" for key, value in TASK.values.items()}
    start = TASK.call.split("(")[0] + "("
    for order in permutations(pairs):
        text = start + ", ".join(pairs[key] for key in order) + ")]"
        assert rest(text[:-2]) == text
        injected = start + pairs[order[0]] + f", {order[1]}='"
        missing = [key for key in pairs if key not in order[:2]]
        assert rest(injected) == start + ", ".join(pairs[key] for key in (*order[:2], *missing)) + ")]"


def test_nothing_is_wanted_behind_anything_else() -> None:
    key, value = next(iter(TASK.values.items()))
    start = TASK.call.split("(")[0] + "("
    for wrong in ("]", start + f"{key}='{value[:-1]}'", start + f"other='{value}'", TASK.call, TASK.call + "]"):
        assert LESSON.wanted(PROMPT + wrong.encode()) is None


def test_the_last_token_of_the_prompt_may_be_held() -> None:
    last = TABLE.texts[TASK.prompt_ids[-1]] or b""
    assert LESSON.wanted(PROMPT[: -len(last)]) == TASK.prompt_ids[-1]
