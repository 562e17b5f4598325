"""Polynomials of the quick builds: near-minimax by Chebyshev interpolation, rounded, and measured again."""

from typing import Any


def quick_constants(module: Any) -> None:
    """Coefficients of the quick builds."""
