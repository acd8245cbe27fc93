"""The commands ``eval``, ``score``, ``report``, ``experiment``, ``tune`` and ``bench``."""
