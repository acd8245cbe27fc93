"""The README's commands exist: every make target, sub-command, option and setting's file that it names."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tooldecoding.cli.app import app
from tooldecoding.options.config_file import CONFIG_FOLDER, decoding_configs

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.findall(r"```bash\n(.*?)```", README + CONTRIBUTING, re.DOTALL)
LINES = [line.split("#")[0].strip() for block in CODE for line in block.splitlines()]


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        if getattr(command, "invoke_without_command", True):
            yield prefix + name, command


OPTIONS = {
    name: {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for name, command in commands(typer.main.get_command(app))
}


def lines(program: str) -> list[str]:
    found = [line for line in LINES if line.startswith(program + " ")]
    assert found, f"no line of {program} in the documents"
    return found


@pytest.mark.parametrize("line", lines("tooldecoding"))
def test_command_lines_are_possible(line: str) -> None:
    words = shlex.split(line)[1:]
    command = next(name for name in OPTIONS if words[: len(name.split())] == name.split())
    arguments = words[len(command.split()) :]
    given = {word for word in arguments if word.startswith("--")}
    assert given <= OPTIONS[command]
    for word in arguments:
        if word.startswith("tooldecoding/"):
            assert (ROOT / word).is_file()


@pytest.mark.parametrize("line", lines("make"))
def test_make_targets_exist(line: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)


def test_every_option_in_the_text_exists_and_back() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    known = set.union(*OPTIONS.values())
    assert named <= known
    for command in ("decode", "eval", "score", "report", "export", "bench"):
        assert {o for o in OPTIONS[command] if re.match("--(?!no-)", o)} <= named, command


def test_config_files_in_the_text_exist() -> None:
    (listed,) = re.findall(r"file in `configs/` \((.*?)\)", README, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", listed)) == {path.stem for path in decoding_configs(CONFIG_FOLDER)}


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        heading = target.removeprefix("#").replace("-", " ")
        found = f"## {heading}" in README.lower() if target.startswith("#") else (ROOT / target).exists()
        assert target.startswith("https://") or found
