"""Tools of MCP servers: what they return, and what happens when a server misbehaves."""

import json
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_models import MCP_STUB, mcp_answering

from running_server import wait_until
from tooldecoding.agents.agent_tools import MOST_RESULT, AgentTool, ToolFailed, runnable
from tooldecoding.agents.servers import McpServer, McpServers, read_mcp_config
from tooldecoding.errors import ConfigError

TOOLS = ["echo", "now", "fail", "hang", "die", "large", "picture"]


def stub(name: str = "stub", **fields: Any) -> McpServer:
    """A server whose tools are those of the stub."""
    return McpServer(**{"name": name, "command": MCP_STUB[0], "args": MCP_STUB[1:]} | fields)


def by_name(servers: McpServers) -> dict[str, AgentTool]:
    return {tool.name: tool for tool in servers.tools}


def test_tools_are_those_of_the_server_and_their_results_are_texts():
    with McpServers([stub(env={"STUB": "set"})]) as running:
        tools = by_name(running)
        assert [*tools] == TOOLS and running.notes == [] and runnable(running.tools) == (running.tools, [])
        assert tools["echo"].hints == "readOnlyHint"
        assert tools["echo"].result({"text": "你好", "times": 2}) == "你好 你好"
        assert tools["picture"].result({}) == "[image, image/png: not shown]"
        assert tools["large"].result({"size": MOST_RESULT}) == "x" * MOST_RESULT
        cut = tools["large"].result({"size": 3_000_000})
        assert cut == "x" * MOST_RESULT + f"\n[cut: the first {MOST_RESULT:,} of 3,000,000 characters]"
        with pytest.raises(ToolFailed, match=r"(?s)no such thing.*cut: the first 20,000 of 30,"):
            tools["fail"].result({"reason": "no such thing" + "x" * 30_000})
        _, pid, said = tools["now"].run({}).split()
        assert said == "set"
    wait_until(lambda: not Path(f"/proc/{pid}").exists())  # the process ends with the context


def test_servers_that_misbehave_get_a_line_and_the_others_go_on():
    silent = stub("silent", args=["-c", "import time; time.sleep(60)"])
    ends = stub("ends", args=["-c", "raise SystemExit('no key')"])
    missing = stub("missing", command="/no/such/program")
    nobody = McpServer(name="nobody", url="http://127.0.0.1:9/mcp")
    with McpServers([silent, ends, missing, nobody, stub()], timeout=8) as running:
        assert [note.split(":")[0] for note in running.notes] == [
            f"MCP server {name}" for name in ("silent", "ends", "missing", "nobody")
        ]
        assert "no answer within 8 seconds" in running.notes[0] and "(no key)" in running.notes[1]
        assert by_name(running)["echo"].run({"text": "on"}) == "on"


def test_an_address_that_says_nothing_does_not_hang():
    with socket.create_server(("127.0.0.1", 0)) as quiet:
        url = f"http://127.0.0.1:{quiet.getsockname()[1]}/sse"
        with McpServers([McpServer(name="quiet", url=url)], timeout=0.1) as running:
            assert running.tools == [] and "no answer within" in running.notes[0]


def test_a_call_that_hangs_or_kills_its_server_fails():
    with McpServers([stub()], timeout=6) as running:
        with pytest.raises(ToolFailed, match="no answer within 6 seconds"):
            by_name(running)["hang"].run({})
        for name in ("die", "echo"):
            with pytest.raises(ToolFailed, match="MCP server stub: "):
                by_name(running)[name].run({"text": "still there?"} if name == "echo" else {})


def answering(tools: Sequence[Any], results: Any = None, name: str = "own", pages: Any = None) -> McpServer:
    command, *args = mcp_answering(tools, results, pages)
    return McpServer(name=name, command=command, args=args)


def test_tools_of_one_name_are_called_by_their_server():
    tools = [{"name": "who"}, {"name": "why"}]
    said = {name: {"who": {"content": [{"type": "text", "text": name}]}} for name in ("天气", "b c")}
    with McpServers([answering(tools, results, name) for name, results in said.items()]) as running:
        assert [*by_name(running)] == ["server1__who", "server1__why", "b_c__who", "b_c__why"]
        assert len(running.notes) == 4 and "b_c__who" in running.notes[2]
        assert [tool.run({}) for tool in running.tools[::2]] == [*said]


def test_a_tool_twice_in_one_list_and_a_flood_of_words_spoil_nothing():
    with McpServers([answering([{"name": "twice"}] * 2), answering([{"name": "once"}])], timeout=20) as running:
        assert [tool.name for tool in running.tools] == ["twice", "twice", "once"] and running.notes == []
        usable, [note] = runnable(running.tools)
        assert [tool.name for tool in usable] == ["twice", "once"] and "another tool has this name" in note


def page(name: str, cursor: Any = None) -> dict[str, Any]:
    """A page with one tool, and the cursor behind it."""
    return {"tools": [{"name": name}]} | ({} if cursor is None else {"nextCursor": cursor})


@pytest.mark.parametrize(
    ("pages", "listed", "said"),
    [
        ({"": page("a", "1"), "1": page("b", "2"), "2": page("c")}, "abc", ""),
        ({"": page("a", "1"), "1": page("b", "")}, "ab", ""),
        ({"": page("a", "1"), "1": page("a", "1")}, "a", "gives a cursor twice"),
        ({"": page("a", "1"), "1": page("b", "1")}, "ab", "gives a cursor twice"),
        ({"": page("a", "1"), "1": page("b", "2"), "2": page("c", "1")}, "abc", "gives a cursor twice"),
        ({"": page("a", "0")} | {f"{n}": page("b", f"{n + 1}") for n in range(200)}, "ab", "within 100 pages"),
        ({"": page("a", "1"), "1": {"tools": 3}}, "a", "ends early: it answers with something else"),
        ({"": page("a", "1"), "1": None}, "a", "ends early: no answer within"),
    ],
    ids=["two cursors", "an empty one", "the same page", "itself", "a circle", "no end", "no page", "silence"],
)  # fmt: skip
def test_what_came_of_a_list_of_tools_stays(pages: Any, listed: str, said: str) -> None:
    with McpServers([answering([], {"a": {"content": [FIVE]}}, pages=pages)], timeout=8) as running:
        assert [tool.name for tool in running.tools] == [*listed] and running.tools[0].run({}) == "five"
        assert len(running.notes) == bool(said) and said in "".join(running.notes)


LINK = {"type": "resource_link", "name": "report", "uri": "file:///r.txt", "mimeType": "text/plain"}
BLOB = {"type": "resource", "resource": {"uri": "file:///r.pdf", "mimeType": "application/pdf", "blob": "aGk="}}
FIVE = {"type": "text", "text": "five"}
PICTURE = {"type": "image", "mimeType": "image/png"}
FAILED = '{"jsonrpc": "2.0", "id": %s, "error": {"code": -32000, "message": "the database timed out"}}'
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


RESULTS: list[tuple[Any, Any, str]] = [
    ({"content": [LINK]}, None, "[resource_link, text/plain: report, file:///r.txt]"),
    ({"content": [BLOB]}, None, "[resource, application/pdf: file:///r.pdf, not shown]"),
    ({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "A"}}]}, None, "[file:///a]\nA"),
    ({"content": [FIVE, {"type": "video"}]}, None, "five\n[video, of unknown type: not shown]"),
    ({"content": [FIVE], "structuredContent": {"n": "five"}}, COUNT, "five"),
    ({"content": [FIVE], "structuredContent": [5]}, COUNT, "five"),
    ({"content": [FIVE]}, COUNT, "five"),
    ({"content": [], "structuredContent": {"n": 5}}, COUNT, '{"n": 5}'),
    ({"content": [], "structuredContent": {"n": 5}}, {"$ref": "#/nowhere"}, '{"n": 5}'),
    ({"content": [], "structuredContent": {"n": "five"}}, COUNT, "breaks its outputSchema"),
    ({"content": [FIVE], "isError": True}, None, "five"),
    ({"content": [FIVE], "isError": "false"}, None, "five"),
    ({}, None, "The tool ran and gave nothing."),
    ({"content": [], "_meta": {}}, None, "The tool ran and gave nothing."),
    ({"isError": True}, None, "the tool failed and did not say why"),
    ({"content": [PICTURE], "structuredContent": {"n": 5}}, COUNT, '[image, image/png: not shown]\n{"n": 5}'),
    ({"content": [FIVE | {"resource": None}], "tools": []}, None, "five"),
    ({"content": [{"type": "text", "text": "half \ud800"}]}, None, "half ?"),
    ([FIVE], None, "expected a result or an error of JSON-RPC, found a list of 1"),
    (FAILED, None, "the database timed out"),
]  # fmt: skip
"""Results of tools, the schemas that they should have, and what the model is told."""


def test_what_a_result_says_is_told() -> None:
    tools = [{"name": f"ask_{n}", "outputSchema": schema} for n, (_, schema, _) in enumerate(RESULTS)]
    results = {f"ask_{n}": result for n, (result, *_) in enumerate(RESULTS)}
    with McpServers([answering(tools, results)]) as running:
        assert running.notes == []
        for tool, (result, _, said) in zip(running.tools, RESULTS, strict=True):
            if "breaks" in said or not isinstance(result, dict) or result.get("isError") is True:
                with pytest.raises(ToolFailed, match=said):
                    tool.run({})
            else:
                assert tool.run({}) == said


@pytest.mark.parametrize("path", ["mcp", "sse"])
def test_servers_at_an_address(path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*MCP_STUB, str(port), *["sse"] * (path == "sse")], stderr=subprocess.DEVNULL)
    try:
        with socket.socket() as tried:
            wait_until(lambda: tried.connect_ex(("127.0.0.1", port)) == 0)
        url = f"http://127.0.0.1:{port}/{path}"
        with McpServers([McpServer(name="web", url=url, headers={"X-Key": "k"}), McpServer.parse(url)]) as running:
            assert [tool.run({"text": "x"}) for tool in running.tools if tool.name.endswith("echo")] == ["x", "x"]
    finally:
        process.kill()
        process.wait()


def test_a_server_is_a_command_line_or_a_url():
    assert McpServer.parse("python -m 'a b'") == McpServer(name="python -m 'a b'", command="python", args=["-m", "a b"])
    assert McpServer.parse(" http://h/mcp ") == McpServer(name="http://h/mcp", url="http://h/mcp")
    for text in ("", "  ", "python 'open"):
        with pytest.raises(ConfigError, match="--mcp"):
            McpServer.parse(text)


def test_the_file_of_other_programs_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("KEY", "secret")
    entries = {
        "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"A": "${KEY}"}, "autoApprove": []},
        "web": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
        "old": {"transport": "sse", "url": "https://h/old"},
        "off": {"command": "${NOT_SET_AT_ALL}", "disabled": True},
        "out": {"command": "x", "enabled": False},
    }
    path = tmp_path / "mcp.json"
    for key in ("mcpServers", "servers"):
        written = json.dumps({key: entries}, indent=1)
        path.write_text(f"// my servers, /* of now\n{written[:-1].rstrip()}, /* and\nmore */\n}}")
        assert read_mcp_config(path) == [
            McpServer(name="time", command="uvx", args=["mcp-server-time"], env={"A": "secret"}),
            McpServer(name="web", type="http", url="https://h/mcp", headers={"Authorization": "Bearer secret"}),
            McpServer(name="old", type="sse", url="https://h/old"),
        ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "JSON with mcpServers"),
        ("[]", "JSON with mcpServers"),
        ("{}", "mcpServers"),
        ('{"mcpServers": {"a": {}}}', "a: expected either command or url"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://h"}}}', "a: expected either"),
        ('{"mcpServers": {"a": {"command": 3}}}', "a.command"),
        ('{"mcpServers": {"a": {"url": "http://h", "type": "ws"}}}', "'stdio', 'http'"),
        ('{"mcpServers": {"a": {"command": "x", "enabled": "no"}}}', "a.enabled"),
        ('{"mcpServers": {"a": {"command": "${NOT_SET_AT_ALL}"}}}', "no variable NOT_SET_AT_ALL"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_place(tmp_path, content, match):
    path = tmp_path / "mcp.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=match):
        read_mcp_config(path)
    with pytest.raises(ConfigError):
        read_mcp_config(tmp_path / "missing.json")
