"""Can the guards of both threads hold where their indices are equal? Linear inequalities over both at once.

x[i] and x[n - 1 - i] under 2 i < n - 1:  i = n - 1 - j  with  2 i <= n - 2  and  2 j <= n - 2  has no solution
"""

from collections.abc import Iterable
from math import gcd

from isogrid.analysis.elimination import Row, no_solution, tightest
from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.equations import Equation, NotLinear, Term, expand, minus
from isogrid.analysis.symbolic.polynomial import Polynomial, TooLarge
from isogrid.analysis.symbolic.sides import Side

#: Inequalities that are looked at, and steps of shared symbols away from the indices that they may be.
_MOST_ROWS = 40
_REACH = 3
#: Such questions that one kernel may ask: they cost some ten times as much as others.
_MOST_QUESTIONS = 60


def excluded_together(
    c: Context, a: Side, b: Side, digits: Iterable[tuple[Polynomial, Polynomial]], uniform: frozenset[str], across: bool
) -> bool:
    """Whether equal digits of two different threads contradict what is in force at both sides. Products of symbols are
    unknowns of their own, and what is no linear function of the thread's place is left out: both can only lose proofs.
    """
    if c.joint_questions == _MOST_QUESTIONS:
        return False
    c.joint_questions += 1
    c.spend()
    digits = list(digits)
    equal = [e for p, q in digits if (e := _difference(c, p, q, uniform))]
    counted = _counted(c, digits)
    facts = [e for which, side in enumerate((a, b)) for e in _expanded(c, [*counted, *side.facts], which, uniform)]
    symbols = {s for e in equal for t in e for s in t}
    orders = _orders(c, across)
    for order in orders:
        near = _near(symbols | {s for t in order for s in t}, facts)
        inequalities = [*equal, *({t: -v for t, v in e.items()} for e in equal), *near, order]
        if not _unsolvable(c, a, b, inequalities):
            return False
    return bool(orders)


def _orders(c: Context, across: bool) -> list[Equation]:
    """One thread comes before or behind the other along the only axis; along several axes either may be."""
    places = c.group_atoms if across else [f"lid.{axis}" for axis, v in enumerate(c.lids) if v.any()]
    if len(places) != 1:
        return [{}]
    first, second = (f"{places[0]}@0",), (f"{places[0]}@1",)
    return [{first: 1, second: -1, (): -1}, {first: -1, second: 1, (): -1}]


def _unsolvable(c: Context, a: Side, b: Side, inequalities: list[Equation]) -> bool:
    unknowns = sorted({t for e in inequalities for t in e if t})
    ranges = [e for t in unknowns for e in _range(c, (a, b), t)]
    number = {t: at for at, t in enumerate(unknowns)}
    rows = [_row(e, number) for e in (*inequalities, *ranges)]
    if any(not terms and constant < 0 for terms, constant in rows):
        return True
    return no_solution(tuple(tightest(row for row in rows if row[0])))


def _difference(c: Context, p: Polynomial, q: Polynomial, uniform: frozenset[str]) -> Equation | None:
    try:
        return minus(expand(c, p, 0, uniform), expand(c, q, 1, uniform))
    except (NotLinear, TooLarge):
        return None


def _counted(c: Context, digits: list[tuple[Polynomial, Polynomial]]) -> list[Polynomial]:
    """What is known of scans and totals in the indices."""
    if not c.scan_facts:
        return []
    names = {name for pair in digits for p in pair for name in p.atoms()}
    return [p for p in c.scan_facts if not names.isdisjoint(p.atoms())]


def _expanded(c: Context, facts: list[Polynomial], which: int, uniform: frozenset[str]) -> list[Equation]:
    """The facts of one side that are linear in the thread's place. Other questions will ask for them again."""
    found: list[Equation] = []
    for p in facts:
        key = (p, which, uniform)
        if key not in c.equations:
            try:
                c.equations[key] = expand(c, p, which, uniform)
            except (NotLinear, TooLarge):
                c.equations[key] = None
        e = c.equations[key]
        if e is not None:
            found.append(e)
    return found


def _near(symbols: set[str], facts: list[Equation]) -> list[Equation]:
    """The facts that share symbols with what is asked, directly or through each other."""
    known = set(symbols)
    chosen: list[Equation] = []
    left = facts
    for _ in range(_REACH):
        near = [e for e in left if any(s in known for t in e for s in t)]
        left = [e for e in left if not any(s in known for t in e for s in t)]
        chosen += near
        known |= {s for e in near for t in e for s in t}
        if not near or len(chosen) > _MOST_ROWS:
            break
    return chosen[:_MOST_ROWS]


def _range(c: Context, sides: tuple[Side, Side], term: Term) -> list[Equation]:
    """What is known of an unknown by itself: places of threads that may be there, products of what is not negative."""
    if len(term) == 1 and (place := _place(term[0])) is not None:
        axis, which = place
        lids = c.lids[axis][sides[which].guarded.threads]
        return [{term: 1, (): -int(lids.min())}, {term: -1, (): int(lids.max())}]
    return [{term: 1}] if all(_nonnegative(c, s) for s in term) else []


def _place(symbol: str) -> tuple[int, int] | None:
    """Axis and side of a symbol `lid.axis@side`."""
    if not symbol.startswith("lid."):
        return None
    axis, _, side = symbol[4:].partition("@")
    return int(axis), int(side)


def _nonnegative(c: Context, symbol: str) -> bool:
    if _place(symbol) is not None:
        return True
    name = symbol if symbol in c.atoms else symbol[:-2]
    return c.atoms[name].nonnegative


def _row(e: Equation, number: dict[Term, int]) -> Row:
    """In lowest terms. Rounding the constant down is what makes this a proof about integers."""
    terms = sorted((number[t], v) for t, v in e.items() if t)
    constant = e.get((), 0)
    divisor = gcd(*(v for _, v in terms))
    if divisor > 1:
        return tuple([(t, v // divisor) for t, v in terms]), constant // divisor
    return tuple(terms), constant
