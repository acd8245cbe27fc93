"""Capacity planning: what a call costs on larger models, from recorded runs and a model of the machine."""
