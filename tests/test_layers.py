"""Imports run one way: lookup -> voting -> tooldecoding -> eval, and only the command line sees all four."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("lookup", "voting", "tooldecoding", "eval")
ROOF = ROOT / "tooldecoding" / "cli" / "app.py"
HEAVY = {"torch", "transformers"}
FILES = [file for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]


def imported(file: Path) -> Iterator[str]:
    """Top-level names of all packages that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_no_arrow_runs_back(file: Path) -> None:
    layer = LAYERS.index(file.relative_to(ROOT).parts[0])
    above = set() if file == ROOF else set(LAYERS[layer + 1 :])
    assert not above & set(imported(file))


@pytest.mark.parametrize("layer", ["lookup", "voting"])
def test_lower_layers_need_no_torch(layer: str) -> None:
    for file in (ROOT / layer).rglob("*.py"):
        assert not HEAVY & set(imported(file)), file


def test_a_backward_arrow_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from tooldecoding.cli.app import a\n    import torch.nn, eval.metrics.summary\n")
    assert set(imported(file)) == {"tooldecoding", "torch", "eval"}
