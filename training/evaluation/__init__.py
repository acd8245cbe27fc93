"""What a model is measured on: held-out examples, teacher-forced scores, files for ``tooldecoding eval``."""
