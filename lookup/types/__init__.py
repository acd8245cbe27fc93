"""Documented types: their names, and unions of them."""
