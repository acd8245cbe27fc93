"""The commands ``eval``, ``score``, ``report``, ``export``, ``tune`` and ``bench``."""
