"""A trial of agents: everyday tasks with tools that do nothing, and checks of what was done and said."""
