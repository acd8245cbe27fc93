"""Reports of finished runs as Markdown with charts, and tables of scored files for the terminal."""
