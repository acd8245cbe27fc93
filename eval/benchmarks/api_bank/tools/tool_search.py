"""Rule of ToolSearcher: which tool's documentation some keywords find.

The official tool ranks with a sentence-transformers model, which is not run here: recorded keywords find what they
found, others what shares most words with a tool's name and description (TF-IDF), an approximation.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Database, Dialogue, RecordedCall, Replay
from eval.benchmarks.api_bank.tools.tool import UNRECORDED, Arguments, Tool, lowered, same_result
from tooldecoding.prompts.dialogue import TOOL_SEARCH

TOKEN_TOOL: Final = "GetUserToken"
"""Found along with every tool that takes a token."""

_WORD: Final = re.compile(r"[a-z0-9]++")
_HUMP: Final = re.compile(r"(?=[A-Z])")


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """The tool that keywords found, by name."""
    for dialogue in dialogues:
        for call in dialogue:
            if call.name == TOOL_SEARCH and (found := _found_tools(call.output)):
                database.note(TOOL_SEARCH, lowered(call.text("keywords")), found[-1])


def _found_tools(output: Any) -> list[str]:
    tools = output if isinstance(output, list) else [output]
    return [t["name"] for t in tools if isinstance(t, dict) and isinstance(t.get("name"), str)]


def _search(arguments: Arguments, replay: Replay) -> Any:
    name = _recorded_tool(lowered(arguments["keywords"]), replay) or _nearest(arguments["keywords"], replay.database)
    if name is None or name not in replay.database.descriptions:
        return UNRECORDED
    found = _described(name, replay.truth, replay.database)
    if "token" not in found.get("input_parameters", {}):
        return found
    account = _described(TOKEN_TOOL, replay.truth, replay.database)
    # the official tool hands out its own entry here, with the text that it searches
    return [account | {"desc_for_search": f"get user token{account.get('description')}"}, found]


def _recorded_tool(keywords: str, replay: Replay) -> str | None:
    """The sample's own recording first."""
    if replay.truth.name == TOOL_SEARCH and lowered(replay.truth.text("keywords")) == keywords:
        return next(reversed(_found_tools(replay.truth.output)), None)
    found: str | None = replay.database.outputs.get(TOOL_SEARCH, {}).get(keywords)
    return found


def _described(name: str, truth: RecordedCall, database: Database) -> dict[str, Any]:
    """The tool's documentation as the code has it, or as this sample records it where the code's words are unknown."""
    if not database.verbatim:
        output = truth.output if isinstance(truth.output, list) else [truth.output]
        for tool in output:
            if isinstance(tool, dict) and tool.get("name") == name and {"description", "input_parameters"} <= set(tool):
                return {k: v for k, v in tool.items() if k != "desc_for_search"}
    return dict(database.descriptions.get(name, {}))


def _nearest(keywords: str, database: Database) -> str | None:
    """The tool whose words are most similar, None where no word is shared."""
    documents = {name: Counter(_words(name, entry)) for name, entry in database.descriptions.items()}
    weights = _rarity(documents)
    query = Counter(word for word in _WORD.findall(keywords.lower()) if word in weights)
    scores = {name: _cosine(query, words, weights) for name, words in documents.items() if name != TOOL_SEARCH}
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] > 0 else None


def _words(name: str, entry: Mapping[str, Any]) -> list[str]:
    return _WORD.findall(f"{' '.join(_HUMP.split(name))} {entry.get('description')}".lower())


def _rarity(documents: Mapping[str, Counter[str]]) -> dict[str, float]:
    """Word -> smoothed inverse document frequency."""
    frequency = Counter(word for words in documents.values() for word in words)
    return {word: math.log((1 + len(documents)) / (1 + n)) + 1 for word, n in frequency.items()}


def _cosine(query: Counter[str], words: Counter[str], weights: Mapping[str, float]) -> float:
    shared = sum(n * words[word] * weights[word] ** 2 for word, n in query.items())
    length = math.sqrt(sum((n * weights[word]) ** 2 for word, n in words.items()))
    return shared / length if length else 0.0


TOOLS: Final = (Tool(TOOL_SEARCH, ("keywords",), _search, same_result),)
