"""Rows without padding, the tokens that are learnt, and material that depends on its number alone."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import islice

import pytest
import torch
from tiny_run import SGD, sgd_train, tiny_settings, tiny_tokenizer

from data import needs_data
from tooldecoding.prompts.documentation import Documentation
from training.answer import CONTEXT, KEY, NAME, SYNTAX, TEXT, VALUE, Answer
from training.encoding.encode import Encoded, encode, encode_together
from training.encoding.packing import CONTEXT_WEIGHT, DECISION_WEIGHT, KEY_WEIGHT, TEXT_WEIGHT, Batch, collate, fill_row
from training.evaluation.examples import encode_held_out, held_out_examples
from training.example import LineTemplate, segments
from training.run.material import Material
from training.run.prefetch import batches_from
from training.synthetic.lexicon import Draw


def sequence(length: int, answers: int) -> Encoded:
    return Encoded(list(range(100, 100 + length)), [CONTEXT] * (length - answers) + [VALUE] * answers)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("material")
    return Material(tiny_settings(folder), tiny_tokenizer(folder), None)


def equal(one: Batch, other: Batch) -> bool:
    return all(map(torch.equal, one, other))


def test_rows_are_full() -> None:
    row = fill_row(64, lambda room: sequence(25, 5) if room >= 25 else None, lambda room: sequence(9, 4))
    assert [len(s.ids) for s in row] == [25, 25, 9, 5]


def test_answers_are_learnt_first() -> None:
    rows = [[sequence(20, 5), sequence(12, 3)], [sequence(32, 2)]]
    batch = collate(rows, 0.5, Draw("x"))
    assert batch.ids.shape == batch.sequence_ids.shape == (2, 32)
    assert batch.sequence_ids.tolist() == [[0] * 20 + [64] * 12, [0] * 32]
    assert len(batch.targets) == 32 and int(batch.is_answer.sum()) == 10
    assert len(set(batch.targets.tolist())) == 32
    assert not {0, 20, 32} & set(batch.targets.tolist())
    context = float(batch.weight[~batch.is_answer].sum())
    assert context == pytest.approx(CONTEXT_WEIGHT * (64 - 10 - 3))
    by_place = dict(zip(batch.targets.tolist(), batch.weight.tolist(), strict=True))
    assert [by_place[place] for place in (15, 16, 29, 31, 62, 63)] == [DECISION_WEIGHT, 1.0] * 3


def test_weights_of_answers() -> None:
    kinds = [CONTEXT, NAME, NAME, SYNTAX, KEY, KEY, VALUE, VALUE, SYNTAX, SYNTAX, CONTEXT, TEXT, TEXT, SYNTAX]
    batch = collate([[Encoded(list(range(100, 114)), kinds)]], 13 / 14, Draw("x"))
    weights = dict(zip(batch.targets.tolist(), batch.weight.tolist(), strict=True))
    expected = [DECISION_WEIGHT, 1, 1, KEY_WEIGHT, KEY_WEIGHT, DECISION_WEIGHT, 1, 1, 1]
    expected += [CONTEXT_WEIGHT, 1, TEXT_WEIGHT, 1]
    assert [weights[place] for place in range(1, 14)] == pytest.approx(expected)


def test_too_many_and_too_few_tokens_to_learn() -> None:
    many = collate([[sequence(32, 30)]], 0.25, Draw("x"))
    assert len(many.targets) == 8 and many.is_answer.all()
    few = collate([[sequence(1, 0) for _ in range(31)] + [sequence(2, 1)]], 0.5, Draw("x"))
    assert len(few.targets) == 16 and float(few.weight.sum()) == DECISION_WEIGHT


def test_batches_depend_on_their_number_alone(material: Material) -> None:
    first, again, other = material.batches(5), material.batches(5), material.batches(6)
    assert all(map(equal, first, again))
    assert not equal(first[0], other[0])
    assert [b.ids.shape for b in material.batches(3)] == [(2, 128)] * 2
    assert [b.ids.shape for b in material.batches(4)] == [(1, 256)] * 2  # the second stage begins


def assert_workers_make_the_same(material: Material) -> None:
    alone, together = (list(islice(batches_from(material, 5, workers), 5)) for workers in (0, 1))
    assert len(alone) == 3  # the budget is eight updates
    for one, other in zip(alone, together, strict=True):
        assert len(one) == len(other) and all(map(equal, one, other))


def test_workers_make_the_same_batches(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is a thread with a pickled copy of the material: a process takes long to import torch."""

    def pool(workers: int, _: object, initializer: Callable[..., None], arguments: object) -> Executor:
        return ThreadPoolExecutor(workers, "", initializer, pickle.loads(pickle.dumps(arguments)))

    monkeypatch.setattr("training.run.prefetch.ProcessPoolExecutor", pool)
    assert_workers_make_the_same(material)


@pytest.mark.slow
def test_worker_processes_make_the_same_batches(material: Material) -> None:
    assert_workers_make_the_same(material)


def test_encoding_ends_behind_the_last_answer_that_fits(material: Material) -> None:
    for example in held_out_examples(None, 5)["synthetic api-bank"]:
        parts = segments(example, Draw("x"), 0.0)
        whole = encode(parts, material.tokenizer, 10_000)
        assert whole is not None
        assert material.tokenizer.decode(whole.ids) == "".join(part.text for part in parts)
        cut = encode(parts, material.tokenizer, len(whole.ids) - 1)
        assert cut is None or (cut.kinds[-1] != CONTEXT and whole.ids[: len(cut.ids)] == cut.ids)
        assert encode(parts, material.tokenizer, 10) is None


@needs_data
def test_dialogues_about_the_same_tools_share_their_documentation(material: Material) -> None:
    dialogues, d, tokenizer = sgd_train(), Draw("group"), material.tokenizer
    for _ in range(10):
        examples = dialogues.draw(d, "api-bank", count=4, whole=False)
        parts = [segments(example, d) for example in examples]
        packed = encode_together(parts, tokenizer, 100_000)
        assert packed is not None and max(packed.continuations) == len(parts) > 1
        pairs = list(zip(packed.ids, packed.continuations, strict=True))
        for number, part in enumerate(parts, 1):
            alone = encode(part, tokenizer, 100_000)
            assert alone is not None and [i for i, m in pairs if m in (0, number)] == alone.ids
        batch = collate([[packed]], 1.0, d)
        starts = [n for n in range(1, len(pairs)) if pairs[n][1] > max(1, pairs[n - 1][1])]
        assert len(starts) == len(parts) - 1
        assert not set(starts) & set(batch.targets.tolist())
        for most in (len(packed.ids) - 1, len(packed.ids) // 2):
            cut = encode_together(parts, tokenizer, most)
            assert cut is None or (len(cut.ids) <= most and cut.kinds[-1] != CONTEXT)


@needs_data
def test_sgd_is_printed_as_the_evaluation_prints_it() -> None:
    dialogues = sgd_train()
    d = Draw("sgd")
    answers = 0
    for number in range(60):
        plain = dialogues.draw(d, "bfcl", renamed=number % 2 == 1)[0]
        lookup = Documentation.read(list(plain.tools), "sgd").lookup
        for part in segments(plain, d):
            if part.answer is not None:
                answers += 1
                assert isinstance(plain.template, LineTemplate)
                calls = plain.template.call_format.parse(part.text.rstrip("\n"), lookup)
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
    assert shown.template.prompt(shown.tools, []).count(Documentation.read(tools, "sgd").as_api_bank()) == 1


@needs_data
def test_names_of_sgd_change_from_one_example_to_the_next() -> None:
    dialogues = sgd_train()
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
    assert list(sets) == ["synthetic api-bank", "synthetic bfcl", "synthetic hermes", "sgd unseen", "sgd seen"]
    trained = {tool["description"] for tool in sgd_train().variants[0]}
    for name, known in (("sgd seen", True), ("sgd unseen", False)):
        shown = {tool["description"] for example in sets[name] for tool in example.tools}
        assert shown and all((description in trained) is known for description in shown), name
    for name, examples in sets.items():
        assert all(s.ids for s in encode_held_out(examples, material.tokenizer, 4096)), name
