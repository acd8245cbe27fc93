"""Work spread over a Ray cluster; only ``cluster.py`` and ``actors.py`` import Ray."""
