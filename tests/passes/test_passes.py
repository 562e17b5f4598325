"""What each pass does, as IR text before and after; what it must leave alone stands beside it."""

from collections.abc import Callable

import pytest

from isogrid.ir import kernel as k
from isogrid.passes.fold_constants import fold_constants
from isogrid.passes.hoist_invariants import hoist_invariants
from isogrid.passes.remove_dead import remove_dead
from isogrid.passes.simplify_indices import simplify_indices
from isogrid.passes.unroll_loops import unroll_loops
from tests.passes.snapshot import body_after, dedented

FOLD = [
    ("i:i64 = (2 *! 3) +! 4\nz[i!] = i", "i:i64 = 10\nz[10!] = 10"),
    # A trap stays where it stands.
    ("i:i64 = 1 //! 0\nz[0!] = i", "i:i64 = 1 //! 0\nz[0!] = i"),
    ("i:i64 = 9223372036854775807 +! 1\nz[0!] = i", "i:i64 = 9223372036854775807 +! 1\nz[0!] = i"),
    # A decided branch stands alone.
    ("i:i64 = 4\nif i < 5:\n  z[0!] = 1\nelse:\n  z[0!] = 2", "i:i64 = 4\nz[0!] = 1"),
    # What a loop assigns is not known in it, nor after it.
    (
        "i:i64 = 1\nfor j:i64 in range(0, $n, 1):\n  z[j!] = i\n  i = i +! 1\nz[0!] = i",
        "i:i64 = 1\nfor j:i64 in range(0, $n, 1):\n  z[j!] = i\n  i = i +! 1\nz[0!] = i",
    ),
    # After a branch a literal is known only if no branch assigned it.
    (
        "i:i64 = 1\nj:i64 = 2\nif $n > 3:\n  i = 5\nz[i!] = j",
        "i:i64 = 1\nj:i64 = 2\nif $n > 3:\n  i = 5\nz[i!] = 2",
    ),
    # Loops from literals that have no trip; with a step of 0 one traps, and an atomic in it names its total.
    ("for j:i64 in range(4, 4, 1):\n  z[j!] = j\nz[0!] = 1", "z[0!] = 1"),
    ("for j:i64 in range(1, 2, -1):\n  z[j!] = j", ""),
    ("for j:i64 in range(4, 5, 1):\n  z[j!] = j", "for j:i64 in range(4, 5, 1):\n  z[j!] = j"),
    ("for j:i64 in range(4, 4, 0!):\n  z[j!] = j", "for j:i64 in range(4, 4, 0!):\n  z[j!] = j"),
    ("for j:i64 in range(4, 4, 1):\n  atomic_add!(z[j!], j)", "for j:i64 in range(4, 4, 1):\n  atomic_add!(z[j!], j)"),
]

SIMPLIFY = [
    ("z[gid(0)!] = ((gid(0) * 1) + 0) // 1", "z[gid(0)!] = gid(0)"),
    ("z[gid(0)!] = (gid(0) * 12) // 12", "z[gid(0)!] = gid(0)"),
    # The product may trap, so it is computed.
    ("z[gid(0)!] = (gid(0) *! 12) // 12", "z[gid(0)!] = (gid(0) *! 12) // 12"),
    ("z[gid(0)!] = (gid(0) * 12) % 12", "z[gid(0)!] = 0"),
    ("z[gid(0)!] = z[gid(0)!] * 0", "z[gid(0)!] = z[gid(0)!] * 0"),
    # The complement of an ordered float comparison is not a comparison.
    (
        "if not($a < 1.0:f32):\n  z[0!] = 1\nif not($n < 1):\n  z[1!] = 1",
        "if not($a < 1.0:f32):\n  z[0!] = 1\nif $n >= 1:\n  z[1!] = 1",
    ),
]

DEAD = [
    ("i:i64 = gid(0)\nj:i64 = i + 1\nz[i!] = 1", "i:i64 = gid(0)\nz[i!] = 1"),
    # An unused value is evaluated for its trap.
    ("i:i64 = $n //! gid(0)\nz[0!] = 1", "eval $n //! gid(0)\nz[0!] = 1"),
    ("v:f32 = x[$n!]\nz[0!] = 1", "eval x[$n!]\nz[0!] = 1"),
    ("if $n > 0:\n  i:i64 = 4\nreturn\nz[0!] = 1", "return"),
    ("for j:i64 in range(0, $n, 1):\n  i:i64 = j", ""),
    ("for j:i64 in range(0, 9, $n!):\n  i:i64 = j", "for j:i64 in range(0, 9, $n!):\n"),
]

UNROLL = [
    ("for j:i64 in range(0, 2, 1):\n  z[j!] = j", "z[0!] = 0\nz[1!] = 1"),
    ("for j:i64 in range(3, 0, -2):\n  z[j!] = j", "z[3!] = 3\nz[1!] = 1"),
    ("for j:i64 in range(0, 2, 1) unroll 1:\n  z[j!] = j", "for j:i64 in range(0, 2, 1) unroll 1:\n  z[j!] = j"),
    ("for j:i64 in range(0, $n, 1):\n  z[j!] = j", "for j:i64 in range(0, $n, 1):\n  z[j!] = j"),
    # A local of one trip gets a name of its own in each copy; one that lives on does not.
    (
        "t:i64 = 0\nfor j:i64 in range(0, 2, 1):\n  u:i64 = j *! 2\n  t = t +! u\nz[0!] = t",
        "t:i64 = 0\nu:i64 = 0 *! 2\nt = t +! u\nu.u1:i64 = 1 *! 2\nt = t +! u.u1\nz[0!] = t",
    ),
    # `break` leaves all copies, `continue` its own.
    (
        "for j:i64 in range(0, 2, 1):\n  if $n == j:\n    break\n  if $n > j:\n    continue\n  z[j!] = j",
        "scope unrolled.1:\n"
        "  scope trip.1:\n    if $n == 0:\n      leave unrolled.1\n    if $n > 0:\n      leave trip.1\n    z[0!] = 0\n"
        "  scope trip.2:\n    if $n == 1:\n      leave unrolled.1\n    if $n > 1:\n      leave trip.2\n    z[1!] = 1",
    ),
]

HOIST = [
    (
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, $n, 1):\n  s = s + ($a * $a)\ny[0!] = s",
        "s:f32 = 0.0:f32\nhoisted.1:f32 = $a * $a\nfor j:i64 in range(0, $n, 1):\n  s = s + hoisted.1\ny[0!] = s",
    ),
    # The loop may not run, so its checked index says nothing before it.
    (
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, $n, 1):\n  s = s + x[$n]\ny[0!] = s",
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, $n, 1):\n  s = s + x[$n]\ny[0!] = s",
    ),
    (
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, 99, 1):\n  s = s + x[$n]\ny[0!] = s",
        "s:f32 = 0.0:f32\nhoisted.1:f32 = x[$n]\nfor j:i64 in range(0, 99, 1):\n  s = s + hoisted.1\ny[0!] = s",
    ),
    # Under a guard, after a check, or from an array that is written, a load stays.
    (
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, 99, 1):\n  if $n < #N:\n    s = s + x[$n]\ny[0!] = s",
        "s:f32 = 0.0:f32\nhoisted.1:bool = $n < #N\n"
        "for j:i64 in range(0, 99, 1):\n  if hoisted.1:\n    s = s + x[$n]\ny[0!] = s",
    ),
    (
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, 99, 1):\n  z[$n!] = j\n  s = s + x[$n]\ny[0!] = s",
        "s:f32 = 0.0:f32\nfor j:i64 in range(0, 99, 1):\n  z[$n!] = j\n  s = s + x[$n]\ny[0!] = s",
    ),
    (
        "for j:i64 in range(0, 99, 1):\n  y[j] = y[$n]",
        "for j:i64 in range(0, 99, 1):\n  y[j] = y[$n]",
    ),
]

CASES: list[tuple[Callable[[k.Kernel], k.Kernel], str, str]] = [
    *((fold_constants, *case) for case in FOLD),
    *((simplify_indices, *case) for case in SIMPLIFY),
    *((remove_dead, *case) for case in DEAD),
    *((unroll_loops, *case) for case in UNROLL),
    *((hoist_invariants, *case) for case in HOIST),
]


@pytest.mark.parametrize(("change", "before", "after"), CASES)
def test_pass(change: Callable[[k.Kernel], k.Kernel], before: str, after: str) -> None:
    assert body_after(change, before) == dedented(after)


def loops(*trips: int) -> str:
    """A nest of loops of constant trips around one store."""
    lines = [f"{'  ' * depth}for j{depth}:i64 in range(0, {count}, 1):" for depth, count in enumerate(trips)]
    return "\n".join([*lines, "  " * len(trips) + "z[0!] = 1"])


@pytest.mark.parametrize(
    ("trips", "copies", "kept"),
    [
        ((1,), 1, 0),
        ((16,), 16, 0),
        ((17,), 1, 1),
        ((8, 8), 64, 0),
        ((13, 5), 5, 1),
        ((5, 13), 13, 1),
        ((4, 4, 4), 64, 0),
    ],
)
def test_automatic_unrolling_follows_the_rule(trips: tuple[int, ...], copies: int, kept: int) -> None:
    """1 to 16 trips, and a nested product of at most 64; above that the outer loop stays."""
    text = body_after(unroll_loops, loops(*trips))
    assert (text.count("z[0!] = 1"), text.count("for ")) == (copies, kept)


def test_automatic_unrolling_can_be_switched_off() -> None:
    text = body_after(lambda kernel: unroll_loops(kernel, automatic=False), loops(2))
    assert text.count("for ") == 1
