"""Reports of made-up runs: their figures, and one clear message for folders that no report can be made of."""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from data import rows
from eval.errors import EvalError
from eval.methods.prediction import read_leniently
from eval.report.document import write_report
from eval.report.finished_run import read_runs
from eval_data import write_files
from tooldecoding.formats.call_format import Call

PNG = b"\x89PNG\r\n\x1a\n"
Report = Callable[..., str]


def score_row(identifier: str, category: str = "seen", error_class: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "category": category,
        "correct": error_class is None,
        "error_class": error_class,
        "structural": error_class in ("format", "key"),
        "missing": False,
    } | more


def score_rows(*classes: str | None) -> list[dict[str, Any]]:
    """A row for each error class; None where it is right."""
    return [score_row(str(number), error_class=found) for number, found in enumerate(classes)]


def prediction_row(score: Mapping[str, Any], seconds: float = 0.5, **counters: float) -> dict[str, Any]:
    if score["missing"]:
        return {"id": score["id"], "prediction": "", "seconds": 0.0, "error": "too long", "counters": {}}
    counted = {"forward_passes": 12, "positions": 340, **counters}
    return {"id": score["id"], "prediction": "[A(b='c')]", "seconds": seconds, "counters": counted}


def write_run(
    folder: Path,
    scores: Sequence[Mapping[str, Any]],
    method: str = "greedy",
    settings: Mapping[str, Any] | None = None,
    predictions: Sequence[Mapping[str, Any]] | None = None,
    values: Sequence[Mapping[str, Any]] = (),
    **about: Any,
) -> Path:
    """A finished run with these rows; ``about`` replaces fields of ``run.json``."""
    run = {
        "benchmark": "sgd",
        "method": method,
        "label": method,
        "model": "reference",
        "settings": {"order_limit": 12, "batch_size": 8, "seed": 0, "limit": None} | dict(settings or {}),
        "categories": list(dict.fromkeys(s["category"] for s in scores)),
        "samples": len(scores),
        "drawn_from": len(scores),
        "machine": {"cpu": "x86_64", "cores": 2},
        "versions": {"torch": "2.13.0"},
        "started": "2026-11-21T00:00:00+00:00",
    }
    rows = {"predictions": list(predictions or map(prediction_row, scores)), "scores": [*scores], "values": [*values]}
    return write_files(folder, {"run.json": run | about} | {f"{name}.jsonl": found for name, found in rows.items()})


@pytest.fixture
def report(cli: Cli, tmp_path: Path) -> Report:
    """Writes the report of these folders, and returns its text."""

    def write(*runs: Path) -> str:
        ran = cli("report", *runs, "--out", tmp_path / "out" / "report")
        assert ran.code == 0, ran.err
        written = [*map(Path, ran.out.splitlines())]
        assert all(path.read_bytes().startswith(PNG) for path in written[1:])
        text = written[0].read_text(encoding="utf-8")
        assert re.findall(r"^!\[.*\]\((.*)\)$", text, re.M) == [path.name for path in written[1:]]
        return text

    return write


def table(text: str, title: str) -> list[dict[str, str]]:
    """The rows of the first table under a title."""
    block = text.split(f"### {title}\n\n", 1)[1].split("\n\n", 1)[0]
    head, _, *rows = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.split("\n")]
    return [dict(zip(head, row, strict=True)) for row in rows]


def cells(text: str, title: str, *columns: str) -> list[tuple[str, ...]]:
    """Some columns of that table."""
    return [tuple(row[column] for column in columns) for row in table(text, title)]


TOTALS = ("Total, unweighted", "Total, count-weighted")


def test_figures_of_two_methods(tmp_path: Path, report: Report) -> None:
    first, second = score_rows("value", None, None, "unsatisfiable"), score_rows(None, None, "key", "selection")
    first[0] |= {"sample_id": 1}
    first[1] |= {"sample_id": 0}
    about = {"forced_tokens": 9, "cache_bytes": 7_000_000}
    spent = [prediction_row(row, (1, 2, 6, 3)[n], **about) | {"prompt_tokens": 200} for n, row in enumerate(second)]
    text = report(write_run(tmp_path / "a", first), write_run(tmp_path / "b", second, "beam", None, spent))
    assert cells(text, "Accuracy", "seen (4)", *TOTALS)[0] == ("50.0 (6.8-93.2)",) * 3
    assert table(text, "Significance") == [
        {"model": "reference", "first": "greedy", "second": "beam", "samples": "4", "left out": "0"}
        | {"won": "1", "lost": "1", "both right": "1", "p": "1.0000", "p, Holm": "1.0000"}
    ]
    assert cells(text, "Errors", "wrong", "value", "unsatisfiable", "key", "selection", "structural") == [
        ("2", "1 (100.0)", "1", "0 (0.0)", "0 (0.0)", "0"),
        ("2", "0 (0.0)", "0", "1 (50.0)", "1 (50.0)", "1"),
    ]
    assert all(f"{name}-sgd.png" in text for name in ("passes", "errors"))
    assert "1 are second ones" in text
    greedy, beam = table(text, "Costs")
    expected = {"prompt": "200.0", "passes": "12.0", "positions": "340.0", "forced": "9.0", "constrained": "-"}
    expected |= {"free": "-", "cache MB": "7.0", "batch": "8", "median s": "2.500", "mean s": "3.000"}
    assert beam == {"model": "reference", "method": "beam", "samples": "4"} | expected
    assert (greedy["prompt"], greedy["cache MB"]) == ("-", "-")


def test_how_well_scores_of_methods_tell_right_from_wrong(tmp_path: Path, report: Report) -> None:
    right = [n % 2 == 0 for n in range(60)]
    scores = score_rows(*(None if each else "value" for each in right))
    texts = score_rows(*(None if each else "awareness" for each in right))  # greedy's without calls are none to rank
    runs = []
    for benchmark, name in product(("sgd", "acebench"), ("ours", "greedy", "deaf")):
        rows = texts if name == "greedy" and benchmark == "sgd" else scores
        sure = [0.5 if name == "deaf" else 0.3 + each / 4 + n % 7 / 20 for n, each in enumerate(right)]
        given = [prediction_row(row) | {"score": s} for row, s in zip(rows, sure, strict=True)]
        runs.append(write_run(tmp_path / f"{benchmark}-{name}", rows, name, {}, given, benchmark=benchmark))
    text = report(*runs)
    ours, greedy, deaf = table(text, "Confidence, all benchmarks")
    assert (ours["answers"], greedy["answers"], greedy["in both"], deaf["in both"]) == ("120", "90", "90", "120")
    assert (ours["gain"], deaf["AUROC"], deaf["p"]) == ("-", "0.500", "0.0010")
    assert deaf["gain"].startswith(f"{0.5 - float(ours['AUROC']):+.3f} (-0.")
    on_sgd, greedy, _ = table(text, "Confidence")
    assert on_sgd["surest 25%"].startswith("100.0") and on_sgd["surest 100%"].startswith("50.0 ")
    assert greedy["gain"] == "-" and "coverage-sgd.png" in text, "greedy has no wrong call on SGD"
    apart = report(runs[0], write_run(tmp_path / "z", scores, "other", {}, given, benchmark="acebench"))
    assert cells(apart, "Confidence, all benchmarks", "in both", "gain") == [("-", "-"), ("0", "-")]


def test_greedy_is_there_in_two_readings(tmp_path: Path, report: Report) -> None:
    run = write_run(tmp_path / "greedy", score_rows("format", "format", None))
    write_files(run, {"lenient.jsonl": score_rows(None, "value", None)})
    shown = [(row["method"], row["seen (3)"].split(" ")[0]) for row in table(report(run), "Accuracy")]
    assert shown == [("greedy", "33.3"), ("greedy, read leniently", "66.7")]


CALL = '{\n  "name": "f",\n  "arguments": {"a": {"b": "}"}}\n}'


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (CALL, 1),
        (f"Sure!\n```json\n{CALL}\n```\nDone.", 1),
        (f"[{CALL}, {CALL}]", 2),
        (f"<tool_call>\n{CALL}\n</tool_call>\n" * 3, 3),
        ('{"function": ' + CALL.replace("arguments", "parameters") + "}", 1),
        ('{"name": "f", "arguments": "a"} {"name": 1, "arguments": {}} {"arguments": {}}', 0),
        ("{" * 100_000, 0),
        ('{"a":' * 100_000, 0),
        (f"f(a={CALL[:-1]}", 0),
    ],
)
def test_a_forgiving_parser_finds_calls_wherever_they_stand(text: str, count: int) -> None:
    assert read_leniently(text) == [Call("f", {"a": {"b": "}"}})] * count


def test_missing_predictions_are_wrong_and_of_no_class(tmp_path: Path, report: Report) -> None:
    rows = [score_row("a"), score_row("b", "seen", "awareness", missing=True)]
    text = report(write_run(tmp_path / "c", rows))
    assert cells(text, "Accuracy", "seen (2)")[0][0].startswith("50.0")
    assert cells(text, "Runs", "missing", "errors") == [("1", "1")]
    assert cells(text, "Errors", "missing", "awareness") == [("1", "0 (-)")]
    assert cells(text, "Costs", "samples") == [("1",)] and "### Further" not in text


def test_holm_adjusts_for_all_pairs_of_models_and_none_is_across(tmp_path: Path, report: Report) -> None:
    right, wrong = score_rows(*[None] * 8), score_rows(*["value"] * 8)
    runs = [
        write_run(tmp_path / f"{m}{n}", rows, f"m{n}", model=m)
        for m in "ab"
        for n, rows in enumerate([right, wrong, right])
    ]
    assert cells(report(*runs), "Significance", "model", "p", "p, Holm") == [
        (m, *p) for m in "ab" for p in [("0.0078", "0.0469"), ("1.0000", "1.0000"), ("0.0078", "0.0469")]
    ]


def test_totals_leave_relevance_out_and_mean_the_categories(tmp_path: Path, report: Report) -> None:
    """Categories: 1 of 2 and 1 of 6; the relevance of 1 of 1, and a category without samples, have no part."""
    kinds = {"live_simple": [None, "value"], "live_parallel": [None, *["format"] * 5], "live_relevance": [None]}
    rows = [score_row(f"{c}/{n}", c, kind) for c, found in kinds.items() for n, kind in enumerate(found)]
    about = {"benchmark": "bfcl-live", "categories": [*kinds, "live_multiple"]}
    beam = [row | score_row(row["id"], row["category"]) for row in rows]
    text = report(write_run(tmp_path / "a", rows, **about), write_run(tmp_path / "b", beam, "beam", **about))
    found = cells(text, "Accuracy", "live_relevance (1)", "live_multiple (0)", *TOTALS)[0]
    assert [cell.split()[0] for cell in found] == ["100.0", "-", "33.3", "25.0"]
    assert cells(text, "Significance", "samples", "lost", "both right") == [("8", "6", "2")]
    text = report(write_run(tmp_path / "c", [score_row("a", "live_relevance", "awareness")]))
    assert cells(text, "Accuracy", TOTALS[0]) == [("-",)]
    assert "errors-sgd.png" in text and "passes-sgd.png" not in text


def test_runs_of_different_samples(tmp_path: Path, report: Report) -> None:
    rows = score_rows(*["value"] * 2, *[None] * 7, *["value"] * 8, *[None] * 3)
    runs = [
        write_run(tmp_path / "a", rows),
        write_run(tmp_path / "b", rows[:8], "beam", {"limit": 8}, drawn_from=20),
    ]
    text = report(*runs)
    assert cells(text, "Accuracy", "seen") == [("50.0 (27.2-72.8) of 20",), ("75.0 (34.9-96.8) of 8",)]
    assert "cover different samples" in text
    assert cells(text, "Significance", "samples", "left out") == [("8", "12")]
    assert cells(text, "Runs", "samples", "of", "subset") == [("20", "20", "all"), ("8", "20", "8 drawn with seed 0")]
    other = write_run(tmp_path / "c", [score_row("z")], "beam")
    assert "### Significance" not in report(runs[0], other) and "cover different samples" in report(runs[0], other)


def test_values_and_votes_of_several_methods(tmp_path: Path, report: Report) -> None:
    about = {"id": "0", "dialogue": "d", "tool": "T", "key": "k", "kind": "required", "keys": 3, "type": "str"}
    values = [{**about, "places": [0, 2], "orders": [False, True], "votes": {"1": False, "all": True}}]
    methods = ("self-consistency", "tool-decoding")
    samples, orders = (write_run(tmp_path / m, score_rows(None), m, values=values) for m in methods)
    text = report(samples, orders)
    assert "Values: reference, self-consistency" not in text
    assert table(text, "Values: reference, tool-decoding")[0]["mended"] == "1"
    assert [row["method"] for row in table(text, "Votes: reference")] == ["tool-decoding", "self-consistency"]
    (orders / "values.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(EvalError, match=r"values.jsonl:1: expected 'dialogue', found none"):
        read_runs([orders])


def test_names_are_untrusted(tmp_path: Path, report: Report) -> None:
    hostile = "模型\n| x ` $\\frac$ _z_ <b> \x1b[31m \ud800 " + "m/" * 300
    rows = [
        score_row(hostile, hostile),
        score_row("b", hostile, "key"),
    ]
    about = {"dialogue": hostile, "tool": hostile, "key": hostile, "kind": "required", "keys": 1, "type": hostile}
    values = [{"id": hostile, **about, "places": [0], "orders": [True] * 2, "votes": {hostile: True, "all": True}}]
    runs = [
        write_run(tmp_path / n, rows, "tool-decoding", {n: hostile}, None, values, label=hostile, model=hostile)
        for n in "ab"
    ]
    text = report(*runs)
    assert all(line.isprintable() for line in text.split("\n"))
    assert not re.search(r"(?<!\\)[`$]|(?<!\\)<b", text)
    assert len({row["method"] for row in table(text, "Accuracy")}) == 2


def refused(folder: Path, *said: str) -> None:
    with pytest.raises(EvalError) as error:
        read_runs([folder])
    for each in (str(folder), *said):
        assert each in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", score_rows(None, "value", "key"))


@pytest.mark.parametrize("name", ["predictions.jsonl", "scores.jsonl"])
def test_an_unfinished_or_malformed_run_says_how_to_go_on(run: Path, name: str) -> None:
    path, again = run / name, f"--out {run} again"
    text = path.read_text()
    first, second, _ = text.splitlines(keepends=True)
    for other in (first + second, text + first):
        path.write_text(other)
        refused(run, "for each of the run's 3 samples", again)
    path.write_text(text.replace('"id": "2"', '"id": "9"'))
    refused(run, "for each of the run's 3 samples", again)
    path.write_text(text[:-20])
    refused(run, f"{path}:3:", "ends within this line", again)
    for bad in ("[1]\n", "[" * 1_000_000 + "\n", "9" * 10_000 + "\n", '{"id": NaN}\n', '{"id": {}}\n'):
        path.write_text(bad)
        refused(run, f"{path}:1")
    path.write_bytes(b"\xff\xfe\n")
    refused(run, "UTF-8")
    path.unlink()
    refused(run, "no such file")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("predictions.jsonl", {"seconds": -1}, "'seconds'"),
        ("predictions.jsonl", {"counters": {"positions": 10**400}}, "'counters.positions'"),
        ("run.json", {"categories": ["elsewhere"]}, "'seen' is no category of run.json"),
        ("run.json", {"benchmark": "../x"}, "'benchmark'"),
    ],
)
def test_fields_of_other_types(run: Path, name: str, change: dict[str, Any], said: str) -> None:
    write_files(run, {name: [row | change for row in rows(run / name)]})
    refused(run, said)
    (run / "run.json").unlink()
    refused(run, "no run.json")


def test_the_same_run_twice_and_repetitions(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "copy")
    with pytest.raises(EvalError, match="the same run as"):
        read_runs([run, tmp_path / "copy"])
    with pytest.raises(EvalError, match="one or more runs"):
        read_runs([])
    settings = {"x": {}, "y": {}, "z": {"seed": 7, "shots": 2}}
    runs = [write_run(tmp_path / n, score_rows(None), started=n, settings=s) for n, s in settings.items()]
    assert [found.name for found in read_runs(runs)] == [
        f"greedy, seed 0, shots None, in {tmp_path}/x",
        f"greedy, seed 0, shots None, in {tmp_path}/y",
        "greedy, shots 2, seed 7",
    ]


def test_a_report_cannot_replace_a_file(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    (tmp_path / "folder" / "report.md").mkdir(parents=True)
    for out in ("out", "folder"):
        with pytest.raises(EvalError, match="cannot be written"):
            write_report([run], tmp_path / out)
