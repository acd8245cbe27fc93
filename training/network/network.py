"""The network as it is trained: Llama, compiled block by block, over rows in which several sequences are packed.

Hugging Face's Llama computes the same (a test compares them), but pads or attends across sequences, and takes longer
on a CPU: here, a row's sequences do not see each other, queries are taken in chunks so that what lies behind them is
never computed, weights are float32 and computations bfloat16.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.encoding.packing import MEMBERS
from training.encoding.tokenizer import SPECIAL
from training.network.embedding import TokenEmbedding

EPSILON = 1e-6

torch._dynamo.config.recompile_limit = 64  # one for each length of rows, with and without gradients


@dataclass(frozen=True)
class Shape:
    """The size of a network; ``rope_base`` is the base of the rotary frequencies, ``positions`` the context."""

    layers: int = 6
    width: int = 256
    heads: int = 3
    head_width: int = 64
    feed_forward: int = 704
    vocabulary: int = 4096
    positions: int = 8192
    rope_base: float = 100_000.0

    def llama(self) -> LlamaConfig:
        """The configuration of the same network in Hugging Face's format."""
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


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
    return (scaled * weight).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions in Llama's layout: the two halves of a head are the two coordinates."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def _attend(q: Tensor, k: Tensor, v: Tensor, row_of: Tensor, chunk: int) -> Tensor:
    """Causal attention within sequences, of members to their own tokens and the beginning that they share.

    q, k, v (B, H, T, D); ``row_of`` (B, T) as in ``Batch``.
    """
    length = q.shape[2]
    beginning = row_of - row_of % MEMBERS
    if q.is_cuda:
        causal = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
        allowed = causal & _related(row_of, beginning, row_of)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None])
    out = []
    for start in range(0, length, chunk):
        end = min(length, start + chunk)
        scores = (q[:, :, start:end] * q.shape[3] ** -0.5) @ k[:, :, :end].transpose(-1, -2)
        behind = torch.arange(start, end)[:, None] >= torch.arange(end)[None]
        allowed = behind & _related(row_of[:, start:end], beginning[:, start:end], row_of[:, :end])
        shares = scores.float().masked_fill(~allowed[:, None], -1e9).softmax(-1).to(q.dtype)
        out.append(shares @ v[:, :, :end])
    return torch.cat(out, 2)


def _related(asking: Tensor, beginning: Tensor, asked: Tensor) -> Tensor:
    return (asking[:, :, None] == asked[:, None, :]) | (beginning[:, :, None] == asked[:, None, :])


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

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, row_of: Tensor, chunk: int) -> Tensor:
        """Hidden states (B, T, width) -> the same after the layer."""
        w = {name: matrix.to(x.dtype) for name, matrix in self.matrices.items()}
        rows, length, _ = x.shape
        mixed = functional.linear(_norm(x, self.attention_norm), torch.cat([w["q"], w["k"], w["v"]]))
        q, k, v = mixed.view(rows, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4).unbind(0)
        seen = _attend(rotate(q, cos, sin), rotate(k, cos, sin), v, row_of, chunk)
        x = x + functional.linear(seen.transpose(1, 2).reshape(rows, length, -1), w["o"])
        gate, up = functional.linear(_norm(x, self.feed_forward_norm), torch.cat([w["gate"], w["up"]])).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * up, w["down"])


class Network(nn.Module):
    """Embedding, layers and tied head; ``compiled`` compiles a layer and the loss once per shape of a batch."""

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
        """Cosines and sines (length, head_width / 2) of the rotary positions."""
        half = torch.arange(0, self.shape.head_width, 2, device=device) / self.shape.head_width
        turned = torch.arange(length, device=device)[:, None] * self.shape.rope_base**-half
        return turned.cos().to(dtype), turned.sin().to(dtype)

    def hidden(self, ids: Tensor, row_of: Tensor, dtype: torch.dtype = torch.bfloat16) -> tuple[Tensor, Tensor]:
        """Ids and ``row_of`` (B, T) as in ``Batch`` -> last hidden states (B, T, width), table (V, width)."""
        length = ids.shape[1]
        cos, sin = self.angles(length, ids.device, dtype)
        table = self.embedding.table()
        x = functional.embedding(ids, table).to(dtype)
        chunk = 128 if length <= 1024 else 256
        for block in self.stack:
            x = self._block(block, x, cos, sin, row_of, chunk)
        return x, table.to(dtype)

    def losses(
        self, ids: Tensor, row_of: Tensor, places: Tensor, dtype: torch.dtype = torch.bfloat16
    ) -> tuple[Tensor, Tensor]:
        """Loss and correctness of the tokens at ``places``.

        Parameters
        ----------
        ids, row_of : Tensor (B, T), int64
            As in ``Batch``.
        places : Tensor (K,), int64
            Where the tokens to predict stand in the flattened ids; none is the first of a row.

        Returns
        -------
        losses : Tensor (K,), float32
        right : Tensor (K,), bool
            Whether the most probable token is the one that stands there.
        """
        x, table = self.hidden(ids, row_of, dtype)
        return self._losses(x, table, self.norm, ids, places)

    def weights(self) -> Mapping[str, Tensor]:
        """The parameters under Hugging Face's names, float32."""
        out = {"model.embed_tokens.weight": self.embedding.table().detach(), "model.norm.weight": self.norm.detach()}
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj"}
        names |= {"gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}
        for number, block in enumerate(self.stack):
            prefix = f"model.layers.{number}."
            for short, matrix in block.matrices.items():
                out[f"{prefix}{names[short]}.weight"] = matrix.detach()
            out[prefix + "input_layernorm.weight"] = block.attention_norm.detach()
            out[prefix + "post_attention_layernorm.weight"] = block.feed_forward_norm.detach()
        return out

    def to_llama(self, dtype: torch.dtype = torch.bfloat16) -> LlamaForCausalLM:
        """The same network as a Hugging Face model on the CPU."""
        model = LlamaForCausalLM(self.shape.llama())
        missing, unexpected = model.load_state_dict(self.weights(), strict=False)
        if unexpected or set(missing) - {"lm_head.weight"}:
            raise RuntimeError(f"transformers' Llama has other parameters: {missing} missing, {unexpected} unexpected")
        model.tie_weights()
        return model.to(dtype)


def _losses(x: Tensor, table: Tensor, norm: Tensor, ids: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    chosen = _norm(x.flatten(0, 1).index_select(0, places - 1), norm)
    logits = functional.linear(chosen, table).float()
    target = ids.flatten().index_select(0, places)
    return functional.cross_entropy(logits, target, reduction="none"), logits.detach().argmax(-1) == target
