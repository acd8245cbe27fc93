"""Imports in lookup run in no circle, those for type checkers too."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

LOOKUP = Path(__file__).parents[2] / "lookup"
PATHS = sorted(LOOKUP.rglob("*.py"))
FILES = {".".join(p.relative_to(LOOKUP.parent).with_suffix("").parts).removesuffix(".__init__"): p for p in PATHS}


def imported(file: Path) -> set[str]:
    """The modules of lookup that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & FILES.keys() or {node.module or ""}
    return found & FILES.keys()


def test_no_file_imports_itself_by_way_of_others() -> None:
    TopologicalSorter({name: imported(file) for name, file in FILES.items()}).prepare()  # an error if there is a circle
