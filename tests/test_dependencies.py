"""Every imported package is declared, as a dependency or in an extra; packages only for evaluation are in an extra."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import Cli, assert_bad
from eval.options import PEER_METHODS
from test_layers import FILES, LAYERS, ROOT, imported, nodes

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {*LAYERS, "__future__"}
IMPORTED_AS = {
    "pyyaml": "yaml", "llama-cpp-python": "llama_cpp", "openai-agents": "agents", "pydantic-ai-slim": "pydantic_ai",
}  # fmt: skip


def names(requirements: list[str]) -> set[str]:
    """What requirements are imported as."""
    packages = [re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements]
    return {IMPORTED_AS.get(p, p.replace("-", "_")) for p in packages} - {"tooldecoding"}


CORE = names(PROJECT["dependencies"])
EXTRAS = {extra: names(found) for extra, found in PROJECT["optional-dependencies"].items()}


def foreign(file: Path) -> set[str]:
    return imported(file) - OURS - set(sys.stdlib_module_names)


def loaded_by_name(file: Path) -> Iterator[str]:
    """Packages of ``importlib.import_module("…")``."""
    for node in nodes(file):
        match node:
            case ast.Call(ast.Attribute(attr="import_module"), [ast.Constant(str(name)), *_]):
                yield name.split(".")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_what_a_file_imports_is_declared(file: Path) -> None:
    rooms = {
        "agents": ("mcp",), "server": ("serve",), "batches": ("batch",),
        "cluster": ("ray",), "upstream": ("serve",), "models": ("gguf", "llama-cpp"), "doctor.py": ("gguf",),
    }  # fmt: skip
    found = [extras for room, extras in rooms.items() if file.is_relative_to(ROOT / "tooldecoding" / room)]
    extras = ("eval",) if file.is_relative_to(ROOT / "eval") else found[-1] if found else ()
    extras += ("agents",) if file.is_relative_to(ROOT / "eval" / "agents") else ()
    host = {"vllm"} if file.name == "vllm_client.py" else set()  # which runs inside of it
    assert foreign(file) - host <= CORE.union(*(EXTRAS[extra] for extra in extras))
    assert set(loaded_by_name(file)) <= EXTRAS["bench"]


def test_what_is_declared_is_imported() -> None:
    used = set().union(*map(foreign, FILES))
    by_name = {name for file in FILES for name in loaded_by_name(file)}
    extras = set().union(*(EXTRAS[extra] for extra in ("eval", "serve", "batch", "ray")))
    assert CORE | extras <= used
    assert EXTRAS["bench"] == by_name
    assert not CORE & extras


EVALUATION = [
    "eval sgd --data x --out y", "score sgd --data x --predictions y --out z", "report x --out y",
    "tune sgd --data x", "bench --shape tiny",
]  # fmt: skip
LACKING = [
    *((line, "scipy", "eval") for line in EVALUATION),
    ("decode --batch x --out y --ray local --actors 1", "ray", "ray"),
    *((f"eval sgd --data x --out y --method {name}", name, "bench") for name in PEER_METHODS),
]


@pytest.mark.parametrize(("line", "package", "extra"), LACKING)
def test_what_is_not_installed_is_named_with_its_extra(
    cli: Cli, line: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in {package, "matplotlib"} if extra == "eval" else {package}:
        monkeypatch.setitem(sys.modules, each, None)
    ran = cli(*line.split())
    assert_bad(ran, package, f"not installed; pip install 'tooldecoding[{extra}]'\n")
    assert not [*tmp_path.iterdir()]
