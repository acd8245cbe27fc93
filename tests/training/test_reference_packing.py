"""Rows without padding, the tokens that are learnt, and material that depends on its number alone."""

from itertools import islice

import pytest
import torch
from reference_runs import SGD, tiny_settings, tiny_tokenizer

from data import needs_data
from tooldecoding.prompts.documentation import Documentation
from training.encoding.encode import CONTEXT, FORM, KEY, NAME, VALUE, Encoded, encode, encode_together
from training.encoding.packing import CONTEXT_WEIGHT, DECISION_WEIGHT, KEY_WEIGHT, collate, fill_row
from training.evaluation.examples import encode_held_out, held_out_examples
from training.example import Answer, segments
from training.run.material import Material
from training.run.prefetch import batches_from
from training.sgd.dialogues import SgdDialogues
from training.synthetic.lexicon import Draw


def sequence(length: int, answers: int) -> Encoded:
    return Encoded(list(range(100, 100 + length)), [CONTEXT] * (length - answers) + [VALUE] * answers)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("material")
    return Material(tiny_settings(folder), tiny_tokenizer(folder), None)


def test_rows_are_full() -> None:
    row = fill_row(64, lambda room: sequence(25, 5) if room >= 25 else None, lambda room: sequence(9, 4))
    assert [len(s.ids) for s in row] == [25, 25, 9, 5]


def test_answers_are_learnt_first() -> None:
    rows = [[sequence(20, 5), sequence(12, 3)], [sequence(32, 2)]]
    batch = collate(rows, 0.5, Draw("x"))
    assert batch.ids.shape == batch.row_of.shape == (2, 32)
    assert batch.row_of.tolist() == [[0] * 20 + [64] * 12, [0] * 32]
    assert len(batch.places) == 32 and int(batch.is_answer.sum()) == 10
    assert len(set(batch.places.tolist())) == 32
    assert not {0, 20, 32} & set(batch.places.tolist())
    context = float(batch.weight[~batch.is_answer].sum())
    assert context == pytest.approx(CONTEXT_WEIGHT * (64 - 10 - 3))
    by_place = dict(zip(batch.places.tolist(), batch.weight.tolist(), strict=True))
    assert [by_place[place] for place in (15, 16, 29, 31, 62, 63)] == [DECISION_WEIGHT, 1.0] * 3


def test_weights_of_answers() -> None:
    kinds = [CONTEXT, NAME, NAME, FORM, KEY, KEY, VALUE, VALUE, FORM, FORM]
    batch = collate([[Encoded(list(range(100, 110)), kinds)]], 0.9, Draw("x"))
    weights = dict(zip(batch.places.tolist(), batch.weight.tolist(), strict=True))
    expected = [DECISION_WEIGHT, 1, 1, KEY_WEIGHT, KEY_WEIGHT, DECISION_WEIGHT, 1, 1, 1]
    assert [weights[place] for place in range(1, 10)] == pytest.approx(expected)


def test_too_many_and_too_few_tokens_to_learn() -> None:
    many = collate([[sequence(32, 30)]], 0.25, Draw("x"))
    assert len(many.places) == 8 and many.is_answer.all()
    few = collate([[sequence(1, 0) for _ in range(31)] + [sequence(2, 1)]], 0.5, Draw("x"))
    assert len(few.places) == 16 and float(few.weight.sum()) == DECISION_WEIGHT


def test_batches_depend_on_their_number_alone(material: Material) -> None:
    first, again, other = material.batches(3, 0.7), material.batches(3, 0.7), material.batches(4, 0.7)
    assert all(torch.equal(a.ids, b.ids) and torch.equal(a.places, b.places) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].ids, other[0].ids)
    assert [b.ids.shape for b in material.batches(0, 0.0)] == [(2, 128)] * 2
    assert [b.ids.shape for b in material.batches(0, 0.6)] == [(1, 256)] * 2


def test_workers_make_the_same_batches(material: Material) -> None:
    alone, together = (list(islice(batches_from(material, 5, workers), 5)) for workers in (0, 1))
    assert len(alone) == 3  # the budget is eight updates
    for one, other in zip(alone, together, strict=True):
        assert all(
            torch.equal(a.ids, b.ids) and torch.equal(a.weight, b.weight) for a, b in zip(one, other, strict=True)
        )


def test_encoding_ends_behind_the_last_answer_that_fits(material: Material) -> None:
    for example in held_out_examples(None, 5)["synthetic api-bank"]:
        parts = segments(example, Draw("x"), 0.0)
        whole = encode(parts, example.form.call_format, material.tokenizer, 10_000)
        assert whole is not None
        assert material.tokenizer.decode(whole.ids) == "".join(part.text for part in parts)
        cut = encode(parts, example.form.call_format, material.tokenizer, len(whole.ids) - 1)
        assert cut is None or (cut.kinds[-1] != CONTEXT and whole.ids[: len(cut.ids)] == cut.ids)
        assert encode(parts, example.form.call_format, material.tokenizer, 10) is None


@needs_data
def test_dialogues_about_the_same_tools_share_their_documentation(material: Material) -> None:
    dialogues, d, tokenizer = SgdDialogues(SGD, "train"), Draw("group"), material.tokenizer
    for _ in range(10):
        examples = dialogues.draw(d, "api-bank", count=4, whole=False)
        parts = [segments(example, d) for example in examples]
        form = examples[0].form.call_format
        packed = encode_together(parts, form, tokenizer, 100_000)
        assert packed is not None and max(packed.members) == len(parts) > 1
        pairs = list(zip(packed.ids, packed.members, strict=True))
        for number, part in enumerate(parts, 1):
            alone = encode(part, form, tokenizer, 100_000)
            assert alone is not None and [i for i, m in pairs if m in (0, number)] == alone.ids
        batch = collate([[packed]], 1.0, d)
        starts = [n for n in range(1, len(pairs)) if pairs[n][1] > max(1, pairs[n - 1][1])]
        assert len(starts) == len(parts) - 1
        assert not set(starts) & set(batch.places.tolist())
        for most in (len(packed.ids) - 1, len(packed.ids) // 2):
            cut = encode_together(parts, form, tokenizer, most)
            assert cut is None or (len(cut.ids) <= most and cut.kinds[-1] != CONTEXT)


@needs_data
def test_sgd_is_printed_as_the_evaluation_prints_it() -> None:
    dialogues = SgdDialogues(SGD, "train")
    d = Draw("sgd")
    answers = 0
    for number in range(60):
        plain = dialogues.draw(d, "bfcl", renamed=number % 2 == 1)[0]
        lookup = Documentation.read(list(plain.tools), "sgd").lookup
        for part in segments(plain, d):
            if part.answer is not None:
                answers += 1
                calls = plain.form.call_format.parse(part.text.rstrip("\n"), lookup)
                assert calls == list(part.answer.calls)
        for spec in lookup.tools:
            assert [p.name for p in spec.parameters if p.required] == plain.required[spec.name]
    assert answers > 60
    row = dialogues.rows[0]
    tools = [
        {k: v for k, v in t.items() if k != "service"} for t in dialogues.variants[0] if t["service"] in row["services"]
    ]
    dialogues.rows = [row]
    shown = dialogues.draw(d, "api-bank", renamed=False)[0]
    assert shown.form.prompt(shown.tools, []).count(Documentation.read(tools, "sgd").as_api_bank()) == 1


@needs_data
def test_names_of_sgd_change_from_one_example_to_the_next() -> None:
    dialogues = SgdDialogues(SGD, "train")
    dialogues.rows = dialogues.rows[:1]
    d = Draw("names")
    drawn = [dialogues.draw(d, "api-bank")[0] for _ in range(40)]
    assert len({tuple(sorted(tool["name"] for tool in e.tools)) for e in drawn}) > 15
    keys = {key for e in drawn for tool in e.tools for key in tool["input_parameters"]}
    assert len(keys) > 40
    for example in drawn:
        documented = {tool["name"]: tool["input_parameters"] for tool in example.tools}
        for turn in example.turns:
            for call in turn.calls if isinstance(turn, Answer) else ():
                assert set(call.arguments) <= set(documented[call.name])


@needs_data
def test_held_out_sets(material: Material) -> None:
    sets = held_out_examples(SGD, 4)
    assert list(sets) == ["synthetic api-bank", "synthetic bfcl", "sgd unseen", "sgd seen"]
    train = SgdDialogues(SGD, "train")
    names = {tool["name"] for tool in train.variants[0]}
    services = {tool["service"] for tool in train.variants[0]}
    assert names and services
    for name, examples in sets.items():
        assert all(s.ids for s in encode_held_out(examples, material.tokenizer, 4096)), name
