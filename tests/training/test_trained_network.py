"""The network that is trained is Hugging Face's Llama, and begins with heads that copy."""

from pathlib import Path

import pytest
import torch
from tiny_run import tiny_settings, tiny_tokenizer

from training.answer import CONTEXT, NAME, SYNTAX, TEXT, VALUE
from training.encoding.encode import Encoded
from training.encoding.packing import IDS_PER_SEQUENCE
from training.evaluation.scores import Score, score_answers
from training.network.induction_heads import add_induction_heads
from training.network.network import Network, Shape, rotate


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    folder = tmp_path_factory.mktemp("network")
    torch.manual_seed(0)
    network = Network(tiny_settings(folder).model, tiny_tokenizer(folder))
    with torch.no_grad():
        network.embedding.own.normal_(std=0.05)
        network.norm.uniform_(0.5, 1.5)
        for block in network.stack:
            block.attention_norm.uniform_(0.5, 1.5)
            block.feed_forward_norm.uniform_(0.5, 1.5)
    return network


def logits(network: Network, ids: torch.Tensor, sequence_ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        x, table = network.hidden(ids, sequence_ids, torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * network.norm
        return x @ table.T


def test_equals_transformers_llama(network: Network) -> None:
    ids = torch.randint(3, 640, (2, 200), generator=torch.Generator().manual_seed(1))
    expected = network.to_llama(torch.float32).eval()(ids, use_cache=False).logits
    assert torch.allclose(logits(network, ids, torch.zeros_like(ids)), expected, atol=2e-4)


def test_packed_sequences_do_not_see_each_other(network: Network) -> None:
    ids = torch.randint(3, 640, (1, 150), generator=torch.Generator().manual_seed(2))
    sequence_ids = IDS_PER_SEQUENCE * (torch.arange(150) // 60)[None]
    packed = logits(network, ids, sequence_ids)
    for start in (0, 60, 120):
        part = ids[:, start : start + 60]
        alone = logits(network, part, torch.zeros_like(part))
        assert torch.allclose(packed[:, start : start + 60], alone, atol=2e-4)


def test_members_see_the_beginning_and_themselves(network: Network) -> None:
    ids = torch.randint(3, 640, (1, 90), generator=torch.Generator().manual_seed(4))
    sequence_ids = IDS_PER_SEQUENCE + torch.tensor([[0] * 40 + [1] * 30 + [2] * 20])
    packed = logits(network, ids, sequence_ids)
    first = logits(network, ids[:, :70], torch.zeros_like(ids[:, :70]))
    assert torch.allclose(packed[:, :70], first, atol=2e-4)
    changed = ids.clone()
    changed[:, 40:70] = 5
    assert torch.allclose(logits(network, changed, sequence_ids)[:, 70:], packed[:, 70:], atol=2e-4)
    changed[:, 0] = 5
    assert not torch.allclose(logits(network, changed, sequence_ids)[:, 70:], packed[:, 70:], atol=2e-2)


def test_losses_are_those_of_the_logits(network: Network) -> None:
    ids = torch.randint(3, 640, (2, 64), generator=torch.Generator().manual_seed(3))
    places = torch.tensor([1, 63, 65, 100])
    losses, right = network.losses(ids, torch.zeros_like(ids), places, torch.float32)
    flat = logits(network, ids, torch.zeros_like(ids)).flatten(0, 1)[places - 1]
    target = ids.flatten()[places]
    assert torch.allclose(losses, torch.nn.functional.cross_entropy(flat, target, reduction="none"), atol=1e-4)
    assert torch.equal(right, flat.argmax(-1) == target)


def attention(network: Network, ids: torch.Tensor, block: int, head: int) -> torch.Tensor:
    """Shares (T, T) of one head."""
    shape = network.shape
    part = slice(head * shape.head_width, (head + 1) * shape.head_width)
    sequence_ids = torch.zeros_like(ids)
    cos, sin = network.angles(ids.shape[1], ids.device, torch.float32)
    x = torch.nn.functional.embedding(ids, network.embedding.table())
    for earlier in network.stack[:block]:
        x = earlier(x, cos, sin, sequence_ids, 128)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    matrices = network.stack[block].matrices
    q, k = (rotate(x[0] @ matrices[name][part].T, cos, sin) for name in "qk")
    scores = q @ k.T / shape.head_width**0.5
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -1e9).softmax(-1)


def test_induction_heads_find_the_earlier_place(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = Network(
        Shape(layers=3, width=240, heads=3, head_width=64, feed_forward=64, vocabulary=640), tiny_tokenizer(tmp_path)
    )
    add_induction_heads(network)
    length = 40
    block = torch.randperm(500, generator=torch.Generator().manual_seed(1))[:length] + 3
    ids = torch.cat([block, block, block])[None]
    places = torch.arange(length + 2, 3 * length)
    with torch.no_grad():
        for head in (0, 1):
            back = attention(network, ids, 0, head)[places, places - 1 - head]
            assert back.mean() > 0.7
        for number in (1, 2):
            for head in (0, 1):
                looked_at = attention(network, ids, number, head)[places].argmax(-1)
                behind = (places - looked_at) % length == length - 1
                assert behind.float().mean() > 0.3  # by chance, 1 of 40


def test_too_small_networks_begin_at_random(tmp_path: Path) -> None:
    network = Network(
        Shape(layers=2, width=64, heads=2, head_width=32, feed_forward=64, vocabulary=640), tiny_tokenizer(tmp_path)
    )
    before = {name: value.clone() for name, value in network.state_dict().items()}
    add_induction_heads(network)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_score_counts_names_values_and_answers() -> None:
    kinds = [CONTEXT, SYNTAX, NAME, VALUE, SYNTAX, VALUE, CONTEXT, SYNTAX, NAME, SYNTAX]
    good = [True, True, True, True, False, True, True, False, True]
    score = score_answers([Encoded(list(range(10)), kinds)], [torch.tensor(good)])
    assert score == Score(2, 2, 6 / 8, 0.5, 0.5, 0.5, 0.0)
    chat = [CONTEXT, TEXT, TEXT, SYNTAX, CONTEXT, TEXT, SYNTAX, NAME, VALUE]  # a text alone, a text before a call
    right = [False, False, True, True, False, True, True, True]
    assert score_answers([Encoded(list(range(9)), chat)], [torch.tensor(right)]) == Score(1, 1, 1.0, 1.0, 1.0, 1.0, 1.0)
    assert score_answers([], []) == Score(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
