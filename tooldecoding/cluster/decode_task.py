"""``decode --batch`` as a task of workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.batches.batch import decode_group
from tooldecoding.batches.rows import BadRow, Row, failed
from tooldecoding.decoder import ToolDecoder
from tooldecoding.models.identity import identify
from tooldecoding.models.places import input_device
from tooldecoding.options.decode_command import DecodeCommand


@dataclass(frozen=True)
class DecodeTask:
    """Decodes rows of a batch."""

    options: DecodeCommand

    def loaded(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> "LoadedDecode":
        """Return the task with its decoder."""
        decoder = ToolDecoder(model, tokenizer, self.options.strategy, prompt_cache_mb=self.options.prompt_cache_mb)
        return LoadedDecode(decoder, self.options)

    def beginning(self, item: Row | BadRow) -> str:
        """Rows with the same tools and the same kind of prompt begin alike."""
        if isinstance(item, BadRow):
            return ""
        tools = "" if item.documentation is None else item.documentation.digest
        return f"{type(item.content).__name__} {tools}"

    def given_up(self, item: Row | BadRow, reason: str) -> dict[str, Any]:
        """Return the row's error."""
        return failed(item.id, reason)


@dataclass(frozen=True)
class LoadedDecode:
    """A decoder, and the options of its decodes."""

    decoder: ToolDecoder
    options: DecodeCommand

    @property
    def about(self) -> Mapping[str, Any]:
        """The device, and the model's identity, which manifests have."""
        return {
            "device": str(input_device(self.decoder.model)),
            "identity": identify(self.decoder.model, self.decoder.tokenizer),
        }

    def run(self, items: Sequence[Row | BadRow]) -> list[dict[str, Any]]:
        """Return the results of some rows."""
        return decode_group(items, self.decoder, self.options)
