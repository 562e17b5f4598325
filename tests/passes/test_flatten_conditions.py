"""Guarded loads are made without their condition only where that is cheap, proved in range, and nobody writes."""

import pytest

from isogrid.analysis.facts import LaunchFacts
from isogrid.ir import kernel as k
from isogrid.passes.remove_proved_checks import remove_proved_checks
from tests.passes.snapshot import body_after, dedented


def proved(kernel: k.Kernel) -> k.Kernel:
    return remove_proved_checks(kernel, LaunchFacts())


FLAT = [
    (
        "if ($n == 3) or (x[gid(0)!] == 1.0:f32):\n  z[gid(0)!] = 1",
        "if ($n == 3) | (x[gid(0)] == 1.0:f32):\n  z[gid(0)] = 1",
    ),
    # Inside out, and by a local.
    (
        "i:i64 = gid(0)\nif ($n == 3) or (($n == 2) and (x[i!] == 1.0:f32)):\n  z[i!] = 1",
        "i:i64 = gid(0)\nif ($n == 3) | (($n == 2) & (x[i] == 1.0:f32)):\n  z[i] = 1",
    ),
    (
        "y[gid(0)!] = x[gid(0)!] if ($n == 3) else 0.0:f32",
        "y[gid(0)] = select($n == 3, x[gid(0)], 0.0:f32):f32",
    ),
    # A guard outside is one of every thread that gets there.
    (
        "if ($n >= 0) and ($n < #N):\n  z[gid(0)!] = 1 if (($a > 0.0:f32) and (x[$n!] > 0.0:f32)) else 0",
        "if ($n >= 0) and ($n < #N):\n  z[gid(0)] = 1 if (($a > 0.0:f32) & (x[$n] > 0.0:f32)) else 0",
    ),
]

#: What stays, but for its proved checks.
KEPT = [
    # Only the condition keeps the element in range: the whole of it, or one side.
    "i:i64 = gid(0)\nif (i > 0) and (x[(i -! 1)!] == 1.0:f32):\n  z[i!] = 1",
    "i:i64 = gid(0)\ny[i!] = x[(i -! 1)!] if (i > 0) else x[i!]",
    # The index would be another one without the condition.
    "i:i64 = gid(0)\nif (i == 0) and (x[(0 if (i == 0) else #N)!] == 1.0:f32):\n  z[i!] = 1",
    # A check is left, which must not be made for others.
    "i:i64 = gid(0)\nif ($n == 3) and (x[$n!] == 1.0:f32):\n  z[i!] = 1",
    "i:i64 = gid(0)\nif ($n < 5) and (z[i!] == ($n +! $n)):\n  z[i!] = 1",
    # Somebody may write the element.
    "i:i64 = gid(0)\nif ($n == 3) or (z[i!] == 1):\n  z[i!] = 1",
    # What is loaded decides where to load.
    "i:i64 = gid(0)\nt:i64 = z[i!]\nif (t >= 0) and (t < #N):\n  if ($n == 3) or (x[t!] == 1.0:f32):\n    z[i!] = 1",
    # Slow, and not defined for all operands.
    "i:i64 = gid(0)\nif ($n == 3) or ((x[i!] / $a) == 1.0:f32):\n  z[i!] = 1",
    # Nothing is loaded: lowering decides.
    "i:i64 = gid(0)\nif ($n == 3) or (i == 1):\n  z[i!] = 1",
]


@pytest.mark.parametrize(("before", "after"), FLAT)
def test_a_cheap_side_is_evaluated_for_all(before: str, after: str) -> None:
    assert body_after(proved, before) == dedented(after)


@pytest.mark.parametrize("before", KEPT)
def test_other_sides_keep_their_condition(before: str) -> None:
    after = body_after(proved, before)
    assert after.replace("!", "") == dedented(before).replace("!", "")
