"""Tools that make what `isogrid.mathlib` is made of: coefficients, compiled functions, digests."""
