"""What sums and scans of a group say of numbers that are not negative: places of kept elements, each with one owner.

before = ig.group_scan(i32(keep), exclusive=True)
if keep:
    s[before] = x                two threads that keep have different `before`, below `kept`
else:
    s[kept + lid - before] = x   two that do not have different `lid - before`, which is not negative
for k in range(end - n, end):    runs of n elements do not meet, where `end` is the scan of n with its own
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, THREAD, Context, Scan
from isogrid.analysis.symbolic.integers import fact_once
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import ONE, ZERO, Polynomial
from isogrid.analysis.symbolic.sides import Side, is_uniform
from isogrid.ir import kernel as k

_Pair: TypeAlias = tuple[Polynomial, Polynomial]


def group_total(c: Context, s: k.Collective, value: Polynomial) -> Polynomial:
    """The result of a sum or scan of checked integers, with what is known of it."""
    _note_flags(c, value)
    scan = s.op == "scan"
    counted = prove(c, value, c.facts, None, 2)
    p = c.fresh(f"group {s.op}", THREAD if scan else GROUP, nonnegative=counted or s.type.is_unsigned)
    if counted:
        before = p - value if scan and not s.exclusive else p
        _note(c, Scan(before, value, total=not scan))
        if prove(c, ONE - value, c.facts, None, 2):
            # What is missing from 1 adds up to what is missing from the number of threads.
            _note(c, Scan((_places(c) if scan else Polynomial.constant(c.size)) - before, ONE - value, total=not scan))
    return p


def _note_flags(c: Context, value: Polynomial) -> None:
    """Conditions that are counted as 0 and 1."""
    for name in sorted(value.atoms()):
        definition = c.atoms[name].definition
        if definition is not None and definition[0] == "bool":
            p = Polynomial.atom(name)
            fact_once(c, p, ONE - p)
            c.flags[name] = definition[1][0]


def _note(c: Context, found: Scan) -> None:
    """The result is not negative, and a thread's own value and what stands before it are at most the total."""
    c.scan_facts.append(found.result)
    for other in c.scans:
        if other.value == found.value and other.total is not found.total:
            total, scan = (found, other) if found.total else (other, found)
            c.scan_facts.append(total.result - scan.result - scan.value)
    c.scans.append(found)


def _places(c: Context) -> Polynomial:
    return Polynomial.constant(np.arange(c.size, dtype=np.int64)) if c.size > 1 else ZERO


def own_places(c: Context, a: Side, b: Side, digits: list[_Pair], uniform: frozenset[str]) -> Iterator[_Pair]:
    """Threads of one group that agree in a place which a scan gives to one of them are the same."""
    for left, right in digits:
        names = left.atoms()
        for scan in c.scans:
            if (
                not scan.total
                and not names.isdisjoint(scan.result.atoms())
                and _own(c, a, b, left, right, scan, uniform)
            ):
                yield _places(c), _places(c)


def _own(
    c: Context, a: Side, b: Side, left: Polynomial, right: Polynomial, scan: Scan, uniform: frozenset[str]
) -> bool:
    # What stands before the earlier and the later thread differs by at least the value of the earlier, and with their
    # own values by at least that of the later.
    rests = [(left - total, right - total) for total in (scan.result, scan.result + scan.value)]
    if any(rest == other and is_uniform(rest, uniform) for rest, other in rests):
        return all(prove(c, scan.value.shift(-1), side.facts, side.mask, 2) for side in (a, b))
    # Runs as long as the values lie one behind the other.
    return _in_run(c, a, left, scan) and _in_run(c, b, right, scan)


def _in_run(c: Context, side: Side, place: Polynomial, scan: Scan) -> bool:
    into = place - scan.result
    return prove(c, into, side.facts, side.mask, 2) and prove(
        c, (scan.value - into).shift(-1), side.facts, side.mask, 2
    )
