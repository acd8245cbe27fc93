"""Who lets the model call tools: our own agent, or a client of a server with OpenAI's interface."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from eval.agents.tasks import SYSTEM
from tooldecoding.chat.documentation import json_schema
from tooldecoding.chat.tools import read_tools

if TYPE_CHECKING:
    from tooldecoding.decoder import ToolDecoder

MOST_TURNS: Final = 6
"""Turns of the model for one message of the user."""
Tool = Callable[..., Any]
Ask = Callable[[str], str]
"""What the user says -> the answer; goes on with the conversation. The tools run in between."""


def own_agent(decoder: "ToolDecoder", tools: Sequence[Tool]) -> Ask:
    """Return a conversation with ``tooldecoding.agents.agent.Agent``."""
    from tooldecoding.agents.agent import Agent

    agent = Agent(decoder, tools, max_turns=MOST_TURNS)
    agent.messages.append({"role": "system", "content": SYSTEM})

    def ask(said: str) -> str:
        texts = [event.content for event in agent.run(said) if event.kind == "text"]
        return texts[-1] if texts else ""

    return ask


def openai_loop(url: str, model: str, tools: Sequence[Tool], seconds: float) -> Ask:
    """Return a conversation by openai's chat completions in a plain loop."""
    from openai import APIStatusError, OpenAI

    client = OpenAI(base_url=url, api_key="none", timeout=seconds, max_retries=0)
    by_name = {tool.__name__: tool for tool in tools}
    lookup = read_tools(list(tools)).lookup
    documentation: Any = [{"type": "function", "function": json_schema(tool)} for tool in lookup.tools]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]

    def ask(said: str) -> str:
        messages.append({"role": "user", "content": said})
        for _ in range(MOST_TURNS):
            try:
                reply = client.chat.completions.create(model=model, messages=messages, tools=documentation)
            except APIStatusError:  # such as a conversation that has become too long
                return ""
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                content = "error: unknown kind of call"
                if call.type == "function":
                    content = _ran(by_name, call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return ""

    return ask


def _ran(tools: dict[str, Tool], name: str, arguments: str) -> str:
    """Return the result of a call as text, or what is wrong with it."""
    try:
        returned = tools[name](**json.loads(arguments))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"error: {type(error).__name__}: {error}"
    return returned if isinstance(returned, str) else json.dumps(returned, ensure_ascii=False)


def pydantic_ai(url: str, model: str, tools: Sequence[Tool], seconds: float) -> Ask:
    """Return a conversation by pydantic-ai."""
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    chat = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(chat, system_prompt=SYSTEM, tools=list(tools), model_settings={"timeout": seconds})
    history: list[Any] = []

    def ask(said: str) -> str:
        try:
            run = agent.run_sync(said, message_history=history, usage_limits=UsageLimits(request_limit=MOST_TURNS))
        except AgentRunError:
            return ""
        history[:] = run.all_messages()
        return str(run.output)

    return ask


def openai_agents(url: str, model: str, tools: Sequence[Tool], seconds: float) -> Ask:
    """Return a conversation by openai-agents."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from agents.exceptions import AgentsException
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    functions = [function_tool(tool, strict_mode=False) for tool in tools]
    history: list[Any] = []

    async def run(said: str) -> str:
        async with AsyncOpenAI(base_url=url, api_key="none", timeout=seconds, max_retries=0) as client:
            chat = OpenAIChatCompletionsModel(model, client)
            agent = Agent(name="trial", instructions=SYSTEM, tools=functions, model=chat)
            told = await Runner.run(agent, [*history, {"role": "user", "content": said}], max_turns=MOST_TURNS)
            history[:] = told.to_input_list()
            return str(told.final_output or "")

    def ask(said: str) -> str:
        try:
            return asyncio.run(run(said))
        except AgentsException:
            return ""

    return ask


CLIENTS: Final = {"openai": openai_loop, "pydantic-ai": pydantic_ai, "openai-agents": openai_agents}
