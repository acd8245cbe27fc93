"""Reports of finished runs as Markdown with charts, and tables of scored files for the terminal."""

from eval.report.document import write_report

__all__ = ["write_report"]
