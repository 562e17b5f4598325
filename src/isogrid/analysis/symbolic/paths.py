"""Paths that part and meet: conditional exits, merged environments, values nothing is known about."""

from collections.abc import Callable
from dataclasses import replace

from isogrid.analysis.symbolic.context import Context, Exit, Value
from isogrid.analysis.symbolic.expressions import merge
from isogrid.analysis.symbolic.formula import Formula, Unknown, both, negate
from isogrid.analysis.symbolic.polynomial import Polynomial


def guard_remaining(c: Context, e: Exit) -> None:
    """After a conditional exit only the threads that did not take it go on."""
    c.control.append(c.level(e.condition))
    c.guards.append(negate(e.condition))


def chosen(exits: list[Exit], wanted: Callable[[Exit], bool]) -> list[Exit]:
    """The wanted ones of a list in which each condition presumes that no earlier exit was taken; an earlier exit that
    is left out is then denied in the condition itself."""
    found: list[Exit] = []
    passed: list[Formula] = []
    for e in exits:
        if wanted(e):
            found.append(replace(e, condition=both(*passed, e.condition)) if passed else e)
        else:
            passed.append(negate(e.condition))
    return found


def unknown_like(c: Context, prefix: str, level: int, sample: Value) -> Value:
    """A fresh value of the kind of `sample`."""
    p = c.fresh(prefix, level)
    return p if isinstance(sample, Polynomial) else Unknown(next(iter(p.terms))[0], level)


def merge_environment(c: Context, condition: Formula, a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """Values after two paths meet; a name that one path lacks is not read afterwards."""
    merged: dict[str, Value] = {}
    for name, value in a.items():
        other = b.get(name)
        merged[name] = value if other is None or other is value else merge(c, condition, value, other)
    for name, value in b.items():
        merged.setdefault(name, value)
    return merged


def join(c: Context, exits: list[Exit], falls: bool) -> bool:
    """Let the threads of `exits` continue here beside those that fall through; says whether anyone is here."""
    for e in reversed(exits):
        if falls:
            c.environment = merge_environment(c, e.condition, e.environment, c.environment)
            c.intervals = c.intervals | e.intervals
            c.warp_intervals = c.warp_intervals | e.warp_intervals
        else:
            c.environment = dict(e.environment)
            c.intervals, c.warp_intervals = e.intervals, e.warp_intervals
            falls = True
    return falls
