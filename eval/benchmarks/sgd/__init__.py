"""Calls of the Schema-Guided Dialogue dataset."""
