"""The wheel is the product: installed into an empty environment, outside of the checkout, the pages' commands run."""

import json
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from test_dependencies import EXTRAS
from test_docs import command_lines
from test_layers import FILES, LAYERS, ROOT

NOT_SOURCE = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__")
NOT_SOURCE_AT_THE_TOP = {"build", "runs", "tests"}


def not_source(folder: str, names: list[str]) -> set[str]:
    """What the wheel is built without."""
    top = NOT_SOURCE_AT_THE_TOP & set(names) if Path(folder) == ROOT else set()
    return NOT_SOURCE(folder, names) | top


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the checkout; no network is needed."""
    folder = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(ROOT, folder / "source", ignore=not_source)
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-q")
    subprocess.run([sys.executable, "-m", "pip", "wheel", *offline, "-w", folder, source], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def outside(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment ``env`` that has the wheel, and its dependencies, but no extra, from this one."""
    folder = tmp_path_factory.mktemp("outside")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check", "-q")
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install, wheel], check=True)
    (site,) = folder.glob("env/lib/python*/site-packages")
    paths = sysconfig.get_paths()
    # a path in a .pth file is searched last, and the .pth files in it, such as the checkout's own, are not read
    (site / "dependencies.pth").write_text(f"{paths['purelib']}\n{paths['platlib']}\n")
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({sorted(EXTRAS['eval'])!r}))\n"
    (site / "sitecustomize.py").write_text(hidden)
    demo = shutil.copytree(site / "tooldecoding" / "demo", folder / "tooldecoding" / "demo")
    shutil.copy(demo / "tools.jsonl", folder / "tools.json")
    return folder


def run(outside: Path, line: str) -> str:
    program, *arguments = shlex.split(line)
    command = [outside / "env" / "bin" / program, *arguments]
    environment = {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, cwd=outside, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_wheel_holds_every_module_and_every_file_of_settings(wheel: Path) -> None:
    held = set(ZipFile(wheel).namelist())
    assert {str(file.relative_to(ROOT)) for file in FILES} <= held
    assert {f"tooldecoding/configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")} <= held
    model = ("config.json", "model.safetensors", "chat_template.jinja")
    assert {f"tooldecoding/reference_model/{name}" for name in model} <= held


def test_decode_with_settings_by_name_and_the_reference_model(outside: Path) -> None:
    (line,) = [x for x in command_lines("docs/decoding.md", "tooldecoding decode") if "--config bfcl_live" in x]
    result = json.loads(run(outside, f"{line.replace('some/model', 'reference')} --order-limit 1 --json"))
    assert result["valid"] and result["calls"]


def test_nothing_comes_from_the_checkout(outside: Path) -> None:
    packages = ", ".join(LAYERS)
    code = f"import {packages}; print(*(package.__file__ for package in ({packages})))"
    found = run(outside, shlex.join(["python", "-c", code])).split()
    assert len(found) == 4 and all(Path(file).is_relative_to(outside) for file in found)
