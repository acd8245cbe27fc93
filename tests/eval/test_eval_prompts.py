"""Prompts of samples: our own, a user's template, in-context examples."""

from dataclasses import replace

import pytest

from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval_data import REFERENCES
from tiny_models import byte_level_tokenizer
from tooldecoding.errors import ConfigError

TOKENIZER = byte_level_tokenizer()
SETTINGS = EvalOptions(template="api-bank")


def prompt(samples: list[Sample], number: int = 0, **changed: object) -> str:
    return Prompter(replace(SETTINGS, **changed), samples, TOKENIZER).text(samples[number])  # type: ignore[arg-type]


def test_shapes(samples: list[Sample]) -> None:
    text = prompt(samples)
    assert text.startswith('API descriptions:\n{"name": "SetLamp"')
    assert text.endswith("\n\nUser: I want kitchen on.\nAPI-Request: ")
    text = prompt(samples, template="bfcl", format="pythonic")
    assert 'Functions:\n[\n    {\n        "name": "SetLamp"' in text and "[func_name1(param1=value1" in text
    assert text.endswith("\n\nUser: I want kitchen on.\nCalls: ")
    text = prompt(samples, method="tooldec", tooldec_form="react", shots=1)
    assert 'Action: SetLamp\nAction Input: {"room": "hall", "state": "off", "colour": "red"}\n\n' in text
    assert "API-Request" not in text and text.endswith("User: I want kitchen on.\n")


@pytest.mark.parametrize("shots", [1, 3])
def test_examples_come_from_other_dialogues(samples: list[Sample], shots: int) -> None:
    for number, sample in enumerate(samples):
        text = prompt(samples, number, shots=shots)
        assert REFERENCES[sample.id] not in text
        # one other dialogue is of the same category: examples are drawn there
        assert sum(reference in text for reference in REFERENCES.values()) == 1
        assert text.endswith(prompt(samples, number).partition("\n\n")[2].partition("\n\n")[2])
    with pytest.raises(EvalError, match="--shots: none of the samples has a right call to show"):
        prompt([replace(s, calls=()) for s in samples], shots=shots)


def test_examples_are_seeded_and_those_that_do_not_fit_are_left_out(samples: list[Sample]) -> None:
    alike = [replace(s, category="seen") for s in samples]
    texts = {prompt(alike, shots=2, seed=seed) for seed in range(8)}
    assert len(texts) > 1 and prompt(alike, shots=2, seed=3) == prompt(alike, shots=2, seed=3)
    assert all(sum(r in text for r in REFERENCES.values()) == 2 for text in texts)
    for kept in range(3):
        tokenizer = byte_level_tokenizer()
        length = len(TOKENIZER(prompt(alike, shots=kept))["input_ids"])
        tokenizer.model_max_length = length + SETTINGS.max_text_tokens
        prompter = Prompter(replace(SETTINGS, shots=3), alike, tokenizer)
        assert len(prompter.examples(alike[0])) == kept
        assert prompter.text(alike[0]) == prompt(alike, shots=kept)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"shots": 9}, "shots: expected a whole number from 0 to 8, got 9"),
        ({"template": "bfcl", "format": "hermes"}, "the template bfcl does not ask the model for calls in the format"),
        ({"template": "chat", "shots": 1}, "--shots has no place in --template chat"),
        ({"template": "chat", "method": "tooldec", "tooldec_form": "react"}, "--tooldec-form react has no place"),
    ],
)
def test_settings_that_do_not_fit(changed: dict[str, object], said: str) -> None:
    with pytest.raises((ConfigError, EvalError), match=said):
        replace(SETTINGS, **changed)  # type: ignore[arg-type]
