"""Imports between the sub-packages of lookup run one way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookup

ROOT = Path(lookup.__file__).parent
# Each sub-package imports only from itself, from the ones before it, and from BASE.
LAYERS = (
    "literals", "types", "languages", "schema", "values", "parameters", "python", "typescript", "forms", "yaml", "text",
)  # fmt: skip
BASE = ("dictionary", "errors", "messages", "reserved", "scanning", "source")


def imported(source: str) -> Iterator[str]:
    """The first name behind ``lookup.`` in every import, including those inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lookup":
            assert node.module != "lookup", f"line {node.lineno}: import from the module itself"
            yield str(node.module).split(".")[1]


@pytest.mark.parametrize("layer", LAYERS)
def test_no_arrow_runs_back(layer: str) -> None:
    allowed = {*BASE, *LAYERS[: LAYERS.index(layer) + 1]}
    for file in (ROOT / layer).rglob("*.py"):
        assert set(imported(file.read_text(encoding="utf-8"))) <= allowed, file


def test_every_sub_package_has_a_layer() -> None:
    assert {file.parent.name for file in ROOT.glob("*/__init__.py")} == set(LAYERS)


def test_the_base_imports_only_itself() -> None:
    for name in BASE:
        assert set(imported((ROOT / f"{name}.py").read_text(encoding="utf-8"))) <= set(BASE), name


def test_a_backward_arrow_is_seen() -> None:
    assert list(imported("def f():\n    from lookup.text.places import Places\n")) == ["text"]
