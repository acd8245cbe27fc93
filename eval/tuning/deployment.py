"""``deployment.yaml``: the settings that ``tune`` chose, for ``--config`` of ``decode`` and ``eval``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from eval.errors import EvalError
from eval.tuning.reasons import reasons
from eval.tuning.results import Tuning
from tooldecoding.cli.console import shown
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import options_of

DEPLOYMENT: Final = "deployment.yaml"

_NAMES: Final = {option.name for option in options_of(ModelOptions) if option.only != "command line"}


def deployment_text(tuning: Tuning, settings: ModelOptions, comments: Sequence[str]) -> str:
    """Return the text of the file: every setting that affects how calls are decoded, after comments.

    Parameters
    ----------
    tuning : Tuning
        One with ``deployed`` set.
    settings : ModelOptions
        The settings before tuning; what was tuned takes precedence.
    comments : sequence of str
        Date, versions, machine.
    """
    if tuning.deployed is None:
        raise ValueError("no limit was chosen")
    calibration = tuning.calibration
    tuned: dict[str, Any] = {
        **tuning.deployed.__dict__,
        "calibration": None if calibration is None else list(calibration.__dict__.values()),
    }
    values = {name: value for name, value in vars(settings).items() if name in _NAMES} | tuned
    lines = [f"# {_one_line(line)}" for line in (*comments, *reasons(tuning))]
    lines.append("")
    lines += [_setting(name, value) for name, value in values.items()]
    return "\n".join(lines) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file, all or nothing; EvalError if that fails."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None


def _setting(name: str, value: Any) -> str:
    # as a flow mapping, so that a list stays on its line
    return str(yaml.safe_dump({name: value}, default_flow_style=True, allow_unicode=True, width=10**6)).strip()[1:-1]


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())
