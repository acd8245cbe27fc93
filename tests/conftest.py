"""Fixtures that several test files share: saved tiny models, and the command line in this process."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from command_line import Cli, Ran

if TYPE_CHECKING:
    from batch_echo import Echo, Folder

# set before torch is imported, here and in subprocesses: tiny models are fastest on one thread
os.environ.setdefault("OMP_NUM_THREADS", "1")

# no deadlines: a busy machine is no failure; the same examples in every run, new ones with make test-random
settings.register_profile("laws", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("random", deadline=None, print_blob=True, max_examples=200)
settings.load_profile("laws")

gc.disable()  # until the tests are collected: imports make no garbage


def pytest_collection_finish() -> None:
    """Leave what was imported to no later garbage collection: each full one would walk all of it."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def own_assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept of GGUF files does not go into the user's cache, here and in subprocesses."""
    place = str(tmp_path_factory.mktemp("assets"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ASSETS_CACHE", place)
        if "huggingface_hub.constants" in sys.modules:  # it reads the variable as it is imported
            patch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", place)
        yield


@pytest.fixture(scope="session")
def make_tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Saves a model of random weights with a tokenizer, by shape, once a session; returns its folder."""
    from tiny_models import byte_level_tokenizer, saved

    return cache(lambda shape: str(saved(tmp_path_factory.mktemp(shape), byte_level_tokenizer(), shape)))


@pytest.fixture(scope="session")
def tiny_model_path(make_tiny: Callable[[str], str]) -> str:
    return make_tiny("llama")


@pytest.fixture(scope="session")
def chat_model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from chat.chat_models import chat_tokenizer
    from tiny_models import saved

    return saved(tmp_path_factory.mktemp("chat"), chat_tokenizer())


@pytest.fixture(scope="session")
def cli() -> Cli:
    """``cli("lookup", path)`` runs the console script's function in this process."""
    from tooldecoding.cli.app import main

    def run(*arguments: object) -> Ran:
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(sys, "argv", ["tooldecoding", *map(str, arguments)])
            with pytest.raises(SystemExit) as stop:
                main()
        return Ran(int(stop.value.code or 0), out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> "Echo":
    """Batches are decoded by an echo."""
    from batch_echo import Echo

    return Echo(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, cli: Cli, echo: "Echo") -> "Folder":
    """An empty folder for a batch that an echo decodes."""
    from batch_echo import Folder

    return Folder(tmp_path, cli)
