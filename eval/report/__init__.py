"""Reports of finished runs; ``eval.report.comparison`` compares scored files in the terminal."""

from eval.report.document import write_report

__all__ = ["write_report"]
