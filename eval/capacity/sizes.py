"""How many numbers a model of a shape holds, reads and computes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from eval.bench.shapes import SHAPES, Shape

_STATE_BYTES: Final = 2
"""Keys, values and embeddings are bf16."""


@dataclass(frozen=True)
class ModelSize:
    """The size of a decoder in Llama's architecture.

    Attributes
    ----------
    layers : int
    heads_width : int
        Width of all query heads together.
    states_width : int
        Width of the keys of all heads in one layer, which is also that of the values.
    matrices : int
        Parameters of all layers.
    embedding : int
        Parameters of the input embedding, and also of the language head.
    tied : bool
        Whether both share their parameters.
    bits : float
        Bits of a parameter of the layers, with what a quantization stores beside it.
    """

    layers: int
    heads_width: int
    states_width: int
    matrices: int
    embedding: int
    tied: bool
    bits: float = 16

    @classmethod
    def of(cls, shape: Shape, bits: float = 16) -> "ModelSize":
        """Return the size of a shape."""
        fields = shape.fields
        width, layers = fields["hidden_size"], fields["num_hidden_layers"]
        head = width // fields["num_attention_heads"]
        states = head * fields["num_key_value_heads"]
        layer = 2 * width * (width + states) + 3 * width * fields["intermediate_size"] + 2 * width
        tied = bool(fields.get("tie_word_embeddings"))
        return cls(layers, width, states, layers * layer + width, shape.vocabulary * width, tied, bits)

    @property
    def parameters(self) -> int:
        """Number of all parameters."""
        return self.matrices + self.embedding * (1 if self.tied else 2)

    @property
    def weight_bytes(self) -> float:
        """Bytes of all weights in memory."""
        return self.matrices * self.bits / 8 + (self.parameters - self.matrices) * _STATE_BYTES

    @property
    def read_bytes(self) -> float:
        """Bytes of the weights that one forward pass reads: layers and language head, of the embedding only rows."""
        return self.matrices * self.bits / 8 + self.embedding * _STATE_BYTES

    @property
    def slot_bytes(self) -> int:
        """Bytes of the keys and values of one token position."""
        return 2 * self.layers * self.states_width * _STATE_BYTES

    def position_flops(self, visible: float, with_head: bool) -> float:
        """Return the operations for one position that sees ``visible`` others, with or without the language head."""
        weights = self.matrices + (self.embedding if with_head else 0)
        return 2 * weights + 4 * self.layers * self.heads_width * visible


_LLAMA_70B: Final[Mapping[str, Any]] = {
    "hidden_size": 8192,
    "intermediate_size": 28_672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
}

SIZES: Final[Mapping[str, ModelSize]] = {
    "llama-1b": ModelSize.of(SHAPES["llama-1b"]),
    "mistral-7b": ModelSize.of(SHAPES["mistral-7b"]),
    "llama-7b": ModelSize.of(SHAPES["llama-7b"]),
    "llama-70b-4bit": ModelSize.of(Shape("llama", 128_256, _LLAMA_70B), bits=4.5),  # Llama 3 70B, scales beside 4 bits
}
"""Name -> size. In bf16 a model of 70B fits on no GPU here, and a model is never spread over several."""
