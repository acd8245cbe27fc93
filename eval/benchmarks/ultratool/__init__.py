"""UltraTool: plans whose steps need tools; awareness, selection and usage of tools, stage by stage."""
