"""Running MCP servers: what they are called, and their tools. The official package ``mcp`` does the protocol."""

import json
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Final, Literal, Self, TextIO

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)

from lookup.documents.text.text_file import read_text
from lookup.errors import DocumentationError, shown
from lookup.schema.check import SchemaError
from lookup.schema.value_schema import value_schema
from tooldecoding.agents.agent_tools import AgentTool, ToolFailed
from tooldecoding.agents.mcp_messages import AS_SENT, as_sent, block_text
from tooldecoding.errors import ConfigError

MCP_TIMEOUT: Final = 60.0
"""Default seconds that a server may take to start, to list its tools, and for each call."""

_MOST_PAGES: Final = 100
"""Pages of a list of tools that are asked for; a server may always have one more."""

_NOTHING: Final = "The tool ran and gave nothing."

_IDLE: Final = 86_400.0
"""Seconds in which a server over SSE may say nothing."""

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
"""In JSON as programs let people write it; texts are matched so that nothing inside them is."""


def _filled(text: str) -> str:
    """Put variables of the environment in the places of ``${NAME}``."""
    if missing := [name for name in _VARIABLE.findall(text) if name not in os.environ]:
        raise ValueError(f"the environment has no variable {missing[0]}")
    return _VARIABLE.sub(lambda found: os.environ[found[1]], text)


_Text = Annotated[str, AfterValidator(_filled)]


class McpServer(BaseModel):
    """How a server is reached: the fields of an entry of ``mcpServers``. Others that programs know are theirs.

    Attributes
    ----------
    name : str
        What messages call it; the prefix of tools whose names two servers have.
    command, args : str or None, list of str
        Program and arguments of a server that talks over its standard input and output.
    env : dict of str to str
        Variables of its environment beside the few that ``mcp`` passes on.
    cwd : str or None
        Folder in which it is started.
    url, headers : str or None, dict of str to str
        Address of a server that talks over streamable HTTP or SSE, and what is sent with every request.
    type : str or None
        How it talks, which other programs call ``transport``, too; without it, an address that ends in ``/sse`` is SSE.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = ""
    command: _Text | None = None
    args: list[_Text] = []
    env: dict[str, _Text] = {}
    cwd: str | None = None
    url: Annotated[_Text, Field(pattern="^https?://")] | None = None
    headers: dict[str, _Text] = {}
    type: Annotated[
        Literal["stdio", "http", "streamable-http", "streamableHttp", "sse"] | None,
        Field(validation_alias=AliasChoices("type", "transport", "transportType")),
    ] = None
    disabled: StrictBool = False
    enabled: StrictBool = True

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("expected either command or url")
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a URL, or a command line as a shell would split it; ConfigError for anything else."""
        text = text.strip()
        if re.match(r"https?://", text):
            return cls(name=text, url=text)
        try:
            command, *args = shlex.split(text)
        except ValueError as error:
            raise ConfigError(f"--mcp {text!r:.100}: expected a command line or a URL: {error}") from None
        return cls(name=text, command=command, args=args)


def _switched_on(entries: Any) -> Any:
    """Leave out the entries that are switched off, which may be unfinished."""

    def is_on(entry: Any) -> bool:
        return not isinstance(entry, dict) or (entry.get("disabled") is not True and entry.get("enabled") is not False)

    return {name: entry for name, entry in entries.items() if is_on(entry)} if isinstance(entries, dict) else entries


class _File(BaseModel):
    servers: Annotated[dict[str, McpServer], BeforeValidator(_switched_on)] = Field(
        validation_alias=AliasChoices("mcpServers", "servers")
    )


def read_mcp_config(path: str | Path) -> list[McpServer]:
    """Read the file with ``mcpServers`` that other programs use; comments and commas behind the last entry may stand.

    ``${NAME}`` in a text stands for a variable of the environment. Entries with ``"disabled": true`` or ``"enabled":
    false`` are left out.

    ConfigError if the file cannot be read, an entry has neither ``command`` nor ``url`` or both, asks for a transport
    other than stdio, streamable HTTP and SSE, or names a variable that is not set.
    """
    text = read_text(Path(path), ConfigError)
    for left_out in (_COMMENT, _LAST_COMMA):
        text = left_out.sub(_blanked, text)
    try:
        entries = _File.model_validate_json(text).servers
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        place = ".".join(map(str, wrong["loc"])) or "JSON with mcpServers"
        raise ConfigError(f"{path}: {place}: {wrong['msg'].removeprefix('Value error, ')}") from None
    return [entry.model_copy(update={"name": name}) for name, entry in entries.items()]


def _blanked(found: re.Match[str]) -> str:
    """A text as it is; anything else as white space of the same lines and columns, which errors name."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


class McpServers:
    """Servers that run while the context lasts; its end ends their processes.

    Attributes
    ----------
    tools : list of AgentTool
        In the sequence of the servers. Tools of one name in two servers are called ``SERVER__NAME``.
    notes : list of str
        Which servers are missing and why, which tools have no name or other names here, a line each.
    """

    def __init__(self, servers: Sequence[McpServer], timeout: float = MCP_TIMEOUT) -> None:
        self.tools: list[AgentTool] = []
        self.notes: list[str] = []
        self._servers = servers
        self._timeout = timeout
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal

        with ExitStack() as stack:  # ends those that run already if starting the next is interrupted
            self._portal = stack.enter_context(start_blocking_portal())
            listed: list[tuple[McpServer, Any, dict[str, Any]]] = []
            for server in self._servers:
                log = _Log()
                stack.enter_context(log.file)
                running = self._portal.wrap_async_context_manager(_running(server, self._timeout, log.file))
                try:
                    client, tools, unlisted = stack.enter_context(running)
                except Exception as error:  # noqa: BLE001  # whatever an untrusted server does, the others go on
                    self.notes.append(f"MCP server {server.name}: {_reason(error, self._timeout)}{log.last_line}")
                else:
                    if unlisted:
                        kept = f"the {len(tools):,} tools until then stay"
                        self.notes.append(f"MCP server {server.name}: {unlisted}; {kept}")
                    for tool in tools:
                        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                            listed.append((server, client, tool))
                        else:
                            found = shown(tool)
                            note = f"a tool is left out: expected an object with the text 'name', found {found}"
                            self.notes.append(f"MCP server {server.name}: {note}")
            self.tools = list(self._named(listed))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *about: Any) -> None:
        with suppress(Exception):  # a server that is gone cannot be ended
            self._stack.close()

    def _named(self, listed: Sequence[tuple[McpServer, Any, dict[str, Any]]]) -> Iterator[AgentTool]:
        owners = Counter(name for _, name in {(id(server), tool["name"]) for server, _, tool in listed})
        words = [re.sub(r"[^A-Za-z0-9_]+", "_", s.name).strip("_") if len(s.name) <= 30 else "" for s in self._servers]
        free = [bool(word) and words.count(word) == 1 for word in words]  # a long name is a command
        prefixes = {id(s): words[n] if free[n] else f"server{n + 1}" for n, s in enumerate(self._servers)}
        for server, client, tool in listed:
            name = tool["name"]
            if owners[name] > 1:
                name = f"{prefixes[id(server)]}__{name}"
                self.notes.append(f"MCP server {server.name}: another one has {tool['name']}, too; it is {name} here")
            about = tool.get("annotations")
            hints = [hint for hint, given in about.items() if given is True] if isinstance(about, dict) else []
            known = ("description", "inputSchema", "outputSchema")
            documentation = {key: tool[key] for key in known if tool.get(key) is not None}
            run = partial(self._call, server.name, client, tool)
            yield AgentTool(name, {"name": name, "inputSchema": {}} | documentation, run, server.name, ", ".join(hints))

    def _call(self, server: str, client: Any, tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        """Return the result of a tool as text; ToolFailed with what the server or the tool says is wrong."""
        try:
            result = self._portal.call(client.call_tool, tool["name"], dict(arguments)).meta[AS_SENT]
            return _result_text(json.loads(result), tool.get("outputSchema"))
        except ToolFailed:
            raise
        except Exception as error:  # noqa: BLE001  # a server that is gone, hangs or answers nonsense
            raise ToolFailed(f"MCP server {server}: {_reason(error, self._timeout)}") from None


def _result_text(result: Mapping[str, Any], schema: Any) -> str:
    """A result as text, with its value if no text tells it; ToolFailed for one that failed or breaks the schema."""
    content, value = result.get("content"), result.get("structuredContent")
    blocks = content if isinstance(content, list) else [content] if content else []
    text = "\n".join(map(block_text, blocks))
    failed = str(result.get("isError") or False).lower() != "false"  # some send it as a text
    untold = all(isinstance(block, dict) and block.get("type") not in ("text", "resource") for block in blocks)
    if value is not None and (untold or not text):
        text = f"{text}\n{json.dumps(value, ensure_ascii=False)}".strip()
        if not failed and isinstance(schema, dict):
            try:
                value_schema(schema).check(value)
            except SchemaError as error:
                raise ToolFailed(f"the tool's structuredContent breaks its outputSchema: {error}") from None
            except DocumentationError:
                pass  # a schema that cannot be read says nothing
    if failed:
        raise ToolFailed(text or "the tool failed and did not say why")
    ended = result.get("resultType", "complete") == "complete"
    return text or (_NOTHING if ended and not blocks else "")


@asynccontextmanager
async def _running(server: McpServer, timeout: float, log: TextIO) -> AsyncIterator[tuple[Any, list[Any], str]]:
    """Start a server, whose standard error goes to ``log``; gives its client, and what ``_tools`` gives."""
    import anyio
    import httpx2
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        start = stack.enter_context(anyio.fail_after(timeout + 10.0))  # it asks for that long for its newest protocol
        if server.url is None:
            fields = server.model_dump() | {"encoding_error_handler": "replace"}
            transport: Any = stdio_client(StdioServerParameters.model_validate(fields), log)
        elif server.type == "sse" or (server.type is None and server.url.rstrip("/").endswith("/sse")):
            transport = sse_client(server.url, server.headers, timeout, _IDLE)
        else:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=server.headers, timeout=timeout))
            transport = streamable_http_client(server.url, http_client=http)
        client = await stack.enter_async_context(Client(as_sent(transport), read_timeout_seconds=timeout))
        tools, unlisted = await _tools(client, timeout)
        start.deadline = math.inf
        yield client, tools, unlisted


async def _tools(client: Any, timeout: float) -> tuple[list[Any], str]:
    """The tools as a server sends them, page by page, and why those of further pages are missing, if they are.

    What is wrong with the first page is raised. A tool that an earlier page has is left out.
    """
    import anyio

    page_of: dict[str, int] = {}
    cursors: list[str] = []
    listed: list[Any] = []
    cursor, ends = None, anyio.current_time() + timeout
    while len(cursors) < _MOST_PAGES:
        try:
            with anyio.fail_after(ends - anyio.current_time()):
                page = await client.list_tools(cursor=cursor)
        except Exception as error:
            if not cursors:
                raise
            return listed, f"its list of tools ends early: {_reason(error, timeout)}"
        for sent in (tool.meta[AS_SENT] for tool in page.tools):
            if page_of.setdefault(sent, len(cursors)) == len(cursors):
                listed.append(json.loads(sent))
        cursor = page.next_cursor
        if not cursor:
            return listed, ""
        if cursor in cursors:
            return listed, "its list of tools begins anew: it gives a cursor twice"
        cursors.append(cursor)
    return listed, f"its list of tools does not end within {_MOST_PAGES} pages"


class _Log:
    """What a server writes to its standard error, of which only the end is kept: it may be endless."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w")
        self._end = b""
        self._reader = Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 16):
                self._end = (self._end + piece)[-500:]

    @property
    def last_line(self) -> str:
        """What the server said last, in brackets; waits a moment for it to end."""
        self.file.close()
        self._reader.join(1.0)
        lines = self._end.decode(errors="replace").strip().splitlines()
        return f" ({lines[-1].strip()})" if lines else ""


def _reason(error: BaseException, timeout: float) -> str:
    """What went wrong, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"it answers with something else than MCP says: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    said = str(error) or type(error).__name__
    if isinstance(error, TimeoutError) or re.fullmatch(r"\w*Timeout|Request .* timed out", said):
        return f"no answer within {timeout:g} seconds"
    return " ".join(said.split())[:300]
