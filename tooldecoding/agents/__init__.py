"""Agents: the model calls tools of MCP servers and Python functions until it answers with text."""
