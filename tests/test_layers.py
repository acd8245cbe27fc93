"""Imports run one way: lookup -> voting -> tooldecoding -> eval, and only the command line sees all four."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("lookup", "voting", "tooldecoding", "eval")
ROOF = ROOT / "tooldecoding" / "cli" / "app.py"
HEAVY = {"torch", "transformers"}
FILES = [file for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def imported(file: Path) -> set[str]:
    """Top-level names of all packages that a file imports, inside functions as well."""
    names = set()
    for node in nodes(file):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_no_arrow_runs_back(file: Path) -> None:
    layer = LAYERS.index(file.relative_to(ROOT).parts[0])
    above = set() if file == ROOF else set(LAYERS[layer + 1 :])
    assert not above & imported(file)


@pytest.mark.parametrize("layer", ["lookup", "voting"])
def test_lower_layers_need_no_torch(layer: str) -> None:
    for file in (ROOT / layer).rglob("*.py"):
        assert not HEAVY & imported(file), file
