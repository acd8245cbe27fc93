"""Settings of a command: command line over YAML file over default."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_type_hints

import yaml
from pydantic import TypeAdapter, ValidationError

from lookup.duplicates import ON_DUPLICATE, OnDuplicate
from lookup.text.text_file import read_text
from tooldecoding.errors import ConfigError
from tooldecoding.options import CALIBRATION, PROMPT_CACHE_MB, DecodeOptions, Strategy

Dtype = Literal["fp32", "bf16", "fp16", "auto"]
Template = Literal["auto", "raw", "api-bank", "bfcl", "chat"]

_INSTALLED: Final = Path(__file__).parent.parent / "configs"

CONFIG_FOLDER: Final = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2] / "configs"
"""The repository's ``configs/``, as installed or in a checkout; ``--config NAME`` looks in the working directory's
first."""

COMMAND_LINE_ONLY: Final = ("trust_remote_code",)
"""Settings that no file may switch on, for files are handed around."""

INPUTS: Final = ("prompt", "dialogue", "batch")
"""Settings of which exactly one must be given."""


@dataclass(frozen=True)
class ModelOptions(DecodeOptions):
    """What every command that runs a model can be told.

    Attributes
    ----------
    model : str
        Folder or hub id; ``reference`` is the small model that comes with the package.
    strategy : {"auto", "packed", "batched"}
        How branches share a forward pass.
    device, dtype : str, optional
        By default a GPU if there is one; fp32 on the CPU and the checkpoint's own type elsewhere.
    batch_size : int
        Prompts that are decoded together.
    trust_remote_code : bool
        Whether Python code in the model's folder may be run; it stands on the command line alone.
    """

    model: str = "reference"
    strategy: Strategy = "auto"
    device: str | None = None
    dtype: Dtype | None = None
    batch_size: int = 8
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size < 1:
            raise ConfigError(f"batch_size must be a whole number of 1 or more, got {self.batch_size}")


@dataclass(frozen=True)
class DecodeCommand(ModelOptions):
    """Everything that ``tooldecoding decode`` can be told; each field is an option and a key of a YAML file.

    Attributes
    ----------
    template : {"auto", "raw", "api-bank", "bfcl", "chat"}
        How the prompt is made; ``tooldecoding.prompts.templates`` says what ``auto`` takes.
    tools : str, optional
        File with documentation.
    on_duplicate : {"error", "rename"}
        What happens to two tools of one name.
    prompt, dialogue, batch : str, optional
        What to decode: a text, a file with one dialogue, a file with many rows.
    out : str, optional
        File that a batch's results are appended to.
    prompt_cache_mb : int
        Memory for the KV caches of former prompts, in MiB; 0 for none.
    json, show_orders : bool
        What is printed.
    """

    template: Template = "auto"
    tools: str | None = None
    on_duplicate: OnDuplicate = "error"
    prompt: str | None = None
    dialogue: str | None = None
    batch: str | None = None
    out: str | None = None
    prompt_cache_mb: int = PROMPT_CACHE_MB
    json: bool = False
    show_orders: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        read_on_duplicate(self.on_duplicate)
        if self.prompt_cache_mb < 0:
            raise ConfigError(f"prompt_cache_mb must be a whole number of 0 or more, got {self.prompt_cache_mb}")


def read_on_duplicate(given: str) -> OnDuplicate:
    """The setting ``on_duplicate``; ConfigError for an unknown one."""
    for known in ON_DUPLICATE:
        if given == known:
            return known
    raise ConfigError(f"unknown on_duplicate {given!r}; known: {', '.join(ON_DUPLICATE)}")


S = TypeVar("S", bound=ModelOptions)


def load_settings(given: Mapping[str, Any], config: str | None = None) -> DecodeCommand:
    """The settings of one decode.

    The template ``bfcl`` asks for typed literals, so its default format is ``pythonic``.

    Parameters
    ----------
    given : mapping
        What the command line gave; ``None`` says that it did not.
    config : str, optional
        YAML file, or the name of one in ``configs/``.

    Raises
    ------
    ConfigError
        As ``merge_settings``, and for anything but one of prompt, dialogue and batch.
    """
    command_line = read_command_line(given, DecodeCommand)
    from_file = read_config(config) if config is not None else {}
    if any(key in command_line for key in INPUTS):
        from_file = {key: value for key, value in from_file.items() if key not in INPUTS}
    values = from_file | command_line
    if values.get("template") == "bfcl":
        values = {"format": "pythonic"} | values
    inputs = [f"--{key}" for key in INPUTS if values.get(key) is not None]
    if len(inputs) != 1:
        found = " and ".join(inputs) or "none of them"
        raise ConfigError(f"expected exactly one of --prompt, --dialogue and --batch, got {found}")
    if values.get("out") is not None and values.get("batch") is None:
        raise ConfigError("--out takes the results of a --batch; a single result goes to standard output")
    return DecodeCommand(**values)


def read_command_line(given: Mapping[str, Any], kind: type[ModelOptions]) -> dict[str, Any]:
    """What the command line gave (``None`` says that it did not), each setting checked; ConfigError for a wrong one."""
    command_line = {key: value for key, value in given.items() if value is not None}
    for key, value in command_line.items():
        _check(key, value, f"--{key.replace('_', '-')}", kind)
    return command_line


def merge_settings(given: Mapping[str, Any], config: str | None, kind: type[S], defaults: Mapping[str, Any]) -> S:
    """Settings of one command: ``given`` on the command line over the file ``config`` over ``defaults`` over those of
    ``kind``.

    Raises
    ------
    ConfigError
        For an unknown key (naming the nearest known one), a value of the wrong type or out of range, a file that is
        missing or malformed.
    """
    command_line = read_command_line(given, kind)
    from_file = read_config(config, kind) if config is not None else {}
    return kind(**{**defaults, **from_file, **command_line})


def read_config(name: str, kind: type[ModelOptions] = DecodeCommand) -> dict[str, Any]:
    """The settings of a YAML file, each checked; ConfigError as ``merge_settings``."""
    known = [field.name for field in fields(kind)]
    path = _find(name)
    text = read_text(path, ConfigError)
    try:
        node, data = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.MarkedYAMLError as cause:
        mark = cause.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise ConfigError(f"{place}: malformed YAML: {cause.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as cause:
        raise ConfigError(f"{path}: malformed YAML: {str(cause).splitlines()[0]}") from None
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}: expected settings as 'key: value' lines, found a {type(data).__name__}")
    seen: set[str] = set()
    for key_node, _ in node.value:
        place = f"{path}:{key_node.start_mark.line + 1}"
        key = str(key_node.value)
        if key not in known:
            nearest = get_close_matches(key, known, n=1, cutoff=0.0)[0]
            raise ConfigError(f"{place}: unknown setting {key!r}; did you mean {nearest!r}?")
        if key in seen:
            raise ConfigError(f"{place}: setting {key!r} stands twice")
        if key in COMMAND_LINE_ONLY:
            raise ConfigError(f"{place}: {key} stands on the command line alone: --{key.replace('_', '-')}")
        seen.add(key)
        data[key] = tuple(data[key]) if isinstance(data[key], list) else data[key]
        _check(key, data[key], f"{place}: {key}", kind)
    return dict(data)


def _check(key: str, value: Any, place: str, kind: type[ModelOptions]) -> None:
    """ConfigError unless ``value`` has the type and range of a setting."""
    try:
        TypeAdapter(get_type_hints(kind)[key]).validate_python(value, strict=True)
    except ValidationError as cause:
        expected = cause.errors()[0]["msg"].replace("Input should be", "expected")
        if key == "calibration":
            expected = f"expected {CALIBRATION}"
        raise ConfigError(f"{place}: {expected}, got {value!r}") from None
    try:
        kind(**{key: value})
    except ConfigError as cause:
        raise ConfigError(f"{place}: {cause}") from None


def decoding_configs(folder: Path) -> list[Path]:
    """The YAML files of a folder, but for those of the reference model's training."""
    return [path for path in folder.glob("*.yaml") if not path.stem.startswith("reference")]


def _find(name: str) -> Path:
    path = Path(name)
    if path.exists() or path.name != name:
        return path
    for folder in (Path("configs"), CONFIG_FOLDER):
        for candidate in (folder / name, folder / f"{name}.yaml"):
            if candidate.is_file():
                return candidate
    known = sorted(p.stem for folder in {Path("configs").resolve(), CONFIG_FOLDER} for p in decoding_configs(folder))
    raise ConfigError(f"no file {name!r}, and no such name in configs/; known: {', '.join(known) or 'none'}")
