"""What vote options give for the prompts, and how much of it is right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eval.tuning.confidence_study import Slots, label_values
from eval.tuning.derive import Deriver, Outcome
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.verdicts import Verdicts, right
from eval.tuning.vote_options import VoteOptions


@dataclass(frozen=True)
class Evidence:
    """Outcomes and verdicts of any vote options.

    Attributes
    ----------
    prompts : sequence of TuningPrompt
        The prompts that figures are over.
    deriver : Deriver
    verdicts : Verdicts or None
        None for own data without answers.
    """

    prompts: Sequence[TuningPrompt]
    deriver: Deriver
    verdicts: Verdicts | None

    @cached_property
    def dialogues(self) -> dict[str, str]:
        """Prompt id -> dialogue."""
        return {prompt.id: prompt.dialogue for prompt in self.prompts}

    def outcomes(self, options: VoteOptions) -> dict[str, Outcome]:
        """Return prompt id -> outcome."""
        every = self.deriver.outcomes(options)
        return {prompt.id: every[prompt.id] for prompt in self.prompts}

    def right(self, options: VoteOptions, reference: VoteOptions) -> dict[str, bool]:
        """Return prompt id -> whether it is right. Without answers: whether it gives the calls of ``reference``."""
        outcomes = self.outcomes(options)
        if self.verdicts is not None:
            return right(self.verdicts.scores(outcomes))
        texts = self.outcomes(reference)
        return {identifier: outcome.text == texts[identifier].text for identifier, outcome in outcomes.items()}

    def decoded_again(self, options: VoteOptions) -> int:
        """Return the number of prompts that had to be decoded again for these options."""
        return self.deriver.again[options]

    def slots(self, options: VoteOptions) -> Slots:
        """Return the values of the voted calls, labelled right or wrong; none without answers."""
        if self.verdicts is None:
            return {}
        scored = self.verdicts.scored
        return label_values(
            self.prompts, self.outcomes(options), self.verdicts.judge, None if scored is None else scored.scored
        )
