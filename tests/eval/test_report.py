"""Reports of made-up runs: their figures, and what they say of runs that cannot be compared."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from eval.report import write_report
from eval.report.comparison import comparison, show_comparison
from eval.report.table import Table, escaped, markdown
from made_up_runs import lines, made_up_scores, prediction_row, score_row, write_run

PNG = b"\x89PNG\r\n\x1a\n"


DRAWN = {"test_figures_of_two_methods", "test_names_are_untrusted", "test_value_errors_against_the_order_limit"}
"""Tests whose charts are rendered; elsewhere a file of eight bytes stands for each."""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Writes the report of these folders, and returns its text."""
    if request.node.name not in DRAWN:
        monkeypatch.setattr("eval.report.charts.save_figure", lambda figure, path: path.write_bytes(PNG))

    def write(*runs: Path) -> str:
        written = write_report(runs, tmp_path / "out" / "report")
        assert all(path.read_bytes().startswith(PNG) for path in written[1:])
        text = written[0].read_text(encoding="utf-8")
        assert sorted(re.findall(r"^!\[.*\]\((.*)\)$", text, re.M)) == sorted(path.name for path in written[1:])
        return text

    return write


def table(text: str, title: str) -> list[dict[str, str]]:
    """The rows of the first table under a title, bold marks taken off."""
    block = text.split(f"### {title}\n\n", 1)[1].split("\n\n", 1)[0]
    head, _, *rows = [[c.strip(" *") for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.split("\n")]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_figures_of_two_methods(tmp_path: Path, report: Callable[..., str]) -> None:
    kinds = {"a": (None, "value"), "b": (None, None), "c": ("key", None), "d": ("selection", "unsatisfiable")}
    runs = [
        write_run(tmp_path / str(n), [score_row(i, "seen", k[n]) for i, k in kinds.items()], method, benchmark="sgd")
        for n, method in enumerate(["tool-decoding", "greedy"])
    ]
    text = report(*runs)
    rows = {row["method"]: row for row in table(text, "Accuracy")}
    assert list(rows) == ["greedy", "tool-decoding"]  # methods in their own sequence, not in the command line's
    assert rows["greedy"]["seen (4)"] == rows["greedy"]["Total, unweighted"] == "50.0 (6.8-93.2)"
    assert rows["greedy"]["total ÷ greedy"] == "1.00"
    assert table(text, "Significance") == [
        {"model": "reference", "first": "greedy", "second": "tool-decoding", "samples": "4", "left out": "0"}
        | {"won": "1", "lost": "1", "both right": "1", "p": "1.0000", "p, Holm": "1.0000"}
    ]
    errors = {row["method"]: row for row in table(text, "Errors")}
    assert (errors["greedy"]["value"], errors["greedy"]["unsatisfiable"]) == ("1", "1")
    assert errors["tool-decoding"]["structural"] == "1"
    shares = {row["method"]: row for row in table(text, "Shares of error classes")}
    assert shares["greedy"]["value"] == "100.0 / 25.0"
    assert shares["tool-decoding"]["key"] == "50.0 / 25.0"
    assert "accuracy-sgd.png" in text and "order-limit" not in text


@pytest.mark.parametrize(("other", "told"), [({"xgrammar": "0.2.8"}, False), ({"torch": "2.14.0"}, True)])
def test_only_versions_of_the_same_package_differ(
    tmp_path: Path, report: Callable[..., str], other: dict[str, str], told: bool
) -> None:
    versions = {"tooldecoding": "0.1.0", "torch": "2.13.0"}
    write_run(tmp_path / "a", made_up_scores(0, 0.5), versions=versions)
    write_run(tmp_path / "b", made_up_scores(1, 0.5), "xgrammar", versions=versions | other)
    assert ("made with different versions" in report(tmp_path / "a", tmp_path / "b")) == told


def test_a_single_run_with_nothing_right(tmp_path: Path, report: Callable[..., str]) -> None:
    text = report(write_run(tmp_path / "run", [score_row(str(n), "seen", "format") for n in range(5)]))
    assert table(text, "Accuracy")[0]["seen (5)"] == "0.0 (0.0-52.2)"
    assert "### Significance" not in text and "**" not in text


def test_a_run_with_everything_right_has_no_chart_of_errors(tmp_path: Path, report: Callable[..., str]) -> None:
    text = report(write_run(tmp_path / "run", [score_row("a", "seen")]))
    assert "errors-" not in text
    assert set(table(text, "Shares of error classes")[0].values()) == {"reference", "greedy", "- / 0.0"}


def test_an_empty_category_and_only_awareness(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = [score_row("a", "live_relevance")]
    run = write_run(tmp_path / "run", scores, benchmark="bfcl-live", categories=["live_simple", "live_relevance"])
    text = report(run)
    assert table(text, "Accuracy")[0]["live_simple (0)"] == "-"
    assert table(text, "Accuracy")[0]["Total, unweighted"] == "-"
    assert "accuracy-bfcl-live.png" not in text


def test_live_is_the_official_total_of_four_categories(tmp_path: Path, report: Callable[..., str]) -> None:
    sizes = {"live_simple": 6, "live_multiple": 10, "live_parallel": 2, "live_parallel_multiple": 3}
    scores = made_up_scores(1, 0.5, sizes | {"live_irrelevance": 9})
    row = table(report(write_run(tmp_path / "run", scores, benchmark="bfcl-live")), "Accuracy")[0]
    right = sum(s["correct"] for s in scores if s["category"] in sizes)
    assert row["Live, count-weighted"].startswith(f"{100 * right / 21:.1f} ")


def test_significance_is_of_the_totals(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = []
    for method, kind in (("greedy", "value"), ("beam", None)):
        scores = [score_row("a", "live_simple", kind), score_row("b", "live_irrelevance", kind and "awareness")]
        runs.append(write_run(tmp_path / method, scores, method, benchmark="bfcl-live"))
    [pair] = table(report(*runs), "Significance")
    assert (pair["samples"], pair["won"], pair["lost"]) == ("1", "0", "1")


def test_benchmarks_and_models_have_their_own_sections(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = [
        write_run(tmp_path / f"{benchmark}-{number}", made_up_scores(number, 0.5), benchmark=benchmark, model=model)
        for benchmark in ("sgd", "api-bank")
        for number, model in enumerate(["one", "two"])
    ]
    text = report(*runs)
    assert re.findall("^## (.*)$", text, re.M) == ["Runs", "sgd", "api-bank"]
    assert "### Significance" not in text  # of different models there is no pair


def test_runs_of_different_samples_are_compared_on_those_in_common(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = [
        score_row(str(n), "seen", "value" if n in (0, 1, 9, 10, 11, 12, 13, 14, 15, 16) else None) for n in range(20)
    ]
    runs = [
        write_run(tmp_path / "all", scores, "greedy"),
        write_run(tmp_path / "some", scores[:8], "beam", settings={"limit": 8}, drawn_from=20),
    ]
    text = report(*runs)
    assert "8 are in all of them, the largest has 20" in text
    assert [row["seen"] for row in table(text, "Accuracy, each on its own samples")] == [
        "50.0 (27.2-72.8) of 20",
        "75.0 (34.9-96.8) of 8",
    ]
    assert {row["seen (8)"] for row in table(text, "Accuracy on the 8 samples in common")} == {"75.0 (34.9-96.8)"}
    assert table(text, "Significance")[0]["left out"] == "12"
    assert [(row["samples"], row["of"], row["subset"]) for row in table(text, "Samples")] == [
        ("20", "20", "all"),
        ("8", "20", "8 drawn with seed 0"),
    ]


def test_runs_without_a_common_sample(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = [write_run(tmp_path / c, [score_row(c, c)], label=c) for c in ("seen", "unseen")]
    text = report(*runs)
    assert "figures cannot be compared" in text
    assert "### Significance" not in text


def test_missing_and_undecodable_samples_are_counted(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = [score_row("a", "seen"), score_row("b", "seen", "awareness", missing=True)]
    text = report(write_run(tmp_path / "run", scores))
    assert (table(text, "Samples")[0]["missing"], table(text, "Samples")[0]["errors"]) == ("1", "1")
    assert (table(text, "Errors")[0]["missing"], table(text, "Errors")[0]["awareness"]) == ("1", "0")
    assert table(text, "Latency")[0]["samples"] == "1"
    assert "count as wrong: 1 in each row" in text


def test_value_errors_against_the_order_limit(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = []
    for limit, wrong in ((1, 8), (4, 9), (12, 6)):
        scores = [score_row(str(n), "seen", "value" if n < wrong else None) for n in range(20)]
        settings = {"order_limit": limit, "batch_size": limit}
        runs.append(write_run(tmp_path / str(limit), scores, "tool-decoding", f"{limit} orders", settings))
    text = report(*reversed(runs))
    assert table(text, "Value errors against the order limit") == [
        {"model": "reference", "samples": "20", "limit 1": "8", "limit 4": "9 (-12.5)", "limit 12": "6 (+25.0)"}
    ]
    assert "order-limit-api-bank.png" in text
    assert "### Accuracy by order of" not in text


def test_studies_of_orders_and_examples(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = []
    for number, orders in enumerate(["aggregated", "documented", "reversed", "shuffled-once", "shuffled"]):
        scores = [score_row(str(n), "seen", "value" if n < number else None) for n in range(5)]
        runs.append(write_run(tmp_path / orders, scores, "tool-decoding", orders, {"orders": orders}))
    for shots in (2, 8):
        scores = [score_row(str(n), "seen", "value" if n < shots // 2 else None) for n in range(5)]
        runs.append(write_run(tmp_path / str(shots), scores, settings={"shots": shots}))
    text = report(*runs)
    [orders_row] = table(text, "Accuracy by order of the required keys")
    assert list(orders_row)[3:] == ["documented", "reversed", "shuffled-once", "aggregated", "shuffled, up to 12"]
    assert [cell.split()[0] for cell in list(orders_row.values())[3:]] == ["80.0", "60.0", "40.0", "100.0", "20.0"]
    [shots_row] = table(text, "Accuracy by number of in-context examples")
    assert (shots_row["method"], shots_row["2"].split()[0], shots_row["8"].split()[0]) == ("greedy", "80.0", "20.0")
    assert {row["method"] for row in table(text, "Latency")} >= {"greedy, shots 2", "greedy, shots 8"}


def test_latency_and_counters(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = [score_row(str(n), "seen") for n in range(3)]

    def run(name: str, method: str, seconds: list[float], **about: object) -> Path:
        rows = [prediction_row(s, t, method != "greedy") for s, t in zip(scores, seconds, strict=True)]
        return write_run(tmp_path / name, scores, method, name, predictions=rows, **about)

    elsewhere = run("elsewhere", "beam", [1, 1, 1], machine={"cpu": "other"})
    text = report(run("greedy", "greedy", [1, 2, 6]), run("td", "tool-decoding", [2, 4, 3]), elsewhere)
    rows = {row["method"]: row for row in table(text, "Latency")}
    assert (rows["greedy"]["median s"], rows["greedy"]["mean s"]) == ("2.000", "3.000")
    assert rows["td"]["÷ greedy"] == "1.00"
    assert rows["elsewhere"]["÷ greedy"] == "-"  # seconds of another machine
    counters = {row["method"]: row for row in table(text, "Counters")}
    assert counters["elsewhere"]["passes ÷ greedy"] == "1.00"
    assert (counters["greedy"]["forced"], counters["td"]["forced"], counters["td"]["cache MB"]) == ("-", "9.0", "7.0")


def test_greedy_of_the_same_number_of_examples_is_the_base(tmp_path: Path, report: Callable[..., str]) -> None:
    runs = []
    for name, shots, right in (("greedy", 0, 1), ("greedy", 4, 3), ("tool-decoding", 4, 6)):
        scores = [score_row(str(n), "seen", None if n < right else "value") for n in range(8)]
        runs.append(write_run(tmp_path / f"{name}{shots}", scores, name, settings={"shots": shots}))
    assert [row["total ÷ greedy"] for row in table(report(*runs), "Accuracy")] == ["1.00", "1.00", "2.00"]


def test_repeated_samples_of_api_bank_are_told(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = [score_row(str(n), "level-1-given-desc", sample_id=n) for n in (0, 1, 2)]
    assert "Second ones: 1 in each row" in report(write_run(tmp_path / "run", scores))


HOSTILE = "模型\n| x ` $\\frac$ _z_ <b> \x1b[31m \ud800 " + "m/" * 300


def test_names_are_untrusted(tmp_path: Path, report: Callable[..., str]) -> None:
    scores = made_up_scores(0, 0.5)
    runs = [
        write_run(tmp_path / str(n), scores, "tool-decoding", HOSTILE, {"order_limit": n}, model=HOSTILE)
        for n in (1, 4)
    ]
    text = report(*runs)
    assert all(line.isprintable() for line in text.split("\n"))
    assert not re.search(r"(?<!\\)[`$]|(?<!\\)<b", text)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert len({row["method"] for row in table(text, "Accuracy")}) == 2


@pytest.mark.parametrize("number", [1, 5])
def test_the_sequence_of_runs_changes_no_figure(tmp_path: Path, number: int) -> None:
    methods = ["greedy", "beam", "tooldec", "tool-decoding"]
    runs = [write_run(tmp_path / str(n), made_up_scores(n, 0.6), methods[n % 4], f"label {n}") for n in range(number)]
    texts = [write_report(order, tmp_path / "out")[0].read_text() for order in (runs, runs[::-1])]
    assert texts[0] == texts[1]


@given(st.lists(st.lists(st.text(max_size=8), min_size=2, max_size=2), max_size=4))
def test_markdown_is_rectangular_and_aligned(rows: list[list[str]]) -> None:
    from rich.cells import cell_len

    written = markdown(Table("t", ("a", "b"), tuple(map(tuple, rows)), 1)).split("\n")[2:-1]
    assert len(written) == len(rows) + 2
    assert len({cell_len(line) for line in written}) == 1
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in written)


def test_escapes() -> None:
    assert escaped("live_simple a|b\n*c* $d$ <e> _f_") == r"live_simple a\|b \*c\* \$d\$ \<e\> \_f\_".replace(
        r"\>", r"\>"
    )
    assert escaped("\ud800\0") == r"\\ud800\\x00"


def test_comparison_of_scored_files() -> None:
    rows = made_up_scores(1, 0.5)
    better = [score_row(r["id"], r["category"]) for r in rows]
    tables = {
        t.title: t for t in comparison({"ours": better, "theirs": rows}, ("level-1-given-desc", "level-2-toolsearcher"))
    }
    assert list(tables) == ["Accuracy", "Significance", "Errors", "Shares of error classes"]
    [pair] = tables["Significance"].rows
    assert pair[:2] == ("ours", "theirs")
    won = sum(not r["correct"] for r in rows)
    assert pair[4:6] == (str(won), "0")
    again = comparison({"ours": better[::-1], "theirs": rows[::-1]}, ("level-1-given-desc", "level-2-toolsearcher"))
    assert again == list(tables.values())


def test_samples_scored_twice_are_counted_but_not_paired() -> None:
    rows = [score_row("a", "seen"), score_row("a", "seen", "value")]
    tables = comparison({"x": rows, "y": rows}, ("seen", "unseen"))
    assert "Significance" not in [t.title for t in tables]
    assert tables[0].rows[0][1] == "50.0 (1.3-98.7)"


def test_comparison_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=120, markup=False, highlight=False)
    show_comparison(console, "sgd", {"one\x1b[31m": [score_row("a", "seen")], "two": [score_row("a", "seen", "key")]})
    printed = capsys.readouterr().out
    assert "100.0" in printed and "won" in printed and "\x1b" not in printed


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/r/x/predictions.jsonl", "/r/y/predictions.jsonl"], ["x", "y"]),
        (["/r/x/p", "/r/x/y/p"], ["p", "y/p"]),
        (["a", "a/a"], ["a", "a/a"]),
        (["/r/x.jsonl"], ["/r/x.jsonl"]),
    ],
)
def test_paths_are_shortened_in_the_terminal(
    paths: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(width=120, markup=False, highlight=False)
    show_comparison(console, "sgd", {path: [score_row("a", "seen")] for path in paths})
    printed = capsys.readouterr().out
    assert all(f" {name} " in printed for name in names)


def test_a_ratio_is_to_the_greedy_run_of_the_same_prompts(tmp_path: Path, report: Callable[..., str]) -> None:
    right, half = [score_row(str(n), "seen") for n in range(4)], [score_row(str(n), "seen") for n in range(2)]
    half += [score_row(str(n), "seen", "value") for n in range(2, 4)]
    runs = [
        write_run(tmp_path / "a", right, "greedy", "greedy, bfcl", settings={"template": "bfcl"}),
        write_run(tmp_path / "b", half, "greedy", "greedy, api-bank", settings={"template": "api-bank"}),
        write_run(tmp_path / "c", right, "beam", settings={"template": "api-bank"}),
        write_run(tmp_path / "d", right, "tooldec", settings={"template": "api-bank", "chat": True}),
    ]
    ratios = [row["total ÷ greedy"] for row in table(report(*runs), "Accuracy")]
    assert sorted(ratios) == ["-", "1.00", "1.00", "2.00"]


def test_documentation_in_the_prompt(tmp_path: Path, report: Callable[..., str]) -> None:
    kinds = {"a": (None, None, "value"), "b": (None, "value", "key"), "c": ("value", "value", None)}
    tokens = {"full": 200, "signatures": 100, "names": 50}
    runs = []
    for number, (detail, count) in enumerate(tokens.items()):
        scores = [score_row(i, "seen", k[number]) for i, k in kinds.items()]
        rows = [prediction_row(score) | {"prompt_tokens": count} for score in scores]
        settings = {"documentation": detail}
        runs.append(write_run(tmp_path / detail, scores, "tool-decoding", None, settings, rows, benchmark="sgd"))
    text = report(*runs)
    [found] = table(text, "Accuracy by documentation in the prompt")
    assert list(found)[3:] == list(tokens) and found["full"].startswith("66.7")
    assert [row["prompt"] for row in table(text, "Counters")] == ["200.0", "100.0", "50.0"]


def test_values_of_several_methods(tmp_path: Path, report: Callable[..., str]) -> None:
    """The vote mends one value of two; the samples get both right, and are compared with the first order."""
    scores = [score_row("a", "seen"), score_row("b", "seen")]
    about = {"dialogue": "d", "tool": "T", "key": "k", "kind": "required", "keys": 3, "type": "str"}

    def values(folder: Path, right: list[list[bool]], vote: list[bool], places: list[int]) -> None:
        rows = [
            {"id": i, **about, "places": places, "orders": orders, "votes": {"1": orders[0], "all": voted, "2": voted}}
            for i, orders, voted in zip("ab", right, vote, strict=True)
        ]
        (folder / "values.jsonl").write_text(lines(rows))

    orders = write_run(tmp_path / "orders", scores, "tool-decoding", benchmark="sgd")
    values(orders, [[False, True], [False, False]], [True, False], [0, 2])
    samples = write_run(tmp_path / "samples", scores, "self-consistency", benchmark="sgd")
    values(samples, [[True, True]] * 2, [True, True], [0, 0])
    text = report(samples, orders)
    [required, by_keys, by_type] = table(text, "Values: reference, tool-decoding")
    assert (required["number"], required["documented"], required["vote"], required["any"]) == (
        "2",
        "0.0",
        "50.0",
        "50.0",
    )
    assert (required["mended"], required["broken"], by_keys["values"], by_type["values"]) == ("1", "0", "3 keys", "str")
    found = [(row["method"], row["vote over"], row["required values"]) for row in table(text, "Votes: reference")]
    assert found == [
        ("tool-decoding", "1", "0.0"),
        ("tool-decoding", "2", "50.0"),
        ("self-consistency", "1", "100.0"),
        ("self-consistency", "2", "100.0"),
    ]
