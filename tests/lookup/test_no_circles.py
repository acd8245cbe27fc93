"""Imports in lookup run in no circle, those for type checkers too."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def name_of(file: Path) -> str:
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


FILES = {name_of(file): file for file in sorted((ROOT / "lookup").rglob("*.py"))}


def imported(file: Path) -> set[str]:
    """The modules of lookup that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & FILES.keys() or {node.module or ""}
    return found & FILES.keys()


def test_no_file_imports_itself_by_way_of_others() -> None:
    TopologicalSorter({name: imported(file) for name, file in FILES.items()}).prepare()  # an error if there is a circle
