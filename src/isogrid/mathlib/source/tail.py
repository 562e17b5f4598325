"""What the tail builds share: the test that decides whether a sum of two f32 rounds as the true value does.

A tail build computes an f32 function as s + low, s an f32 and low its small correction, with f32 operations alone. The
relative error is below 2^-34 or so; the result is settled where everything within it rounds alike, which fails for one
input in some hundred. There, and outside the range of its reduction, the quick build decides.
"""

import isogrid as ig
from isogrid import f32


@ig.func
def settled_f32(s: f32, low: f32, margin: f32) -> tuple[f32, bool]:
    """s + low rounded, and whether a relative error of `margin` cannot change that; a NaN is not settled."""
    above = s + ig.fma(s, margin, low)
    below = s + ig.fma(s, -margin, low)
    return above, above == below
