"""Loading a causal LM and its tokenizer, with one clear message for each fault.

Only this module reads a model's folder. Python code in that folder runs only if the user trusts it.
"""

import pickle
import struct
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

import torch
from huggingface_hub.errors import StrictDataclassError
from huggingface_hub.utils import logging as hub_logging
from safetensors import SafetensorError
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    modeling_gguf_pytorch_utils,
)
from transformers.utils import cached_file, logging

from tooldecoding.errors import ModelError
from tooldecoding.models.conversions import KeptConversion
from tooldecoding.models.llama_cpp import LlamaCppModel, is_installed
from tooldecoding.models.sources import (
    FILES,
    REFERENCE_MODEL,
    SMOLLM2,
    Model,
    Source,
    config_state,
    demand_packages,
    files_state,
    find_source,
    input_device,
    tokenizer_state,
    weights_type,
)

DTYPES: dict[str, torch.dtype | str] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "auto": "auto",
}

_DIFFERENCES: Final = {torch.float32: 1e-3, torch.float64: 1e-3}
_DIFFERENCE_OF_HALF: Final = 0.05
"""Largest difference of two computations of one text, in standard deviations of the logits: they differ by rounding.
Attention that looks ahead makes a larger difference, even with random weights."""

_TRUSTED: Final = "trust_remote_code: Python code of {!r} may be run on this machine; it can do anything that you can"

_OF_TRANSFORMERS: Final = ("device_map", "offload_folder", "attn_implementation", "quantization_config")
"""Arguments that only transformers takes."""

_WHERE: Final = frozenset({"revision", "token", "subfolder"})
"""Arguments that say where files are: configuration and tokenizer take them, too."""

NAMED_TENSORS: Final = 5
"""Maximum number of tensors named in a message."""

_LONGEST: Final = 300
"""Maximum length of a library's message."""

_FAILURES: Final = (
    OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, AssertionError, RuntimeError,
    ImportError, EOFError, MemoryError, struct.error, pickle.UnpicklingError, SafetensorError, StrictDataclassError,
)  # fmt: skip
"""What the libraries raise for broken files. ``tokenizers`` also raises a bare ``Exception``."""


T = TypeVar("T", PreTrainedConfig, PreTrainedTokenizerBase)
Loaded = tuple[Model, PreTrainedTokenizerBase]
Runtime = Literal["auto", "transformers", "llama.cpp"]
"""What runs a model; ``auto`` is llama.cpp for a GGUF file, if the extra is installed and nothing speaks against it."""
Dtype = str | torch.dtype | None
Tell = Callable[[str], None]
"""Takes lines for the user."""


def load_model(
    path: str, device: str | None = None, dtype: Dtype = None, trust_remote_code: bool = False, **arguments: Any
) -> Loaded:
    """Load a model (evaluation mode) and tokenizer; see ``ToolDecoder.from_pretrained``.

    ModelError if the path, hub id, device or dtype is wrong; if the files cannot be read, lack weights, or need their
    own code and it is not trusted; or if the model is not a causal LM.

    Parameters
    ----------
    **arguments
        What transformers' ``from_pretrained`` takes, passed on as it is: ``revision``, ``token``, ``subfolder``,
        ``attn_implementation``, ``quantization_config``, ``device_map``, ``offload_folder``.
    """
    if trust_remote_code:
        warnings.warn(_TRUSTED.format(path), stacklevel=3)
    return _load(path, device, dtype, trust_remote_code, arguments)


def load_quietly(
    path: str,
    device: str | None = None,
    dtype: Dtype = None,
    trust_remote_code: bool = False,
    tell: Tell | None = None,
    **arguments: Any,
) -> Loaded:
    """Like ``load_model``, but without the libraries' messages; for the command line."""
    if tell is not None and not Path(find_source(path).path).is_dir():
        tell(f"looking for {path!r} on the Hugging Face hub and in its cache")
    with quiet(path, trust_remote_code, tell):
        return _load(path, device, dtype, trust_remote_code, arguments)


@contextmanager
def quiet(path: str, trust_remote_code: bool, tell: Tell | None) -> Iterator[None]:
    """Within the block the libraries print nothing; ``tell`` is told that code is trusted."""
    hub_logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if trust_remote_code and tell is not None:
        tell(f"warning: {_TRUSTED.format(path)}")
    bar = modeling_gguf_pytorch_utils.tqdm  # the switch for bars does not reach this one
    modeling_gguf_pytorch_utils.tqdm = lambda rows, **options: rows
    try:
        yield
    finally:
        modeling_gguf_pytorch_utils.tqdm = bar


def load_tokenizer(path: str, trust_remote_code: bool = False, **arguments: Any) -> PreTrainedTokenizerBase:
    """Load only a tokenizer; ModelError if that fails."""
    source = find_source(path)
    with _as_model_error("tokenizer", path):
        read = AutoTokenizer.from_pretrained, _stored_tokenizer
        return _converted("tokenizer", source, _where(source, arguments), trust_remote_code, *read, tokenizer_state)


def _stored_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load a tokenizer that was saved; classes that change its file's normalizer must not."""
    stored = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json")).backend_tokenizer
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, tokenizer_object=stored)


def _converted(
    part: str,
    source: Source,
    where: Mapping[str, Any],
    trust: bool,
    load: Callable[..., T],
    read: Callable[[Path], T],
    state: Callable[[T], Any],
) -> T:
    """Return what is made of a model's files; if they are a GGUF file, from where it is kept, or made and then kept.

    Parameters
    ----------
    part : str
        What is made.
    source, where
        Where the files are.
    trust : bool
        Whether code in the folder may run; then nothing is kept, for it may do anything.
    load, read, state : callable
        Makes it from the files, reads it from a folder, and says what must be the same in both.
    """
    make = partial(load, source.path, trust_remote_code=trust, **where)
    if source.gguf_file is None or trust:
        return make()
    file = Path(cached_file(source.path, source.gguf_file, **_place(where)))
    kept = KeptConversion(file, part, with_neighbours=Path(source.path).is_dir())
    if kept.is_whole():
        with suppress(ModelError), _as_model_error(part, str(kept.folder)):
            stored = read(kept.folder)
            stored.name_or_path = source.path  # as messages name it
            return stored
    made = make()
    with suppress(ModelError), _as_model_error(part, str(kept.folder)):  # it is only not kept
        kept.keep(made.save_pretrained, lambda folder: state(read(folder)) == state(made))
    return made


def _where(source: Source, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that say where files are."""
    where = {name: value for name, value in arguments.items() if name in _WHERE and value is not None}
    return where if source.gguf_file is None else where | {"gguf_file": source.gguf_file}


def _place(where: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``cached_file`` takes of the arguments that say where files are."""
    return {name: value for name, value in where.items() if name in _WHERE}


def _is_for_llama_cpp(
    path: str, source: Source, runtime: Runtime, device: str | None, dtype: Dtype, arguments: Mapping[str, Any]
) -> bool:
    """Whether llama.cpp runs the model; ModelError if it is asked for, and is not for this model or these options."""
    if runtime not in get_args(Runtime):
        raise ModelError(f"unknown engine {runtime!r}; known: {', '.join(get_args(Runtime))}")
    others = {"dtype": dtype, **{name: arguments.get(name) for name in _OF_TRANSFORMERS}}
    given = [name for name, value in others.items() if value is not None]
    if device not in (None, "cpu"):
        given.append("device")
    if runtime != "llama.cpp":
        wanted = runtime == "auto" and path != SMOLLM2 and not given
        return wanted and source.gguf_file is not None and is_installed()
    if source.gguf_file is None:
        raise ModelError(f"the engine llama.cpp runs GGUF files, and {path!r} is none; give --engine transformers")
    if given:
        raise ModelError(f"the engine llama.cpp takes no {', '.join(given)}: it runs the file as it is")
    return True


def _load(path: str, device: str | None, dtype: Dtype, trust: bool, arguments: dict[str, Any]) -> Loaded:
    runtime, gpu_layers, threads = (arguments.pop(name, None) for name in ("engine", "gpu_layers", "threads"))
    upstream = {name: arguments.pop(name, None) for name in ("upstream", "upstream_model", "upstream_api_key")}
    if upstream["upstream"] is not None:
        given = {"device": device, "dtype": dtype, "threads": threads, **arguments}
        wrong = [name for name in ("device", "dtype", "threads", *_OF_TRANSFORMERS) if given.get(name) is not None]
        if wrong or gpu_layers not in (None, -1) or runtime not in (None, "auto"):
            raise ModelError(f"a server runs the model (--upstream); it takes no {', '.join(wrong) or 'engine'}")
        return _load_upstream(path, trust, arguments, upstream)
    spread = arguments.get("device_map")
    if spread is not None and device is not None:
        raise ModelError("device and device_map both say where the weights go; give one of them")
    if spread is None and arguments.get("offload_folder") is not None:
        raise ModelError("offload_folder is for weights that a device_map spreads; give it too, such as auto")
    if spread is not None:
        demand_packages("device_map", "accelerate")
    place = find_device(device)
    numbers = find_dtype(dtype, "fp32" if place.type == "cpu" else "auto")
    source = find_source(path)
    by_llama_cpp = _is_for_llama_cpp(path, source, runtime or "auto", device, dtype, arguments)
    if not by_llama_cpp and (gpu_layers not in (None, -1) or threads is not None):
        raise ModelError(f"gpu_layers and threads are for the engine llama.cpp, and transformers runs {path!r}")
    where = _where(source, arguments)
    config = _read_config(source, path, trust, where)
    tokenizer = load_tokenizer(path, trust, **arguments)
    if by_llama_cpp:
        assert source.gguf_file is not None and config is not None
        file = Path(cached_file(source.path, source.gguf_file, **_place(where)))
        layers = -1 if gpu_layers is None else gpu_layers
        if device == "cpu":
            if layers not in (-1, 0):
                raise ModelError(f"device cpu leaves no layer to a GPU, and gpu_layers is {layers}; give one of them")
            layers = 0
        loaded = LlamaCppModel(file, config, weights_type(file), layers, threads)
        setattr(loaded, FILES, files_state(source, arguments.get("revision")))
        return loaded, tokenizer
    how = {name: value for name, value in arguments.items() if name not in _WHERE and value is not None}
    if source.gguf_file is not None and config is not None:
        how["config"] = config  # reading it again takes seconds
    with _as_model_error("model", path):
        model, info = AutoModelForCausalLM.from_pretrained(
            source.path,
            dtype=numbers,
            trust_remote_code=trust,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # _require_weights names them
            **where,
            **how,
        )
        _require_weights(model, info, path)
        if spread is None and getattr(model, "hf_device_map", None) is None:
            model = model.to(place)
        model = model.eval()
        if not is_causal(model):
            raise _other_kind(path, f"a {type(model).__name__} whose tokens see what follows them")
    setattr(model, FILES, files_state(source, arguments.get("revision")))
    return model, tokenizer


def read_config_and_tokenizer(
    source: str, trust: bool = False, **arguments: Any
) -> tuple[PreTrainedConfig | None, PreTrainedTokenizerBase]:
    """Read what must be known of a model that another process runs; ModelError if there is no tokenizer.

    The configuration is None if it cannot be read. ``arguments``: as ``load_model`` takes them.
    """
    found, config = find_source(source), None
    with suppress(ModelError):
        config = _read_config(found, source, trust, _where(found, arguments))
    return config, load_tokenizer(source, trust, **arguments)


def _load_upstream(path: str, trust: bool, arguments: dict[str, Any], asked: Mapping[str, str | None]) -> Loaded:
    from tooldecoding.upstream.find import load_upstream

    read = partial(read_config_and_tokenizer, trust=trust, **arguments)
    source, address = None if path == REFERENCE_MODEL else path, asked["upstream"]
    name, key = asked["upstream_model"] or "", asked["upstream_api_key"]
    model, tokenizer = load_upstream(str(address), read, source, model=name, key=key)
    setattr(model, FILES, model.server.model)
    return model, tokenizer


def is_causal(model: PreTrainedModel) -> bool:
    """Whether the logits of two tokens do not depend on the token that follows them.

    Some masked language models load as causal ones but look ahead. Costs one forward pass of shape (2, 3).
    """
    # the middle of the vocabulary has no special tokens
    middle = max(0, model.config.get_text_config().vocab_size // 2 - 2)
    rows = [[middle, middle + 1, middle + last] for last in (2, 3)]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(rows, device=input_device(model)), use_cache=False).logits[:, :2].float()
    most = _DIFFERENCES.get(model.dtype, _DIFFERENCE_OF_HALF)
    # NaN passes: it has other causes
    return not float((logits[0] - logits[1]).abs().max()) > most * float(logits.std())


def find_dtype(dtype: Dtype, default: str) -> torch.dtype | str:
    """Return a type of weights by our name or by torch's; ModelError if it is none."""
    name = default if dtype is None else str(dtype).removeprefix("torch.")
    found = DTYPES.get(name) or getattr(torch, name, None)
    if found != "auto" and not (isinstance(found, torch.dtype) and found.is_floating_point):
        raise ModelError(f"unknown dtype {name!r}; known: {', '.join(DTYPES)}, and torch's names, such as bfloat16")
    return found


def _read_config(source: Source, path: str, trust: bool, where: Mapping[str, Any]) -> PreTrainedConfig | None:
    """Return the configuration, None if it cannot be read; ModelError if it is not that of a causal LM."""
    config = None
    # loading the model reports what is wrong with a folder; the hub is not asked twice, for it may take a minute
    with suppress(*_FAILURES) if Path(source.path).is_dir() else _as_model_error("model", path):
        load, stored = AutoConfig.from_pretrained, partial(AutoConfig.from_pretrained, trust_remote_code=False)
        config = _converted("config", source, where, trust, load, stored, config_state)
    if config is None:
        return None
    if config.is_encoder_decoder:
        raise _other_kind(path, f"an encoder-decoder model ({config.model_type})")
    own = getattr(config, "auto_map", None) or {}
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING and "AutoModelForCausalLM" not in own:
        raise _other_kind(path, f"a model of type {config.model_type!r}")
    return config


def _other_kind(path: str, kind: str) -> ModelError:
    return ModelError(f"{path!r} is {kind}, not a causal language model; give one that writes text from left to right")


def _require_weights(model: PreTrainedModel, info: Mapping[str, Any], path: str) -> None:
    """Raise ModelError if the files lack tensors of the model, or have them in another shape.

    ``transformers`` does not report tied weights, or weights that an architecture makes itself, as missing. Additional
    tensors in the files (heads of other tasks, layers for training) are ignored.
    """
    missing = sorted(info["missing_keys"])
    wrong = [f"{name} {tuple(found)} for {tuple(own)}" for name, found, own in sorted(info["mismatched_keys"])]
    if not missing and not wrong:
        return
    faults = [f"{len(missing)} missing ({_some(missing)})"] if missing else []
    faults += [f"{len(wrong)} of another shape ({_some(wrong)})"] if wrong else []
    raise ModelError(
        f"the files of {path!r} do not fill the {len(model.state_dict())} tensors of {type(model).__name__}: "
        f"{' and '.join(faults)}; they would be random; give the complete checkpoint of a causal LM"
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED_TENSORS]) + (", …" if len(names) > NAMED_TENSORS else "")


@contextmanager
def _as_model_error(part: str, path: str) -> Iterator[None]:
    """Inside the block, turn what the libraries raise into a ModelError of one line."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if not isinstance(error, _FAILURES) and type(error) is not Exception:
            raise
        raise ModelError(f"cannot load the {part} of {path!r}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    text = str(error).strip()
    if "trust_remote_code" in text:
        return "it needs Python code of its own, which runs only with trust_remote_code (--trust-remote-code)"
    if isinstance(error, torch.OutOfMemoryError):
        return "out of memory on the device; use another --dtype or --device"
    first = (text.splitlines() or [""])[0].removesuffix(":")[:_LONGEST]
    named = first if first and isinstance(error, OSError | ValueError) else f"{type(error).__name__} {first}".strip()
    return f"{named}; expected a folder with config.json, weights and tokenizer files, all whole, or a hub id"


def find_device(name: str | None) -> torch.device:
    """Return the device of that name, by default a GPU if there is one; ModelError if it is not usable."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # a meta tensor has no values to read
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ImportError, AttributeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0][:_LONGEST]
        raise ModelError(f"device {name!r} is unknown or not there, or it cannot compute: {first}") from None
    return device
