"""The language as tables: operators, conversions, functions, queries, atomics, group operations."""
