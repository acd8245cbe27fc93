"""What holds for every reader: nothing around the calls, all keys as they stand, bounded depth, linear time."""

import re

import pytest
from reader_cases import PYTHON, RAW, READERS, needs_judges, refused
from samples import samples

from growth import assert_linear
from tooldecoding.formats.reading import MAX_DEPTH, MAX_LENGTH

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


@pytest.mark.parametrize("name", READERS)
def test_a_repeated_key_is_there_twice(name: str) -> None:
    [(tool, pairs)] = READERS[name](weather(name).replace("unit", "city"))
    assert tool == "get_weather" and sorted(pairs) == [("city", "Paris"), ("city", "celsius")]


@pytest.mark.parametrize("name", [n for n in READERS if n not in RAW])
@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN", "Infinity", "1" * 5000, "-", "'", "{", "f()", "a", ""])
def test_what_is_no_value_is_refused(name: str, value: str) -> None:
    assert refused(name, with_city(name, value))


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


@pytest.mark.parametrize(
    ("name", "head", "call", "separator", "tail"),
    [
        ("deepseek-v3", "<｜tool▁calls▁begin｜>",
         "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜>", "\n",
         "<｜tool▁calls▁end｜>"),
        ("deepseek-v3.1", "<｜tool▁calls▁begin｜>",
         '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>', "", "<｜tool▁calls▁end｜>"),
        ("functiongemma", "", "<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>", "", ""),
        ("glm-4.7", "", "<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>", "", ""),
        ("hermes", "", '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "\n", ""),
        ("json-list", "[", '{"name": "f", "arguments": {"a": 1}}', ", ", "]"),
        ("llama3-json", "", '{"name": "f", "parameters": {"a": 1}}', "; ", ""),
        ("minimax-m2", "<minimax:tool_call>\n", '<invoke name="f">\n<parameter name="a">x</parameter>\n</invoke>\n', "",
         "</minimax:tool_call>"),
        ("mistral-args", "", '[TOOL_CALLS]f[ARGS]{"a": 1}', "", ""),
        ("olmo3", "<function_calls>\n", "f(a=1)", "\n", "\n</function_calls>"),
        ("pythonic", "[", "f(a=1)", ", ", "]"),
        ("qwen-xml", "", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
         "\n", ""),
    ],
)  # fmt: skip
def test_many_calls_take_linear_time(name: str, head: str, call: str, separator: str, tail: str) -> None:
    def text(size: int) -> str:
        return head + separator.join([call] * (size // len(call + separator))) + tail

    assert len(READERS[name](text(10_000))) == 10_000 // len(call + separator)
    assert_linear(READERS[name], text, 20_000)


def test_python_formats_differ_in_the_words_of_json() -> None:
    for name in PYTHON:
        anywhere, in_dicts = with_city(name, "true"), with_city(name, '[{"a":[null,true]}]')
        assert refused(name, anywhere) == (name != "olmo3")
        assert refused(name, in_dicts) == (name not in ("olmo3", "lfm2.5"))
        assert refused(name, with_city(name, "[{null: 1}]"))
