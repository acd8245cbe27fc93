"""Decoders for tests of chat: a tokenizer with a chat template, and a model that a test speaks for."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from synthetic import RandomEngine, ScriptedEngine
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_texts import END

HERMES = (
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}\n{% endfor %}</tools>\n{% endif %}"
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}"
    '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    '{% endfor %}{{ "\\n" }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}'
)
"""A short template of our own."""

MCP_STUB = [sys.executable, str(Path(__file__).parent / "mcp_stub.py")]
"""The command of a server whose tools are those of the stub."""


_ANSWERS = """
import json, sys
tools, results, pages = json.loads(sys.argv[1])
def answer(request, result):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
sys.stdout.reconfigure(errors="surrogateescape")
print("hello, I am a server \\udcff", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        answer(request, {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                         "serverInfo": {"name": "h", "version": "1"}})
    elif request.get("method") == "tools/list":
        page = pages.get((request.get("params") or {}).get("cursor") or "", {"tools": tools})
        page is None or answer(request, page)
        pages or sys.stderr.write("x" * 50_000_000 + "\\nflooded\\n")
    elif request.get("method") == "tools/call":
        result = results[request["params"]["name"]]
        print(result % request["id"], flush=True) if isinstance(result, str) else answer(request, result)
    elif "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}}
        print(json.dumps(reply), flush=True)
"""


def mcp_answering(tools: Sequence[Any], results: Any = None, pages: Any = None) -> list[str]:
    """The command of a server that has these tools, whatever is wrong with them, and results by their names.

    ``pages``: by the cursor that asks for it, empty for the first, the page that it sends; nothing for null.
    """
    return [sys.executable, "-c", _ANSWERS, json.dumps([tools, results, pages or {}])]


def call(name: str, **arguments: Any) -> str:
    """What a model of this template writes for a call."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def chat_tokenizer(template: str | None = HERMES, added: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer with a chat template and further tokens."""
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = template
    tokenizer.add_tokens([*added], special_tokens=True)
    return tokenizer


@cache
def _parts(marks: tuple[str, ...]) -> tuple[Any, Any]:
    tokenizer = chat_tokenizer(None, marks)
    return tokenizer, tiny_model("llama", len(tokenizer))


def decoder_of(
    chat_template: str | dict[str, str] | None, marks: tuple[str, ...] = (), **options: Any
) -> SyntheticDecoder:
    """A decoder whose tokenizer has a chat template, and tokens for marks; few orders, short values, no questions."""
    tokenizer, model = _parts(marks)
    tokenizer.chat_template = chat_template
    return SyntheticDecoder(model, tokenizer, **{"order_limit": 2, "max_value_tokens": 6, "ask": "never", **options})


def random_logits(decoder: SyntheticDecoder, seed: int) -> None:
    """Let the decoder's model write anything."""
    decoder.engine = RandomEngine(decoder.table.texts, seed)


def says(decoder: SyntheticDecoder, answer: Callable[[str], str]) -> None:
    """Let the decoder's model answer each prompt, which ends with ``[assistant]``, as a function of it says."""

    def continuation(text: str) -> str:
        prompt, _, written = text.rpartition("[assistant]")
        wanted = decoder.table.special.bound(answer(prompt))
        return wanted[len(written) :] + END if wanted.startswith(written) else END

    decoder.engine = ScriptedEngine(decoder.table.texts, continuation)
