"""Rewrites of kernel IR; none changes a result."""
