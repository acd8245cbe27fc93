"""Work spread over a Ray cluster; only ``cluster.py``, ``connection.py`` and ``actors.py`` import Ray."""
