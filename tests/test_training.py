"""The training code of the reference model: generator, SGD reading, tokenizer, a few steps of learning."""

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, PreTrainedTokenizerFast

from tooldecoding.call_format import Call
from tooldecoding.prompts import api_bank_prompt
from tooldecoding.training.batches import CURRICULUM, Material, encode, stage_at
from tooldecoding.training.dialogue import Line, TrainingDialogue, render_call, segments
from tooldecoding.training.drills import recall, repeated_ids
from tooldecoding.training.evaluate import exact_spans, held_out_synthetic
from tooldecoding.training.sgd import SgdDialogues
from tooldecoding.training.synthetic import Size, dialogues
from tooldecoding.training.tokenizer import train_tokenizer
from tooldecoding.training.train import Learner, save, schedule
from tooldecoding.training.words import HELD_OUT_NOUNS, NOUNS

SGD = Path(__file__).resolve().parents[2] / "shared" / "data" / "sgd"


def texts(items: Iterable[TrainingDialogue]) -> list[str]:
    rng = Random(0)
    return ["".join(part.text for part in segments(item, rng)) for item in items]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(texts(islice(dialogues(0), 200)), 512)


def assert_calls_are_documented(items: Iterable[TrainingDialogue]) -> int:
    count = 0
    for item in items:
        documented = {tool["name"]: list(tool["input_parameters"]) for tool in item.tools}
        assert len(documented) == len(item.tools)
        for turn in item.turns:
            if isinstance(turn, Call):
                keys = documented[turn.name]
                assert list(turn.arguments) == [key for key in keys if key in turn.arguments]
                count += 1
    return count


def test_generator_is_deterministic_and_seeded() -> None:
    first, again, other = (texts(islice(dialogues(seed), 20)) for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_synthetic_calls_use_documented_names_and_keys() -> None:
    assert assert_calls_are_documented(islice(dialogues(1), 300)) > 400


def test_optional_parameters_alone_are_left_out() -> None:
    for item in islice(dialogues(2), 200):
        documented = {tool["name"]: tool["input_parameters"] for tool in item.tools}
        for turn in item.turns:
            if isinstance(turn, Call):
                missing = set(documented[turn.name]) - set(turn.arguments)
                assert all(documented[turn.name][k]["description"].startswith("[Optional]") for k in missing)


def test_size_bounds_the_dialogue() -> None:
    for item in islice(dialogues(3, Size(tools=1, parameters=2, calls=3)), 100):
        assert len(item.tools) == 1
        assert len(item.tools[0]["input_parameters"]) <= 2
        assert 1 <= sum(isinstance(turn, Call) for turn in item.turns) <= 3


def test_held_out_tools_are_named_by_unseen_nouns() -> None:
    assert not set(NOUNS) & set(HELD_OUT_NOUNS)
    named = [tool["name"].lower() for item in held_out_synthetic(100) for tool in item.tools]
    assert sum(any(noun in name for noun in HELD_OUT_NOUNS) for name in named) > 0.85 * len(named)


def test_text_is_the_prompt_of_the_last_call() -> None:
    for item in islice(dialogues(6), 50):
        parts = segments(item, Random(0), shuffled_share=0.0)
        written = [render_call(turn) if isinstance(turn, Call) else turn.text for turn in item.turns]
        lines = [f"API-Request: {text}" if isinstance(turn, Call) else text
                 for turn, text in zip(item.turns, written, strict=True)]  # fmt: skip
        last = max(i for i, turn in enumerate(item.turns) if isinstance(turn, Call))
        documentation = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in item.tools)
        prompt = api_bank_prompt(documentation, lines[:last])
        assert "".join(part.text for part in parts) == prompt + written[last] + "\n"
        assert [part.text for part in parts if part.is_call] == [
            text + "\n" for turn, text in zip(item.turns, written, strict=True) if isinstance(turn, Call)
        ]


@pytest.mark.parametrize(
    ("value", "written"),
    [(5, "'5'"), (True, "'True'"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'"), (["a", "b"], '\'["a", "b"]\'')],
)
def test_literals_are_single_quoted(value: object, written: str) -> None:
    assert render_call(Call("F", {"k": value})) == f"[F(k={written})]"


def test_drills_are_mostly_copies() -> None:
    rng = Random(0)
    for _ in range(50):
        ids, is_call = repeated_ids(rng, 3, 512)
        length = is_call.index(True)
        assert min(ids) >= 3 and max(ids) < 512
        assert all(ids[i] == ids[i - length] for i in range(length, len(ids)))
        parts = recall(rng)
        said = "".join(part.text for part in parts if not part.is_call)
        for part in parts:
            if part.is_call:
                assert part.text.startswith("[") and part.text.endswith(")]\n")
                assert part.text[1 : part.text.index("(")] in said


def test_key_orders_vary() -> None:
    call = Call("Book", {"city": "Rome", "date": "2024-01-02", "guests": 2})
    item = TrainingDialogue((), (Line("User: hi"), call))
    drawn = [segments(item, Random(seed))[-1].text for seed in range(60)]
    documented = "[Book(city='Rome', date='2024-01-02', guests='2')]\n"
    assert len(set(drawn)) == 6
    assert 0.4 * 60 < drawn.count(documented) < 0.8 * 60


@pytest.mark.parametrize("text", ["", " ", "héllo ☃ 日本語 \U0001f600", "\n\t  x²  '[\"a\", 'b']\x00", "İ ﬁ e\u0301 ½"])
def test_tokenizer_round_trips_any_text(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_tokenizer_round_trips_random_code_points(tokenizer: PreTrainedTokenizerFast) -> None:
    rng = Random(0)
    for _ in range(200):
        text = "".join(chr(c) for c in (rng.randrange(0x110000) for _ in range(20)) if not 0xD800 <= c < 0xE000)
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_pieces_of_a_value_do_not_depend_on_its_place(tokenizer: PreTrainedTokenizerFast) -> None:
    alone = tokenizer.tokenize("New York")
    for before, after in [("in ", "."), ("='", "', "), ('": "', '"}'), ("", "\n")]:
        whole = tokenizer.tokenize(before + "New York" + after)
        assert any(whole[i : i + len(alone)] == alone for i in range(len(whole)))


def test_prompt_and_call_tokenise_apart(tokenizer: PreTrainedTokenizerFast) -> None:
    parts = segments(next(dialogues(7)), Random(0))
    encoded = encode(parts, tokenizer, 10_000)
    assert encoded is not None
    assert encoded.ids == tokenizer.encode("".join(part.text for part in parts))


def test_encode_keeps_whole_calls_only(tokenizer: PreTrainedTokenizerFast) -> None:
    parts = next(p for p in (segments(d, Random(0)) for d in dialogues(8)) if len(p) >= 6)
    full = encode(parts, tokenizer, 10_000)
    assert full is not None
    cut = encode(parts, tokenizer, len(full.ids) - 1)
    assert cut is not None
    assert cut.is_call[-1]
    assert cut.ids == full.ids[: len(cut.ids)]
    assert len(cut.ids) < len(full.ids)
    assert encode(parts, tokenizer, 5) is None


def test_exact_spans_of_a_row() -> None:
    member = torch.tensor([0, 1, 1, 0, 0, 1, 1, 1, 0]).bool()
    right = torch.tensor([0, 1, 1, 0, 1, 1, 0, 1, 1]).bool()
    assert exact_spans(right, member) == [True, False]


def test_schedule_and_curriculum_cover_the_run() -> None:
    factors = [schedule(i / 100) for i in range(101)]
    assert factors[5] == 1.0
    assert factors[-1] == 0.01
    assert [stage_at(stage.start) for stage in CURRICULUM] == list(CURRICULUM)
    assert stage_at(2.0) is CURRICULUM[-1]


def test_a_few_steps_lower_the_loss_and_the_weights_load(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=True)  # fmt: skip
    learner = Learner(config)
    batch = next(Material(tokenizer, None, 0).batches(replace(CURRICULUM[0], batch_tokens=600)))
    losses = [learner.step(batch, 1.0)[0] for _ in range(12)]
    assert losses[-1] < losses[0] - 0.5
    save(learner.model, tokenizer, tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    weights = learner.model.state_dict()
    assert all(torch.equal(value, weights[name].float()) for name, value in loaded.state_dict().items())
    assert AutoTokenizer.from_pretrained(tmp_path).encode("New York") == tokenizer.encode("New York")
    assert not list(tmp_path.glob("*.bin")) and not (tmp_path / ".draft").exists()


@pytest.mark.skipif(not SGD.exists(), reason="SGD is not at ../shared/data/sgd")
def test_sgd_calls_use_the_keys_of_their_paraphrase() -> None:
    source = SgdDialogues(SGD, "dev")
    items = list(islice(source.stream(0), 100))
    assert assert_calls_are_documented(items) > 150
    assert items == list(islice(SgdDialogues(SGD, "dev").stream(0), 100))
    names = {tool["name"] for item in items for tool in item.tools}
    assert names - {tool["name"] for tool in source.variants[0]}
