"""The tokenizer: lossless, pieces that do not depend on their place, shared embeddings."""

from random import Random

import pytest
from tiny_run import tiny_tokenizer
from transformers import PreTrainedTokenizerFast

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Utterance
from training.answer import KEY, NAME, VALUE, Answer
from training.encoding.encode import encode_answer
from training.encoding.tokenizer import RESERVED
from training.example import TEMPLATES, PromptTemplate, answer_segment
from training.network.embedding import TokenEmbedding, traits


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    return tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.mark.parametrize(
    "text",
    ["", " ", "  a  b ", "héllo ☃ 日本語 \U0001f600", "\n\t  x²  '[\"a\", 'b']\x00", "İ ﬁ e\u0301 ½", " [ (a, 'b')] "],
)
def test_any_text_comes_back(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_random_code_points_come_back(tokenizer: PreTrainedTokenizerFast) -> None:
    rng = Random(0)
    for _ in range(200):
        text = "".join(chr(c) for c in (rng.randrange(0x110000) for _ in range(20)) if not 0xD800 <= c < 0xE000)
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("value", ["New York", "Zolpurin kestrel", "the weather", "42 Baker Street"])
def test_a_value_has_the_same_pieces_wherever_it_stands(tokenizer: PreTrainedTokenizerFast, value: str) -> None:
    bare = [t.removeprefix("Ġ") for t in tokenizer.tokenize(value) if t != "Ġ"]
    for before, after in [("in ", "."), ("='", "', "), ('": "', '"}'), ("", "\n"), ("to ", " and")]:
        pieces = [t.removeprefix("Ġ") for t in tokenizer.tokenize(before + value + after) if t != "Ġ"]
        assert any(pieces[i : i + len(bare)] == bare for i in range(len(pieces)))


def test_words_swallow_the_space_before_them(tokenizer: PreTrainedTokenizerFast) -> None:
    assert "Ġthe" in tokenizer.get_vocab()
    assert "Ġthe" in tokenizer.tokenize("What is the name")


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_prompt_and_call_tokenise_apart(tokenizer: PreTrainedTokenizerFast, template: PromptTemplate) -> None:
    prompt = template.context(None, [Utterance("user", "hi")])
    call = answer_segment(Answer((Call("F", {"a": "x"}),)), template).text
    assert tokenizer.encode(prompt) + tokenizer.encode(call) == tokenizer.encode(prompt + call)


def test_marks_of_chats_are_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer.convert_ids_to_tokens(list(range(len(RESERVED)))) == list(RESERVED)
    for mark in RESERVED:
        assert tokenizer.tokenize(f"a{mark}b") == ["a", mark, "b"]
    assert not any(mark in token for token in tokenizer.get_vocab() for mark in RESERVED if token != mark)
    shown = tokenizer.decode(tokenizer.encode("".join(RESERVED)), skip_special_tokens=True)
    assert shown == "<tool_call></tool_call><tool_response></tool_response>"
    assert tokenizer.eos_token == "<|im_end|>"


@pytest.mark.parametrize("name", ["bfcl", "hermes"])
def test_kinds_of_an_answers_tokens(tokenizer: PreTrainedTokenizerFast, name: str) -> None:
    answer = Answer((Call("Find", {"city": "New York", "n": 12}), Call("Go", {})))
    part = answer_segment(answer, TEMPLATES[name])
    encoded = encode_answer(part, tokenizer)
    assert encoded.ids == tokenizer.encode(part.text)

    def of(kind: int) -> str:
        return "".join(tokenizer.decode(i) for i, k in zip(encoded.ids, encoded.kinds, strict=True) if k == kind)

    assert of(NAME).replace(" ", "") == "FindGo"
    assert of(VALUE).startswith("New York" + {"bfcl": "'", "hermes": '"'}[name]) and "12" in of(VALUE)
    assert "city" in of(KEY) and {"bfcl": "n=", "hermes": '"n":'}[name] in of(KEY)


@pytest.mark.parametrize(
    ("token", "letters", "flags"),
    [
        ("Ġthe", "the", (True, False, False)),
        ("The", "the", (False, True, False)),
        ("ĠID", "id", (True, False, True)),
        ("A", "a", (False, True, False)),
        ("Ġ", "Ġ", (False, False, False)),
        ("='", "='", (False, False, False)),
        ("Ġ7", "7", (True, False, False)),
    ],
)
def test_traits(token: str, letters: str, flags: tuple[bool, bool, bool]) -> None:
    assert traits(token) == (letters, flags)


def test_spellings_of_a_word_share_an_embedding(tokenizer: PreTrainedTokenizerFast) -> None:
    table = TokenEmbedding(tokenizer, 640, 16).table().detach()
    ids = tokenizer.get_vocab()
    assert table.shape == (640, 16)
    step = table[ids["Ġthe"]] - table[ids["the"]]
    assert step.allclose(table[ids["Ġ1"]] - table[ids["1"]], atol=1e-6)
