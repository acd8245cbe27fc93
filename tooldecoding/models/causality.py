"""Whether a model is causal, found by trying it on a few tokens."""

import torch
from transformers import PreTrainedModel

from tooldecoding.models.places import input_device

_LARGEST_DIFFERENCE = {torch.float32: 1e-3, torch.float64: 1e-3}
_LARGEST_OF_HALF = 0.05
"""In standard deviations of the logits. Two computations of the same text differ only by rounding; attention that looks
ahead makes a larger difference, even with random weights."""


def is_causal(model: PreTrainedModel) -> bool:
    """Whether the logits of two tokens do not depend on the token that follows them.

    Some masked language models load as causal ones but look ahead. Costs one forward pass of shape (2, 3).
    """
    # the middle of the vocabulary has no special tokens
    middle = max(0, model.config.get_text_config().vocab_size // 2 - 2)
    rows = [[middle, middle + 1, middle + last] for last in (2, 3)]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(rows, device=input_device(model)), use_cache=False).logits[:, :2].float()
    most = _LARGEST_DIFFERENCE.get(model.dtype, _LARGEST_OF_HALF)
    # NaN passes: it has other causes
    return not float((logits[0] - logits[1]).abs().max()) > most * float(logits.std())
