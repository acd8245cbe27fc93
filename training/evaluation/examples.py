"""Held-out examples: made of words and services that training does not use."""

import json
from collections.abc import Sequence
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from training.encoding.encode import Encoded, encode
from training.example import TEMPLATES, Example, segments
from training.sgd.dialogues import SgdDialogues
from training.synthetic.chats import make_chat
from training.synthetic.dialogues import make_dialogue
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size, make_questions

SEED = 1_000_003


def held_out_examples(sgd_folder: Path | None, count: int) -> dict[str, list[Example]]:
    """Draw ``count`` examples of each held-out set, by the set's name.

    Synthetic examples use the held-out lexicon. Those of SGD come from the split ``dev``, with services that the split
    ``train`` has (seen) or lacks (unseen), under their own names, as the evaluation shows them.
    """
    out: dict[str, list[Example]] = {}
    for template in TEMPLATES:
        d = Draw(f"held-out/{SEED}/{template}", held_out=True)
        make = {"api-bank": make_dialogue, "bfcl": make_questions, "hermes": make_chat}[template]
        out[f"synthetic {template}"] = [make(d, Size(), template) for _ in range(count)]
    if sgd_folder is not None:
        seen, dev = (_services(sgd_folder / f"{split}_tools.json") for split in ("train", "dev"))
        for name, services in (("sgd unseen", dev - seen), ("sgd seen", dev & seen)):
            dialogues = SgdDialogues(sgd_folder, "dev", services)
            d = Draw(f"held-out/{SEED}/{name}")
            out[name] = [dialogues.draw(d, "api-bank", renamed=False)[0] for _ in range(count)]
    return out


def _services(path: Path) -> frozenset[str]:
    return frozenset(tool["service"] for tool in json.loads(path.read_text(encoding="utf-8")))


def encode_held_out(examples: Sequence[Example], tokenizer: PreTrainedTokenizerFast, most_tokens: int) -> list[Encoded]:
    """Encode the examples with keys in documentation order; leave out those whose first answer does not fit."""
    d = Draw("held-out")
    encoded = (encode(segments(example, d, shuffled_share=0.0), tokenizer, most_tokens) for example in examples)
    return [sequence for sequence in encoded if sequence is not None]
