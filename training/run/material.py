"""The endless seeded material of a run: what each update learns."""

from functools import partial

from transformers import PreTrainedTokenizerFast

from training.encoding.encode import Encoded, encode, encode_together
from training.encoding.packing import IDS_PER_SEQUENCE, Batch, collate, fill_row
from training.encoding.tokenizer import RESERVED
from training.example import Example, segments
from training.run.settings import Stage, TrainingSettings
from training.sgd.dialogues import SgdDialogues
from training.synthetic.chats import make_chat
from training.synthetic.dialogues import make_dialogue, make_search
from training.synthetic.drills import recall, repeated_ids
from training.synthetic.lexicon import Draw
from training.synthetic.questions import Size, make_questions

SHORT_ROW = 512
"""Rows of up to so many tokens hold few tools and short results: SGD's whole prompts are longer."""
SGD_BFCL = 0.5
"""Factor on the share of BFCL's template for SGD, which is evaluated in API-Bank's shorter one."""
DIALOGUES = 4
"""Most dialogues of SGD that share their documentation, for each ``SHORT_ROW`` tokens of a row."""


def draw_synthetic(d: Draw, size: Size, template: str) -> Example:
    """Draw one synthetic example: mostly a dialogue in API-Bank's template, mostly single requests in BFCL's."""
    if template == "hermes":
        return make_chat(d, size)
    if template == "api-bank" and d.chance(0.1):
        return make_search(d, size)
    if d.chance(0.7 if template == "api-bank" else 0.15):
        return make_dialogue(d, size, template)
    return make_questions(d, size, template)


def _draw_template(d: Draw, stage: Stage, bfcl_factor: float = 1) -> str:
    if d.chance(stage.hermes):
        return "hermes"
    return "bfcl" if d.chance(stage.bfcl * bfcl_factor) else "api-bank"


def draw_examples(d: Draw, stage: Stage, length: int, sgd: SgdDialogues | None) -> list[Example]:
    """Draw one example of a stage's mixture, or several of SGD about the same tools, for a row of ``length`` tokens.

    Without SGD all are synthetic.
    """
    of_sgd = sgd is not None and d.chance(stage.sgd)
    template = _draw_template(d, stage, SGD_BFCL if of_sgd else 1)
    long = max(1, length // SHORT_ROW)
    if sgd is not None and of_sgd:
        whole = d.chance({1: 0.0, 2: 0.4}.get(long, 0.75))
        count = d.randint(1, min(DIALOGUES * long, IDS_PER_SEQUENCE - 1))
        return sgd.draw(d, template, count, most_calls=5 if long < 4 else 9, whole=whole)
    tools = min(10, stage.tools * long) if d.chance(0.6) else stage.tools
    size = Size(tools, stage.parameters, stage.calls * (2 if long > 1 else 1), nested=stage.parameters > 2)
    return [draw_synthetic(d, size, template)]


class Material:
    """The batches of a run by the number of the update.

    They depend only on the settings and that number, so a run can be resumed.
    """

    def __init__(
        self, settings: TrainingSettings, tokenizer: PreTrainedTokenizerFast, sgd: SgdDialogues | None
    ) -> None:
        self.settings = settings
        self.tokenizer = tokenizer
        self.sgd = sgd

    @property
    def steps(self) -> int:
        """Updates of the whole run."""
        return -(-self.settings.budget // self.settings.step_tokens)

    def batches(self, step: int) -> list[Batch]:
        """Make the batches whose gradients form update ``step``."""
        settings = self.settings
        stage = settings.stage_at(step * settings.step_tokens / settings.budget)
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
            return encode(recall(d, _draw_template(d, stage)), self.tokenizer, most_tokens)
        examples = draw_examples(d, stage, length, self.sgd)
        dialogues = [segments(example, d) for example in examples]
        return encode_together(dialogues, self.tokenizer, most_tokens)

    def _fill(self, d: Draw, most_tokens: int) -> Encoded:
        return repeated_ids(d, len(RESERVED), len(self.tokenizer), most_tokens)


def sample_texts(settings: TrainingSettings, sgd: SgdDialogues | None, count: int) -> list[str]:
    """Draw texts of the last stage's mixture, to train the tokenizer on."""
    d = Draw(f"tokenizer/{settings.seed}")
    examples = (draw_examples(d, settings.stages[-1], SHORT_ROW, sgd)[0] for _ in range(count))
    return ["".join(part.text for part in segments(example, d)) for example in examples]
