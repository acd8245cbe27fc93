"""Work in this process, or spread over a Ray cluster; only ``connection.py`` and ``ray_data.py`` import Ray."""
