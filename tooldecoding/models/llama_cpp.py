"""Models in GGUF files as they are, run by llama.cpp through the package llama-cpp-python.

Weights stay as the file has them and are mapped into memory; nothing is turned into floats.
"""

import ctypes
import math
from collections import deque
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from weakref import finalize

import torch
from transformers import GenerationConfig, PreTrainedConfig

from tooldecoding.errors import MissingExtraError, ModelError

_ERROR: Final = 4
"""llama.cpp's level of messages about errors; 5 goes on with the message before."""
_GOES_ON: Final = 5
_F32, _F16 = 0, 1
"""Types of the KV cache, as ggml numbers them."""

_HEADER_BYTES: Final = 1 << 26
"""Where the names of tensors stand, and more."""
_LONG_FACTORS: Final = b"rope_factors_long.weight"
"""A tensor of models that rotate in another way if the context is longer than that of their first training."""

_messages: deque[str] = deque(maxlen=4)
"""What llama.cpp has said last about errors."""


def is_installed() -> bool:
    """Whether the extra ``llama-cpp`` is installed."""
    return find_spec("llama_cpp") is not None


@cache
def library() -> Any:
    """Return the package's functions of the C library. Its messages are noted, not printed.

    MissingExtraError if the extra is not installed, or its library cannot be loaded.
    """
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        reason = f" ({error})" if is_installed() else ""
        raise MissingExtraError(
            f"the engine llama.cpp needs llama-cpp-python{reason}; pip install 'tooldecoding[llama-cpp]'"
        ) from None
    level = 0

    @llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
    def note(now: int, text: bytes, _: Any) -> None:
        nonlocal level
        level = level if now == _GOES_ON else now
        if level == _ERROR:
            _messages.append(text.decode(errors="replace").strip())

    library.callback = note  # type: ignore[attr-defined]  # the C library holds no reference
    llama_cpp.llama_log_set(note, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


def last_messages() -> str:
    """Return what llama.cpp has said last about errors, and forget it."""
    said = "; ".join(message for message in _messages if message)
    _messages.clear()
    return said or "it gives no reason"


class LlamaCppModel:
    """A GGUF file that llama.cpp has loaded. It stands where a transformers model stands, and has what is read of one.

    ModelError if llama.cpp cannot load the file, the model keeps a recurrent state or reads with an encoder, or a
    number is wrong. MissingExtraError as ``library``.

    Parameters
    ----------
    file : Path
        The GGUF file.
    config : PreTrainedConfig
        What transformers reads from the file.
    dtype : str
        Type of the weights, such as ``Q4_K_M``.
    gpu_layers : int
        How many layers run on a GPU; -1 for all.
    threads : int, optional
        Of the processor. Default: as many as torch takes.

    Attributes
    ----------
    file : Path
    dtype : str
    threads : int
    bytes_per_position : int
        Of the KV cache: 16 bits a number, 32 if the weights have so many.
    """

    device: Final = torch.device("cpu")
    """Where logits come to, and most often all is computed."""

    def __init__(
        self, file: Path, config: PreTrainedConfig, dtype: str, gpu_layers: int = -1, threads: int | None = None
    ) -> None:
        _demand_whole("gpu_layers", gpu_layers, -1)
        _demand_whole("threads", 1 if threads is None else threads, 1)
        self._library = llama = library()
        if gpu_layers > 0 and not llama.llama_supports_gpu_offload():
            raise ModelError("llama-cpp-python was built for no GPU; leave gpu_layers out (--gpu-layers)")
        self.file = file
        self.config = config
        self.generation_config = GenerationConfig.from_model_config(config)
        self.dtype = dtype
        self.threads = threads or torch.get_num_threads()
        parameters = llama.llama_model_default_params()
        parameters.n_gpu_layers = gpu_layers
        parameters.use_extra_bufts = False  # no copy of the weights in another layout
        _messages.clear()
        self.handle = llama.llama_model_load_from_file(str(file).encode(), parameters)
        if not self.handle:
            raise ModelError(f"llama.cpp cannot load {str(file)!r}: {last_messages()}; try --engine transformers")
        finalize(self, llama.llama_model_free, self.handle).atexit = False  # a thread may still use it then
        self._demand_attention(file)
        self._longest_context = self._same_rotation(file)
        text = config.get_text_config()
        text.vocab_size = int(llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.handle)))
        self._cache_type = _F32 if dtype == "F32" else _F16
        width = llama.llama_model_n_embd(self.handle) // llama.llama_model_n_head(self.handle)
        width = getattr(text, "head_dim", None) or width
        heads = llama.llama_model_n_layer(self.handle) * llama.llama_model_n_head_kv(self.handle)
        self.bytes_per_position: int = 2 * heads * width * (4 if self._cache_type == _F32 else 2)

    def _demand_attention(self, file: Path) -> None:
        """ModelError unless the model only attends: a state cannot be forked by position, nor forget a token."""
        llama, handle = self._library, self.handle
        kinds = {
            "keeps a recurrent state": llama.llama_model_is_recurrent,
            "has layers with a recurrent state": llama.llama_model_is_hybrid,
            "reads with an encoder": llama.llama_model_has_encoder,
        }
        for what, has in kinds.items():
            if has(handle):
                raise ModelError(f"{str(file)!r} {what}; the engine llama.cpp cannot fork that: --engine transformers")

    def _same_rotation(self, file: Path) -> float:
        """Return up to how many positions a context rotates keys in one way: a larger one could not take them over."""
        with file.open("rb") as opened:
            if _LONG_FACTORS not in opened.read(_HEADER_BYTES):
                return math.inf
        name = self._said("general.architecture")
        return int(self._said(f"{name}.rope.scaling.original_context_length") or self.config.max_position_embeddings)

    def _said(self, key: str) -> str:
        """Return what the file says under a key; empty if it says nothing."""
        text = ctypes.create_string_buffer(256)
        self._library.llama_model_meta_val_str(self.handle, key.encode(), text, len(text))
        return text.value.decode()

    def new_context(self, positions: int, most_sequences: int, batch: int) -> int:
        """Return a context of llama.cpp with room for so many positions, that sequences share.

        ModelError if there is no memory for it, or the model would rotate in another way in so long a context.
        """
        if positions > self._longest_context:
            raise ModelError(
                f"with llama.cpp this model has {self._longest_context:,} positions for all prompts together, for it "
                "rotates by the context's length; give shorter or fewer prompts, or --engine transformers"
            )
        parameters = self._library.llama_context_default_params()
        parameters.n_ctx, parameters.n_seq_max, parameters.n_batch = positions, most_sequences, batch
        parameters.kv_unified = True
        parameters.n_threads = parameters.n_threads_batch = self.threads
        parameters.type_k = parameters.type_v = self._cache_type
        parameters.flash_attn_type = self._library.LLAMA_FLASH_ATTN_TYPE_DISABLED  # its logits depend on the pass
        _messages.clear()
        context: int | None = self._library.llama_init_from_model(self.handle, parameters)
        if not context:
            raise ModelError(f"llama.cpp has no KV cache of {positions:,} positions: {last_messages()}")
        return context

    def free_context(self, context: int) -> None:
        """Free a context."""
        self._library.llama_free(context)

    def eval(self) -> "LlamaCppModel":
        """Return itself: it is never trained."""
        return self

    def num_parameters(self) -> int:
        """Return the number of weights."""
        return int(self._library.llama_model_n_params(self.handle))


def _demand_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise ModelError(f"{name}: expected a whole number of {least} or more, got {value!r}")
