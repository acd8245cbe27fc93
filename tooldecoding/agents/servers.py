"""Running MCP servers: what they are called, and their tools. The official package ``mcp`` does the protocol."""

import json
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

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from lookup.text.text_file import read_text
from tooldecoding.agents.tools import AgentTool, ToolFailed
from tooldecoding.errors import ConfigError

MCP_TIMEOUT: Final = 60.0
"""Default seconds that a server may take to start, to list its tools, and for each call."""

_MOST_PAGES: Final = 100
"""Pages of a list of tools; a server that has always one more does not hang the command."""

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


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
        Address of a server that talks over streamable HTTP, and what is sent with every request.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = ""
    command: _Text | None = None
    args: list[_Text] = []
    env: dict[str, _Text] = {}
    cwd: str | None = None
    url: Annotated[_Text, Field(pattern="^https?://")] | None = None
    headers: dict[str, _Text] = {}
    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    disabled: bool = False

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


class _File(BaseModel):
    servers: dict[str, McpServer] = Field(validation_alias=AliasChoices("mcpServers", "servers"))


def read_mcp_config(path: str | Path) -> list[McpServer]:
    """Read the file with ``mcpServers`` that other programs use; entries that are ``disabled`` are left out.

    ``${NAME}`` in a text stands for a variable of the environment.

    Raises
    ------
    ConfigError
        If the file cannot be read, an entry has neither ``command`` nor ``url`` or both, asks for a transport other
        than stdio and streamable HTTP, or names a variable that is not set.
    """
    text = read_text(Path(path), ConfigError)
    try:
        entries = _File.model_validate_json(text).servers
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        place = ".".join(map(str, wrong["loc"])) or "JSON with mcpServers"
        raise ConfigError(f"{path}: {place}: {wrong['msg'].removeprefix('Value error, ')}") from None
    named = [entry.model_copy(update={"name": name}) for name, entry in entries.items()]
    return [entry for entry in named if not entry.disabled]


class McpServers:
    """Servers that run while the context lasts; its end ends their processes.

    Attributes
    ----------
    tools : list of AgentTool
        In the sequence of the servers. Tools of one name in two servers are called ``SERVER__NAME``.
    notes : list of str
        Which servers are missing and why, and which tools have other names here, a line each.
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
                    client, tools = stack.enter_context(running)
                except Exception as error:  # noqa: BLE001  # whatever an untrusted server does, the others go on
                    self.notes.append(f"MCP server {server.name}: {_reason(error, self._timeout)}{log.last_line}")
                else:
                    listed += [(server, client, tool) for tool in tools]
            self.tools = list(self._named(listed))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *about: Any) -> None:
        with suppress(Exception):  # a server that is gone cannot be ended
            self._stack.close()

    def _named(self, listed: Sequence[tuple[McpServer, Any, dict[str, Any]]]) -> Iterator[AgentTool]:
        owners = Counter(name for _, name in {(id(server), tool["name"]) for server, _, tool in listed})
        for server, client, tool in listed:
            name = tool["name"]
            if owners[name] > 1:
                own = server.name if len(server.name) <= 30 else f"server{self._servers.index(server) + 1}"  # a command
                name = f"{re.sub(r'[^A-Za-z0-9_]+', '_', own).strip('_')}__{name}"
                self.notes.append(f"MCP server {server.name}: another one has {tool['name']}, too; it is {name} here")
            hints = [hint for hint, given in tool.get("annotations", {}).items() if given is True]
            run = partial(self._call, server.name, client, tool["name"])
            yield AgentTool(name, {**tool, "name": name}, run, server.name, ", ".join(hints))

    def _call(self, server: str, client: Any, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the result of a tool as text; ToolFailed with what the server or the tool says is wrong."""
        try:
            result = self._portal.call(client.call_tool, name, dict(arguments))
        except Exception as error:  # noqa: BLE001  # a server that is gone, hangs or answers nonsense
            raise ToolFailed(f"MCP server {server}: {_reason(error, self._timeout)}") from None
        text = "\n".join(map(_text, result.content))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        if result.is_error:
            raise ToolFailed(text or "the tool failed and did not say why")
        return text


@asynccontextmanager
async def _running(server: McpServer, timeout: float, log: TextIO) -> AsyncIterator[tuple[Any, list[dict[str, Any]]]]:
    """Start a server, whose standard error goes to ``log``; gives its client and its tools in MCP's shape."""
    import anyio
    import httpx2
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if server.url is None:
            transport: Any = stdio_client(StdioServerParameters.model_validate(server.model_dump()), log)
        else:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=server.headers, timeout=timeout))
            transport = streamable_http_client(server.url, http_client=http)
        client = await stack.enter_async_context(Client(transport, read_timeout_seconds=timeout))
        with anyio.fail_after(timeout):
            tools = await _tools(client)
        yield client, tools


async def _tools(client: Any) -> list[dict[str, Any]]:
    """All tools, page by page."""
    tools: list[dict[str, Any]] = []
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise ValueError(f"its list of tools does not end: {len(tools):,} in {_MOST_PAGES} pages")


def _text(block: Any) -> str:
    """A block of a result as text; the model is told of what is none."""
    inner = getattr(block, "resource", block)
    if isinstance(text := getattr(inner, "text", None), str):
        return text
    return f"[{block.type}, {getattr(inner, 'mime_type', None) or 'of unknown type'}: not shown]"


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
    if isinstance(error, TimeoutError) or "timed out" in str(error).lower():
        return f"no answer within {timeout:g} seconds"
    return " ".join(str(error).split())[:300] or type(error).__name__
