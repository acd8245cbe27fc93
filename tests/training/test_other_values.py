"""Values of recorded dialogues are replaced everywhere alike, and nothing else is."""

import copy
from typing import Any

import pytest
from tiny_run import sgd_train

from data import needs_data
from training.sgd.other_values import with_other_values
from training.synthetic.lexicon import Draw

ROW: dict[str, Any] = {
    "services": ["Music"],
    "turns": [
        {"role": "User", "text": "Play Anna by Rock Band, no, not Annabel; in Rome."},
        {
            "role": "API",
            "name": "Find",
            "arguments": {"title": "Anna"},
            "result": [{"title": "Anna", "by": "Rock Band"}],
        },
        {"role": "AI", "text": "Anna?"},
    ],
    "calls": [{"turn": 1, "name": "Find", "service": "Music", "arguments": {"title": "Anna", "city": "Rome"}}],
}


def test_whole_words_are_replaced_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.sgd.other_values.SHARE", 1.0)
    monkeypatch.setattr("training.sgd.other_values.made_up", lambda d, value: f'"{value[::-1]}"\\')
    before = copy.deepcopy(ROW)
    row = with_other_values(Draw("x"), ROW, {"Anna", "Rock", "Rock Band", "2019-03-01"})
    assert before == ROW and row["services"] == ROW["services"]
    assert row["turns"][0]["text"] == 'Play "annA"\\ by "dnaB kcoR"\\, no, not Annabel; in Rome.'
    assert row["turns"][1]["result"] == [{"title": '"annA"\\', "by": '"dnaB kcoR"\\'}]
    assert row["calls"][0]["arguments"] == {"title": '"annA"\\', "city": "Rome"}


def test_nothing_to_replace() -> None:
    assert with_other_values(Draw("x"), ROW, set()) is ROW
    assert with_other_values(Draw("x"), ROW, {"17:30", "2019-03-01", "a"}) is ROW


@needs_data
def test_calls_of_sgd_keep_their_keys_and_can_still_be_copied() -> None:
    dialogues, d, replaced = sgd_train(), Draw("values"), 0
    for row in dialogues.rows[::200]:
        other = with_other_values(d, row, dialogues._free_values(row))
        assert len(other["turns"]) == len(row["turns"])
        for old, new in zip(row["calls"], other["calls"], strict=True):
            assert (old["turn"], old["name"], list(old["arguments"])) == (
                new["turn"],
                new["name"],
                list(new["arguments"]),
            )
            for key, value in new["arguments"].items():
                if value != old["arguments"][key]:
                    replaced += 1
                    assert value in str(other["turns"]) and old["arguments"][key] in str(row["turns"])
    assert replaced > 30
