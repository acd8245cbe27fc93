"""Settings: command line over file over default, and errors that name file, line, key and the nearest key."""

import inspect
import os
from dataclasses import fields
from pathlib import Path

import pytest

from tooldecoding.cli.app import decode
from tooldecoding.cli.config import CONFIG_FOLDER, DecodeCommand, decoding_configs, load_settings, read_config
from tooldecoding.errors import ConfigError
from tooldecoding.options import DecodeOptions


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "run.yaml"


def test_command_line_over_file_over_default(config: Path) -> None:
    config.write_text("order_limit: 5\nseed: 7\n")
    settings = load_settings({"prompt": "x", "order_limit": 3, "seed": None}, str(config))
    assert (settings.order_limit, settings.seed, settings.batch_size) == (3, 7, 8)


def test_input_on_the_command_line_replaces_the_files(config: Path) -> None:
    config.write_text("dialogue: d.jsonl\n")
    assert load_settings({"prompt": "x"}, str(config)).dialogue is None
    assert load_settings({}, str(config)).dialogue == "d.jsonl"


def test_every_option_is_a_setting_and_back() -> None:
    settings = {f.name for f in fields(DecodeCommand)} - {"calibration"}
    assert set(inspect.signature(decode).parameters) - {"config", "retry_failed"} == settings


def test_bfcl_defaults_to_pythonic(config: Path) -> None:
    assert load_settings({"prompt": "x", "template": "bfcl"}).format == "pythonic"
    assert load_settings({"prompt": "x", "template": "bfcl", "format": "api-bank"}).format == "api-bank"


def test_the_template_is_auto(config: Path) -> None:
    config.write_text("template: api-bank\n")
    assert load_settings({"prompt": "x"}).template == "auto"
    assert load_settings({"prompt": "x"}, str(config)).template == "api-bank"
    assert load_settings({"prompt": "x", "template": "auto"}, str(config)).template == "auto"


@pytest.mark.parametrize("path", sorted(decoding_configs(CONFIG_FOLDER)), ids=lambda p: p.stem)
def test_shipped_files_are_right(path: Path) -> None:
    read_config(str(path))


def test_default_file_holds_the_defaults() -> None:
    given = read_config(str(CONFIG_FOLDER / "default.yaml"))
    assert given == {key: getattr(DecodeCommand(), key) for key in given}
    assert {f.name for f in fields(DecodeOptions)} <= given.keys()


def test_bare_name_is_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings({"prompt": "x"}, "paper").value_constraint == "free"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 1\norder_limits: 3\n", ":2: unknown setting 'order_limits'; did you mean 'order_limit'?"),
        ("tool-choice: auto\n", ":1: unknown setting 'tool-choice'; did you mean 'tool_choice'?"),
        ("order_limit: twelve\n", ":1: order_limit: expected a valid integer, got 'twelve'"),
        ("order_limit: true\n", ":1: order_limit: expected a valid integer, got True"),
        ("order_limit: 0\n", ":1: order_limit: order_limit must be a whole number of 1 or more, got 0"),
        ("orders: up\n", "expected 'shuffled', 'documented', 'reversed', 'shuffled-once' or 'aggregated', got 'up'"),
        ("seed: 1\nseed: 2\n", ":2: setting 'seed' stands twice"),
        ("- seed\n", "expected settings as 'key: value' lines, found a list"),
        ("seed: [1\n", ":2:1: malformed YAML"),
        ("seed: 2024-99-99\n", "malformed YAML"),
    ],
)
def test_bad_files(config: Path, text: str, said: str) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_settings({"prompt": "x"}, str(config))
    assert str(error.value).startswith(str(config))
    assert said in str(error.value)


def test_empty_file_changes_nothing(config: Path) -> None:
    config.write_text("# nothing\n")
    assert load_settings({"prompt": "x"}, str(config)) == DecodeCommand(prompt="x")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_settings({"prompt": "x"}, str(tmp_path / "none.yaml"))
    known = ", ".join(sorted(path.stem for path in decoding_configs(CONFIG_FOLDER)))
    with pytest.raises(ConfigError, match=f"known: {known}$"):
        load_settings({"prompt": "x"}, "none")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_file(config: Path) -> None:
    config.write_text("seed: 1\n")
    config.chmod(0)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings({"prompt": "x"}, str(config))
