"""Findings as data, their rendering, and a page for every code."""
