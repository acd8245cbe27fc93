"""The endless seeded material of a run: what each update learns, and what the held-out scores are computed on."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from training.encoding.encode import Encoded, encode, encode_together
from training.encoding.packing import MEMBERS, Batch, collate, fill_row
from training.encoding.tokenizer import SPECIAL
from training.example import FORMS, Example, segments
from training.run.settings import Stage, TrainingSettings
from training.sgd.dialogues import SgdDialogues
from training.synthetic.dialogues import make_dialogue, make_search
from training.synthetic.drills import recall, repeated_ids
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size, make_questions

SHORT_ROW = 512
"""Rows of up to that many tokens hold few results and few tools, for SGD's prompts are longer when whole."""
SGD_BFCL = 0.5
"""How much rarer BFCL's form is for SGD, for it is evaluated in API-Bank's, in which documentation is shorter."""
DIALOGUES = 4
"""Most dialogues of SGD about the same documentation, for each ``SHORT_ROW`` of a row."""


def draw_synthetic(d: Draw, size: Size, template: str) -> Example:
    """One synthetic example: rather a dialogue in API-Bank's form, rather one-shot requests in BFCL's."""
    if template == "api-bank" and d.chance(0.1):
        return make_search(d, size)
    if d.chance(0.7 if template == "api-bank" else 0.15):
        return make_dialogue(d, size, template)
    return make_questions(d, size, template)


def draw_examples(d: Draw, stage: Stage, length: int, sgd: SgdDialogues | None) -> list[Example]:
    """One example, or several of SGD about the same tools, of a stage's mixture for a row of ``length`` tokens.

    Without SGD all are synthetic.
    """
    of_sgd = sgd is not None and d.chance(stage.sgd)
    template = "bfcl" if d.chance(stage.bfcl * (SGD_BFCL if of_sgd else 1)) else "api-bank"
    long = max(1, length // SHORT_ROW)
    if sgd is not None and of_sgd:
        whole = d.chance({1: 0.0, 2: 0.4}.get(long, 0.75))
        count = d.randint(1, min(DIALOGUES * long, MEMBERS - 1))
        return sgd.draw(d, template, count, most_calls=5 if long < 4 else 9, whole=whole)
    tools = min(10, stage.tools * long) if d.chance(0.6) else stage.tools
    size = Size(tools, stage.parameters, stage.calls * (2 if long > 1 else 1), nested=stage.parameters > 2)
    return [draw_synthetic(d, size, template)]


class Material:
    """Batches by number: what update n learns depends on the seed, n and the stage alone, so that runs can resume."""

    def __init__(
        self, settings: TrainingSettings, tokenizer: PreTrainedTokenizerFast, sgd: SgdDialogues | None
    ) -> None:
        self.settings = settings
        self.tokenizer = tokenizer
        self.sgd = sgd

    def batches(self, step: int, progress: float) -> list[Batch]:
        """The batches whose gradients make up one update; ``progress`` (0 to 1) chooses the stage."""
        settings = self.settings
        stage = settings.stage_at(progress)
        d = Draw(f"material/{settings.seed}/{step}")
        lengths, shares = list(stage.lengths), list(stage.lengths.values())
        out = []
        for _ in range(settings.step_tokens // settings.batch_tokens):
            [length] = d.choices(lengths, shares)
            draw, fill = partial(self._draw, d, stage, length), partial(self._fill, d)
            rows = [fill_row(length, draw, fill) for _ in range(settings.batch_tokens // length)]
            out.append(collate(rows, settings.learnt_share, d))
        return out

    def _draw(self, d: Draw, stage: Stage, length: int, most_tokens: int) -> Encoded | None:
        if d.chance(stage.drills):
            if d.chance(0.5):
                return self._fill(d, most_tokens)
            template = "bfcl" if d.chance(stage.bfcl) else "api-bank"
            return encode(recall(d, template), FORMS[template].call_format, self.tokenizer, most_tokens)
        examples = draw_examples(d, stage, length, self.sgd)
        dialogues = [segments(example, d) for example in examples]
        return encode_together(dialogues, examples[0].form.call_format, self.tokenizer, most_tokens)

    def _fill(self, d: Draw, most_tokens: int) -> Encoded:
        return repeated_ids(d, len(SPECIAL), len(self.tokenizer), most_tokens)


def sample_texts(settings: TrainingSettings, sgd: SgdDialogues | None, count: int) -> list[str]:
    """Texts of the last stage's mixture, for the tokenizer to be trained on."""
    d = Draw(f"tokenizer/{settings.seed}")
    examples = (draw_examples(d, settings.stages[-1], SHORT_ROW, sgd)[0] for _ in range(count))
    return ["".join(part.text for part in segments(example, d)) for example in examples]


def held_out_examples(sgd_folder: Path | None, count: int, seed: int = 1_000_003) -> dict[str, list[Example]]:
    """Name of a set -> examples that training never sees.

    Synthetic ones have words of the held-out lexicon; those of SGD are of the split ``dev``, by services that the split
    ``train`` has (seen) or lacks (unseen), under their own names, as the evaluation shows them.
    """
    out: dict[str, list[Example]] = {}
    for template in FORMS:
        d = Draw(f"held-out/{seed}/{template}", held_out=True)
        make = make_dialogue if template == "api-bank" else make_questions
        out[f"synthetic {template}"] = [make(d, Size(), template) for _ in range(count)]
    if sgd_folder is not None:
        seen, dev = (_services(sgd_folder / f"{split}_tools.json") for split in ("train", "dev"))
        for name, services in (("sgd unseen", dev - seen), ("sgd seen", dev & seen)):
            dialogues = SgdDialogues(sgd_folder, "dev", services)
            d = Draw(f"held-out/{seed}/{name}")
            out[name] = [dialogues.draw(d, "api-bank", renamed=False)[0] for _ in range(count)]
    return out


def _services(path: Path) -> frozenset[str]:
    return frozenset(tool["service"] for tool in json.loads(path.read_text(encoding="utf-8")))


def encode_held_out(examples: Sequence[Example], tokenizer: PreTrainedTokenizerFast, most_tokens: int) -> list[Encoded]:
    """The examples with keys in documentation order; those whose first answer does not fit are left out."""
    d = Draw("held-out")
    encoded = (
        encode(segments(example, d, shuffled_share=0.0), example.form.call_format, tokenizer, most_tokens)
        for example in examples
    )
    return [sequence for sequence in encoded if sequence is not None]
