"""Imports run one way: lookup -> voting -> tooldecoding -> eval, and only the command line sees all four.

Those in lookup run in no circle, those for type checkers too.
"""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
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


@pytest.mark.parametrize(("module", "heavy"), [("tooldecoding.cli.app", "torch"), ("lookup", "pydantic")])
def test_what_is_heavy_is_not_imported_before_it_is_needed(module: str, heavy: str) -> None:
    code = f"import sys, {module}; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_file_of_lookup_imports_itself_by_way_of_others() -> None:
    files = {".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): f for f in FILES}
    arrows: dict[str, set[str]] = {}
    for name, file in files.items():
        found = arrows.setdefault(name, set())
        for node in nodes(file) if name.startswith("lookup") else ():
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" for alias in node.names} & files.keys() or {str(node.module)}
    TopologicalSorter(arrows).prepare()  # an error if there is a circle
