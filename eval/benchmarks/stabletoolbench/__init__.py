"""StableToolBench: requests that need several calls of RapidAPI's services."""
