"""The network in training: Llama, compiled block by block, over rows in which several sequences are packed.

Hugging Face's Llama computes the same (a test compares them), but it pads rows or attends across sequences, and it is
slower on a CPU. Here the sequences of a row do not see each other, attention is computed in chunks of queries that skip
what comes after them, weights are float32 and computations bfloat16, where the device is fast in it.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.encoding.packing import IDS_PER_SEQUENCE
from training.encoding.tokenizer import SPECIAL
from training.network.embedding import TokenEmbedding

EPSILON = 1e-6

torch._dynamo.config.recompile_limit = 64  # one compilation per row length, with and without gradients


class Shape(BaseModel):
    """The size of a network.

    Attributes
    ----------
    positions : int
        Longest context.
    rope_base : float
        Base of the rotary frequencies.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: PositiveInt
    width: PositiveInt
    heads: PositiveInt
    head_width: PositiveInt
    feed_forward: PositiveInt
    vocabulary: Annotated[int, Field(ge=300)]
    positions: PositiveInt = 8192
    rope_base: PositiveFloat = 100_000.0

    def llama(self) -> LlamaConfig:
        """Return the configuration of the same network for Hugging Face's Llama."""
        return LlamaConfig(
            vocab_size=self.vocabulary,
            hidden_size=self.width,
            intermediate_size=self.feed_forward,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.heads,
            head_dim=self.head_width,
            max_position_embeddings=self.positions,
            rope_parameters={"rope_type": "default", "rope_theta": self.rope_base},
            rms_norm_eps=EPSILON,
            tie_word_embeddings=True,
            bos_token_id=list(SPECIAL).index("bos_token"),
            eos_token_id=list(SPECIAL).index("eos_token"),
            pad_token_id=list(SPECIAL).index("pad_token"),
        )


def fast_dtype(device: torch.device) -> torch.dtype:
    """bfloat16, but float32 on a CPU without AVX-512, which takes twenty times as long for bfloat16."""
    slow = device.type == "cpu" and torch.backends.cpu.get_cpu_capability() != "AVX512"
    return torch.float32 if slow else torch.bfloat16


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
    return (scaled * weight).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary positions in Llama's layout: the two halves of a head are the two coordinates."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def _attend(q: Tensor, k: Tensor, v: Tensor, sequence_ids: Tensor, chunk: int) -> Tensor:
    """Causal attention within each sequence; a continuation sees itself and the shared prefix.

    q, k, v (B, H, T, D); ``sequence_ids`` (B, T) as in ``Batch``.
    """
    length = q.shape[2]
    prefix = sequence_ids - sequence_ids % IDS_PER_SEQUENCE
    if q.is_cuda:
        causal = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
        allowed = causal & _related(sequence_ids, prefix, sequence_ids)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None])
    out = []
    for start in range(0, length, chunk):
        end = min(length, start + chunk)
        scores = (q[:, :, start:end] * q.shape[3] ** -0.5) @ k[:, :, :end].transpose(-1, -2)
        causal = torch.arange(start, end)[:, None] >= torch.arange(end)[None]
        allowed = causal & _related(sequence_ids[:, start:end], prefix[:, start:end], sequence_ids[:, :end])
        shares = scores.float().masked_fill(~allowed[:, None], -1e9).softmax(-1).to(q.dtype)
        out.append(shares @ v[:, :, :end])
    return torch.cat(out, 2)


def _related(queries: Tensor, prefixes: Tensor, keys: Tensor) -> Tensor:
    """Whether each key is of the query's continuation or of its prefix (B, queries, keys)."""
    return (queries[:, :, None] == keys[:, None, :]) | (prefixes[:, :, None] == keys[:, None, :])


class Block(nn.Module):
    """One layer, with Llama's parameters."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        inner = shape.heads * shape.head_width
        self.heads, self.head_width = shape.heads, shape.head_width
        sizes = {
            "q": (inner, shape.width),
            "k": (inner, shape.width),
            "v": (inner, shape.width),
            "o": (shape.width, inner),
            "gate": (shape.feed_forward, shape.width),
            "up": (shape.feed_forward, shape.width),
            "down": (shape.width, shape.feed_forward),
        }
        self.matrices = nn.ParameterDict({name: nn.Parameter(torch.randn(size) * 0.02) for name, size in sizes.items()})
        self.attention_norm = nn.Parameter(torch.ones(shape.width))
        self.feed_forward_norm = nn.Parameter(torch.ones(shape.width))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, sequence_ids: Tensor, chunk: int) -> Tensor:
        """Hidden states (B, T, width) -> those after the layer."""
        w = {name: matrix.to(x.dtype) for name, matrix in self.matrices.items()}
        rows, length, _ = x.shape
        mixed = functional.linear(_norm(x, self.attention_norm), torch.cat([w["q"], w["k"], w["v"]]))
        q, k, v = mixed.view(rows, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4).unbind(0)
        seen = _attend(rotate(q, cos, sin), rotate(k, cos, sin), v, sequence_ids, chunk)
        x = x + functional.linear(seen.transpose(1, 2).reshape(rows, length, -1), w["o"])
        gate, up = functional.linear(_norm(x, self.feed_forward_norm), torch.cat([w["gate"], w["up"]])).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * up, w["down"])


class Network(nn.Module):
    """Embedding, layers and tied output matrix; ``compiled`` compiles a layer and the loss once per batch shape."""

    def __init__(self, shape: Shape, tokenizer: PreTrainedTokenizerFast, compiled: bool = False) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = TokenEmbedding(tokenizer, shape.vocabulary, shape.width)
        self.stack = [Block(shape) for _ in range(shape.layers)]
        self.blocks = nn.ModuleList(self.stack)
        self.norm = nn.Parameter(torch.ones(shape.width))
        self._block = torch.compile(Block.forward, dynamic=False) if compiled else Block.forward
        self._losses = torch.compile(_losses, dynamic=False) if compiled else _losses

    def angles(self, length: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return cosines and sines (length, head_width / 2) of the rotary positions."""
        half = torch.arange(0, self.shape.head_width, 2, device=device) / self.shape.head_width
        turned = torch.arange(length, device=device)[:, None] * self.shape.rope_base**-half
        return turned.cos().to(dtype), turned.sin().to(dtype)

    def hidden(self, ids: Tensor, sequence_ids: Tensor, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
        """Ids and ``sequence_ids`` (B, T) as in ``Batch`` -> last hidden states (B, T, width), table (V, width)."""
        length, dtype = ids.shape[1], dtype or fast_dtype(ids.device)
        cos, sin = self.angles(length, ids.device, dtype)
        table = self.embedding.table()
        x = functional.embedding(ids, table).to(dtype)
        chunk = 128 if length <= 1024 else 256
        for block in self.stack:
            x = self._block(block, x, cos, sin, sequence_ids, chunk)
        return x, table.to(dtype)

    def losses(
        self, ids: Tensor, sequence_ids: Tensor, targets: Tensor, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return loss and correctness of the predicted tokens.

        Parameters
        ----------
        ids, sequence_ids : Tensor (B, T), int64
            As in ``Batch``.
        targets : Tensor (K,), int64
            Indices into the flattened ids of the tokens to predict; none is the first of a row.
        dtype : torch.dtype, optional
            Of the computation; by default the one that the device is fast in.

        Returns
        -------
        losses : Tensor (K,), float32
        right : Tensor (K,), bool
            Whether the most probable token is the right one.
        """
        x, table = self.hidden(ids, sequence_ids, dtype)
        return self._losses(x, table, self.norm, ids, targets)

    def named_weights(self) -> Iterator[tuple[str, Tensor]]:
        """Yield Hugging Face's names with the parameters, without the embedding."""
        yield "model.norm.weight", self.norm
        for number, block in enumerate(self.stack):
            prefix = f"model.layers.{number}."
            for name, matrix in block.matrices.items():
                part = "mlp" if name in ("gate", "up", "down") else "self_attn"
                yield f"{prefix}{part}.{name}_proj.weight", matrix
            yield prefix + "input_layernorm.weight", block.attention_norm
            yield prefix + "post_attention_layernorm.weight", block.feed_forward_norm

    def weights(self) -> Mapping[str, Tensor]:
        """Return the parameters under Hugging Face's names, float32."""
        embedding = {"model.embed_tokens.weight": self.embedding.table().detach()}
        return embedding | {name: weight.detach() for name, weight in self.named_weights()}

    def to_llama(self, dtype: torch.dtype = torch.bfloat16) -> LlamaForCausalLM:
        """Return the same network as a Hugging Face model on the CPU."""
        model = LlamaForCausalLM(self.shape.llama())
        missing, unexpected = model.load_state_dict(self.weights(), strict=False)
        if unexpected or set(missing) - {"lm_head.weight"}:
            raise RuntimeError(f"transformers' Llama has other parameters: {missing} missing, {unexpected} unexpected")
        model.tie_weights()
        return model.to(dtype)


def _losses(x: Tensor, table: Tensor, norm: Tensor, ids: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    before = _norm(x.flatten(0, 1).index_select(0, targets - 1), norm)
    logits = functional.linear(before, table).float()
    labels = ids.flatten().index_select(0, targets)
    return functional.cross_entropy(logits, labels, reduction="none"), logits.detach().argmax(-1) == labels
