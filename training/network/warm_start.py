"""Initial weights from a trained model, whose vocabulary may be another one.

Layers are copied. A piece that both vocabularies have keeps its embedding; a new piece gets the mean embedding of the
pieces that the old tokenizer splits it into.
"""

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from tooldecoding.errors import ConfigError
from tooldecoding.models.loading import load_model
from training.network.network import Network


def start_from(path: str, network: Network, tokenizer: PreTrainedTokenizerFast) -> None:
    """Set the network's weights to those of the model at ``path``.

    Raises
    ------
    ModelError
        If the model cannot be loaded.
    ConfigError
        If a layer has another size than the network's.
    """
    model, old = load_model(path, "cpu", "fp32")
    given = model.state_dict()
    for name, weight in network.named_weights():
        if name not in given or given[name].shape != weight.shape:
            found = tuple(given[name].shape) if name in given else "none"
            raise ConfigError(f"start: {path}: {name}: expected the shape {tuple(weight.shape)}, found {found}")
        with torch.no_grad():
            weight.copy_(given[name])
    table = given["model.embed_tokens.weight"]
    network.embedding.fill(torch.stack([_embedding(piece, table, old) for piece in _pieces(tokenizer, network)]))


def _pieces(tokenizer: PreTrainedTokenizerFast, network: Network) -> list[str]:
    known = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return [*known, *[""] * (network.shape.vocabulary - len(known))]


def _embedding(piece: str, table: Tensor, old: PreTrainedTokenizerBase) -> Tensor:
    """Return a piece's vector; that of all pieces for one that the old vocabulary cannot spell."""
    vocabulary = old.get_vocab()
    if piece in vocabulary:
        return table[vocabulary[piece]]
    ids = [token.id for token in old.backend_tokenizer.model.tokenize(piece)] if piece else []
    return table[ids].mean(0) if ids else table.mean(0)
