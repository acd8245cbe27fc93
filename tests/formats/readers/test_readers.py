"""Every reader reads what templates wrote as judges do, and nothing that they refuse, in bounded depth and time."""

import ast
import json
import random
import re
from typing import Any

import pytest
from reader_cases import RAW, READERS, JsonWords, judge, needs_judges, padded, read, rendered, samples, spelled

from growth import assert_linear
from lookup.literals.literal_reader import MAX_DEPTH
from tooldecoding.formats.cursor import MAX_LENGTH, ReadCall
from tooldecoding.formats.known_formats import CALL_FORMATS

pytestmark = needs_judges  # the samples are made of the texts that lie there
PYTHON = {"lfm2.5", "llama4-pythonic", "olmo3", "pythonic"}
TRIES = 600
MORE = [" ", "\n", "x", "\ufeff", "</s>", "<|im_end|>", "<think></think>", "\0", "]", "}", "#"]
_QUOTED_CITY = re.compile(r"""(<\|"\|>|<escape>|["'])Paris\1|(?<=string=")true">Paris""")
_PIECE = re.compile(r"<[^<>\n]{1,40}>|\[[A-Z_]{4,}\]|\w+|\s|.", re.DOTALL)
_FOREIGN = [
    *"\"'{}[](),:;=<>|/\\\n\t -.0159e", "é", "\u2028", "\ud800", "\x00", "\xa0", "true", "false", "null", "None",
    "True", "NaN", "-Infinity", "1e999", "01", "1.", "--1", "functions.", '"id": ', '"a": 1, ', '"name": "f", ',
    "a=1, ", "<think>", "</think>", "<|im_end|>", "<tool_call>", "\n</tool_call>", "{}", "f", "json",
]  # fmt: skip


def mutated(text: str, draw: random.Random) -> str:
    """A text with one to three pieces (marks, words, characters) deleted, inserted, replaced, repeated or cut off."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        pieces = [*text] if draw.random() < 0.3 else _PIECE.findall(text)
        one, other = (draw.randrange(len(pieces) + 1) for _ in range(2))
        foreign = draw.choice([draw.choice(_FOREIGN), draw.choice(pieces or [""])])
        put, begin, end = draw.choice(
            [
                ("", one, one + 1), (foreign, one, one), (foreign, one, one), (foreign, one, one + 1),
                ("", one, len(pieces)), ("", one, other), ("", one, other),
            ]
        )  # fmt: skip
        text = "".join([*pieces[:begin], put, *pieces[end:]])
    return text


def refused(name: str, text: str) -> bool:
    return read(name, text) is None


def judged(name: str, text: str) -> list[tuple[str, dict[str, Any]]] | str:
    """The calls, or why there are none."""
    try:
        # without documentation every raw value is a text, for the judge too
        return judge().read_calls(name, text, [])  # type: ignore[no-any-return]
    except judge().FormatError as error:
        return str(error)


def repeats_a_key(calls: list[ReadCall], reason: str) -> bool:
    """A reader returns a repeated key twice, and the caller sees it; the judge refuses it."""
    return "written twice" in reason and any(len(dict(pairs)) != len(pairs) for _, pairs in calls)


def python_reads_it(name: str, text: str, calls: list[ReadCall]) -> bool:
    """Python takes more than the judge: tuples, other numbers and strings, spaces, comments, and it normalises names.

    Python's own reading decides.
    """
    if name not in PYTHON:
        return False
    for mark in ("<|python_start|>", "<|python_end|>", "<|tool_call_start|>", "<|tool_call_end|>"):
        text = text.removeprefix(mark).removesuffix(mark)
    if name == "olmo3":
        text = f"[{', '.join(text.split(chr(10))[1:-1])}]"
    tree: Any = ast.parse(text, mode="eval").body
    return calls == [
        (ast.unparse(node.func), [(k.arg, ast.literal_eval(JsonWords().visit(k.value))) for k in node.keywords])
        for node in tree.elts
    ]


@pytest.mark.parametrize("name", rendered())
def test_what_is_rendered_stands_in_what_original_templates_wrote(name: str) -> None:
    for block, calls in rendered()[name]:
        if name != "lfm2.5" or '"' not in block:  # another template of this format quotes as JSON does
            assert any(text in block for text in spelled(CALL_FORMATS[name], calls)), block


@pytest.mark.parametrize("name", READERS)
def test_samples_are_read_as_the_judge_reads_them(name: str) -> None:
    for text in samples(name):
        found = [(n, dict(pairs)) for n, pairs in READERS[name](text)]
        assert json.dumps(found) == json.dumps(judged(name, text)), text


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
@pytest.mark.parametrize("name", READERS)
def test_no_reader_accepts_what_the_judge_refuses(name: str) -> None:
    draw, both, neither = random.Random(name), 0, 0
    for _ in range(TRIES):
        text = mutated(draw.choice(samples(name)), draw)
        calls, expected = read(name, text), judged(name, text)
        if calls is None:
            neither += isinstance(expected, str)
        elif not isinstance(expected, str):
            both += 1
            same = [(n, dict(pairs)) for n, pairs in calls] == expected
            assert same or python_reads_it(name, text, calls), text
        else:
            assert repeats_a_key(calls, expected) or python_reads_it(name, text, calls), text
    assert both > TRIES / 20 and neither > TRIES / 20


@pytest.mark.parametrize("name", [n for n in rendered() if n in RAW])
def test_white_space_around_raw_values_is_refused(name: str) -> None:
    """A parser strips it, so that a tool would get another value."""
    texts = [text for text, calls in rendered()[name] if padded(calls)]
    assert texts and all(refused(name, text) for text in texts)


def weather(name: str) -> str:
    """A call of get_weather with city Paris and unit celsius."""
    return next(text for text in samples(name) if len(READERS[name](text)) == 1 and "Paris" in text)


def with_city(name: str, value: str) -> str:
    """The call with another value for Paris, written without quotes."""
    written = f'false">{value}' if name == "deepseek-v3.2" else value
    found, count = _QUOTED_CITY.subn(lambda _: written, weather(name))
    assert count == 1
    return found


@pytest.mark.parametrize("name", READERS)
def test_the_beginning_of_a_text_is_never_another_call(name: str) -> None:
    for text in samples(name)[-8:]:
        calls = READERS[name](text)
        for length in range(len(text)):
            begun = read(name, text[:length])
            if begun is not None:
                whole = name == "harmony" and text[length:] == "<|call|>"
                assert begun == calls[: len(begun)] and (len(begun) < len(calls) or whole), text[:length]


@pytest.mark.parametrize("name", READERS)
def test_nothing_stands_around_the_calls(name: str) -> None:
    for text in samples(name)[:10]:
        assert all(refused(name, more + text) and refused(name, text + more) for more in MORE)


@pytest.mark.parametrize("name", [n for n in READERS if n not in RAW])
def test_no_key_stands_twice_inside_a_value_and_values_are_nested_to_a_limit(name: str) -> None:
    key = "a" if "gemma" in name else '"a"'
    assert not refused(name, with_city(name, f"{{{key}:1}}"))
    assert refused(name, with_city(name, f"{{{key}:1,{key}:1}}"))
    assert refused(name, with_city(name, f"[[{{{key}:1,{key}:1}}]]"))
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


@pytest.mark.parametrize("name", ["cohere", "kimi-k2", "mistral-args", "mistral-list"])
def test_numbers_rise_by_one_and_ids_differ(name: str) -> None:
    counted, calls = name in ("cohere", "kimi-k2"), [("f", []), ("f", [])]
    written = next(text for text in spelled(CALL_FORMATS[name], calls) if counted or "call00000" in text)
    right = ("4", "5") if counted else ("call00000", "call00001")
    wrong = [("4", "4"), ("4", "6"), ("4", "3"), ("0", "0"), ("a", "b")] if counted else [("call00000", "call00000")]

    def numbered(ids: tuple[str, str]) -> str:
        rest = iter(ids)
        return re.sub(r"call0000\d|\d", lambda _: next(rest), written)

    assert read(name, numbered(right)) == calls
    assert all(refused(name, numbered(ids)) for ids in [*wrong, ("", right[1])])
    without = re.sub(r', "id": "call00000"|\[CALL_ID\]call00000', "", written)
    assert counted or refused(name, without), "ids stand in all calls or in none"


@pytest.mark.parametrize("name", sorted(RAW))
def test_raw_values_may_hold_other_marks(name: str) -> None:
    for held in ("<b>&amp;</b> </function> <arg_key> \\n", ""):
        [(_, pairs)] = READERS[name](weather(name).replace("Paris", held))
        assert dict(pairs)["city"] == held


def test_a_text_is_not_written_as_another_value() -> None:
    assert not refused("deepseek-v3.2", with_city("deepseek-v3.2", "[1]"))
    assert refused("deepseek-v3.2", with_city("deepseek-v3.2", '"x"'))
