"""The settings of a training run, read from a YAML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

from lookup.text.text_file import read_text
from tooldecoding.errors import ConfigError
from training.network.network import Shape

Share = Annotated[float, Field(ge=0, le=1)]


class Stage(BaseModel):
    """What the material consists of, from a share of the budget on.

    Attributes
    ----------
    start : float
        Share of the budget.
    lengths : mapping of int to float
        Row length in tokens -> its weight when the length of a batch is drawn.
    tools, parameters, calls : int
        How large a synthetic example may be in rows of up to 512 tokens; longer rows hold more.
    drills, sgd : float
        Shares of copying drills, and of SGD among the other sequences; the rest is synthetic.
    hermes : float
        Share of chats in the shape of hermes; the others are prompts.
    bfcl : float
        Share of BFCL's template among the prompts; the others use API-Bank's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: Annotated[float, Field(ge=0, lt=1)]
    lengths: Mapping[int, PositiveFloat]
    tools: PositiveInt
    parameters: PositiveInt
    calls: PositiveInt
    drills: Share
    sgd: Share
    hermes: Share
    bfcl: Share


class TrainingSettings(BaseModel):
    """One training run.

    Attributes
    ----------
    budget : int
        Tokens to train on. Learning rate and curriculum follow the share of it that has passed.
    runs : str
        Folder of the run.
    sgd : str
        Folder of the Schema-Guided Dialogue data; empty for none.
    start : str
        Model whose weights a new run begins with: a folder, or ``reference``; empty for random weights.
    step_tokens, batch_tokens : int
        Tokens of an update, and of one forward and backward pass.
    learnt_share : float
        Share of a batch's tokens whose loss is computed.
    muon_rate, adam_rate : float
        Highest learning rates of the layers' matrices and of the other parameters.
    warm_up, decay : float
        Shares of the budget over which the learning rate rises at the start and falls to zero at the end.
    compiled : bool
        Whether ``torch.compile`` compiles the network.
    threads : int
        CPU threads.
    workers : int
        Processes that make the material ahead; 0 for none, which is best on few cores.
    checkpoint_minutes : float
        Time between two saved states, each with held-out scores.
    held_out : int
        Examples of each held-out set.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Shape
    stages: tuple[Stage, ...]
    budget: PositiveInt
    seed: int = 0
    runs: str = "runs/reference"
    sgd: str = ""
    start: str = ""
    step_tokens: PositiveInt = 8192
    batch_tokens: PositiveInt = 4096
    learnt_share: Annotated[float, Field(gt=0, le=1)] = 0.35
    muon_rate: PositiveFloat = 0.02
    adam_rate: PositiveFloat = 0.003
    warm_up: Share = 0.01
    decay: Share = 0.6
    compiled: bool = True
    threads: PositiveInt = 1
    workers: Annotated[int, Field(ge=0)] = 0
    checkpoint_minutes: PositiveFloat = 10.0
    held_out: PositiveInt = 60

    @property
    def lengths(self) -> set[int]:
        """All row lengths of the run, in tokens."""
        return {length for stage in self.stages for length in stage.lengths}

    @model_validator(mode="after")
    def _fits(self) -> "TrainingSettings":
        starts = [stage.start for stage in self.stages]
        if not starts or starts[0] != 0 or starts != sorted(set(starts)):
            raise ValueError("stages must begin at start 0 and ascend")
        if self.step_tokens % self.batch_tokens:
            raise ValueError("step_tokens must be a multiple of batch_tokens")
        for length in self.lengths:
            if length < 64 or self.batch_tokens % length or length > self.model.positions:
                raise ValueError(
                    f"a row of {length} tokens: expected 64 or more, a divisor of batch_tokens, at most positions"
                )
        return self

    def stage_at(self, progress: float) -> Stage:
        """Return the last stage that has started at ``progress`` (0 to 1)."""
        return [stage for stage in self.stages if stage.start <= progress][-1]

    def rate_at(self, progress: float) -> float:
        """Return the factor of the learning rates: linear warm-up, constant, linear to (almost) zero."""
        if progress < self.warm_up:
            return max(0.02, progress / self.warm_up)
        return min(1.0, max(0.005, (1 - progress) / self.decay if self.decay else 1.0))


def read_settings(path: Path, **changes: Any) -> TrainingSettings:
    """Read the settings of a file; ``changes`` that are not ``None`` take precedence.

    Raises
    ------
    ConfigError
        If the file is missing or malformed, a key is unknown or a value is wrong; names the file and the key.
    """
    try:
        data = yaml.safe_load(read_text(path, ConfigError))
    except (yaml.YAMLError, RecursionError) as cause:
        raise ConfigError(f"{path}: malformed YAML: {str(cause).splitlines()[0]}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected the settings of a training run as 'key: value' lines")
    given = {key: value for key, value in changes.items() if value is not None}
    try:
        return TrainingSettings.model_validate(data | given)
    except ValidationError as cause:
        first = cause.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the settings"
        raise ConfigError(f"{path}: {where}: {first['msg']}, got {first['input']!r:.80}") from None
