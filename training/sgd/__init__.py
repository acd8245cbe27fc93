"""Dialogues of the Schema-Guided Dialogue dataset, paraphrased, renamed and with other values."""
