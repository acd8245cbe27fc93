"""What goes wrong in a user's first steps is told with what to do."""

from typing import Any

import pytest

import tooldecoding.models.sources as sources
from tooldecoding import ToolDecoder
from tooldecoding.errors import MissingExtraError, ModelError


def test_a_map_of_devices_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"device_map needs accelerate; pip install 'tooldecoding\[gguf\]'"):
        ToolDecoder.from_pretrained("reference", device_map="auto")


@pytest.mark.parametrize("path", ["none/", "./none", "~/none"])
def test_a_folder_that_is_not_there_is_no_hub_id(path: Any) -> None:
    with pytest.raises(ModelError, match="no model folder at"):
        ToolDecoder.from_pretrained(path)
