"""What holds for every reader: nothing around the calls, all keys as they stand, bounded depth, linear time."""

import re

import pytest
from reader_cases import PYTHON, RAW, READERS, needs_judges, refused
from samples import samples

from growth import assert_linear
from lookup.literals.literal_reader import MAX_DEPTH
from tooldecoding.formats.reading import MAX_LENGTH

pytestmark = needs_judges  # the samples are made of the texts that lie there
_QUOTED_CITY = re.compile(r"""(<\|"\|>|<escape>|["'])Paris\1|(?<=string=")true">Paris""")


def weather(name: str) -> str:
    """A call of get_weather with city Paris and unit celsius."""
    return next(text for text in samples(name) if len(READERS[name](text)) == 1 and "Paris" in text)


@pytest.mark.parametrize("name", READERS)
def test_the_beginning_of_a_text_is_never_another_call(name: str) -> None:
    for text in samples(name)[-8:]:
        calls = READERS[name](text)
        for length in range(len(text)):
            if not refused(name, text[:length]):
                begun = READERS[name](text[:length])
                whole = name == "harmony" and text[length:] == "<|call|>"
                assert begun == calls[: len(begun)] and (len(begun) < len(calls) or whole), text[:length]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "more", [" ", "\n", "x", "\ufeff", "</s>", "<|im_end|>", "<think></think>", "\0", "]", "}", "#"]
)
def test_nothing_stands_around_the_calls(name: str, more: str) -> None:
    for text in samples(name)[:10]:
        assert refused(name, more + text) and refused(name, text + more)


@pytest.mark.parametrize("name", [n for n in READERS if n not in RAW])
def test_a_key_twice_inside_a_value_is_refused(name: str) -> None:
    key = "a" if "gemma" in name else '"a"'
    assert not refused(name, with_city(name, f"{{{key}:1}}"))
    assert refused(name, with_city(name, f"{{{key}:1,{key}:1}}"))
    assert refused(name, with_city(name, f"[[{{{key}:1,{key}:1}}]]"))


@pytest.mark.parametrize("name", [n for n in READERS if n not in RAW])
def test_values_are_nested_to_a_limit(name: str) -> None:
    assert not refused(name, with_city(name, "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH))
    for depth in (MAX_DEPTH + 2, 150, 1500, MAX_LENGTH // 3):
        for opener, closer in ("[]", "{}", ('{"a":', "}"), ("{a:", "}")):
            assert refused(name, with_city(name, opener * depth + closer * depth))
            assert refused(name, with_city(name, opener * depth)[:MAX_LENGTH])


@pytest.mark.parametrize("name", READERS)
def test_long_texts_are_refused(name: str) -> None:
    room = MAX_LENGTH - len(weather(name))
    assert not refused(name, weather(name).replace("Paris", "Paris" + "x" * room))
    assert refused(name, weather(name).replace("Paris", "Paris" + "x" * (room + 1)))
    assert refused(name, weather(name)[:-1] + "x" * 1_000_000)


def with_city(name: str, value: str) -> str:
    """The call with another value for Paris, written without quotes."""
    written = f'false">{value}' if name == "deepseek-v3.2" else value
    found, count = _QUOTED_CITY.subn(lambda _: written, weather(name))
    assert count == 1
    return found


@pytest.mark.parametrize("name", READERS)
def test_readers_take_linear_time(name: str) -> None:
    head = weather(name)[: weather(name).index("Paris")]
    pieces = [*re.findall(r"<[^<>\n]+>|\[[A-Z_]+\]|\W", weather(name)), "\\", "[", "{", "a=", "-", "<", "(", "f(a="]
    for piece in dict.fromkeys(pieces):
        for start in ("", head, weather(name)):
            assert_linear(lambda t: refused(name, t), lambda n, p=piece, s=start: s + p * (n // len(p)), 20_000)


def test_python_formats_differ_in_the_words_of_json() -> None:
    for name in PYTHON:
        anywhere, in_dicts = with_city(name, "true"), with_city(name, '[{"a":[null,true]}]')
        assert refused(name, anywhere) == (name != "olmo3")
        assert refused(name, in_dicts) == (name not in ("olmo3", "lfm2.5"))
        assert refused(name, with_city(name, "[{null: 1}]"))


NUMBERED = {
    "cohere": "<|START_ACTION|>[{0}, {1}]<|END_ACTION|>",
    "kimi-k2": "<|tool_calls_section_begin|>{0}{1}<|tool_calls_section_end|>",
    "mistral-list": "[TOOL_CALLS][{0}, {1}]",
    "mistral-args": "{0}{1}",
}
NUMBERED_CALL = {
    "cohere": '{{"tool_call_id": "{}", "tool_name": "f", "parameters": {{}}}}',
    "kimi-k2": "<|tool_call_begin|>functions.f:{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>",
    "mistral-list": '{{"name": "f", "arguments": {{}}, "id": "{}"}}',
    "mistral-args": "[TOOL_CALLS]f[CALL_ID]{}[ARGS]{{}}",
}


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_rise_by_one_and_ids_differ(name: str) -> None:
    counted = name in ("cohere", "kimi-k2")
    right = ("4", "5") if counted else ("call00000", "call00001")
    wrong = [("4", "4"), ("4", "6"), ("4", "3"), ("0", "0"), ("a", "b")] if counted else [("call00000", "call00000")]

    def text(ids: tuple[str, str]) -> str:
        return NUMBERED[name].format(*(NUMBERED_CALL[name].format(each) for each in ids))

    assert READERS[name](text(right)) == [("f", []), ("f", [])]
    assert all(refused(name, text(ids)) for ids in [*wrong, ("", right[1])])
    without = text(right).replace('"id": "call00000"', "").replace("[CALL_ID]call00000", "")
    assert counted or refused(name, without), "ids stand in all calls or in none"


@pytest.mark.parametrize("name", sorted(RAW))
def test_raw_values_may_hold_other_marks(name: str) -> None:
    for held in ("<b>&amp;</b> </function> <arg_key> \\n", ""):
        [(_, pairs)] = READERS[name](weather(name).replace("Paris", held))
        assert dict(pairs)["city"] == held


def test_a_text_is_not_written_as_another_value() -> None:
    assert not refused("deepseek-v3.2", with_city("deepseek-v3.2", "[1]"))
    assert refused("deepseek-v3.2", with_city("deepseek-v3.2", '"x"'))
