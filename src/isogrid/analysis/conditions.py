"""What a truth value says about integers: facts where it holds, facts where it does not."""

from dataclasses import dataclass

from isogrid.analysis.linear import Polynomial, number_polynomial
from isogrid.analysis.ranges import NEVER, Facts


@dataclass(frozen=True, slots=True)
class Condition:
    """`holds` and `fails` are facts; `unequal_holds` and `unequal_fails` are polynomials that are then not 0."""

    holds: Facts = ()
    fails: Facts = ()
    unequal_holds: tuple[Polynomial, ...] = ()
    unequal_fails: tuple[Polynomial, ...] = ()

    @property
    def negated(self) -> "Condition":
        return Condition(self.fails, self.holds, self.unequal_fails, self.unequal_holds)


UNKNOWN = Condition()
ALWAYS = Condition(fails=(NEVER,))


def constant_condition(value: bool) -> Condition:
    return ALWAYS if value else ALWAYS.negated


def compared(op: str, left: Polynomial, right: Polynomial) -> Condition:
    """The meaning of a comparison of two integers."""
    match op:
        case "lt":
            return Condition(holds=((right - left).plus(-1),), fails=(left - right,))
        case "le":
            return Condition(holds=(right - left,), fails=((left - right).plus(-1),))
        case "gt":
            return compared("lt", right, left)
        case "ge":
            return compared("le", right, left)
        case "eq":
            difference = left - right
            return Condition(holds=(difference, difference.scaled(-1)), unequal_fails=(difference,))
        case "ne":
            return compared("eq", left, right).negated
        case _:
            raise AssertionError(op)


def conjunction(left: Condition, right: Condition) -> Condition:
    """Both hold. That they do not both hold says what follows from either one's failing."""
    fails, unequal = _of_either(left.fails, right.fails), ()
    if left == ALWAYS:
        fails, unequal = right.fails, right.unequal_fails
    elif right == ALWAYS:
        fails, unequal = left.fails, left.unequal_fails
    return Condition(left.holds + right.holds, fails, left.unequal_holds + right.unequal_holds, unequal)


def _of_either(left: Facts, right: Facts) -> Facts:
    """What follows from the facts of both sides, one by one: `x >= 3` and `x >= 5` both give `x >= 3`."""
    shared: list[Polynomial] = []
    for one in left:
        for other in right:
            distance = (one - other).constant
            if distance is not None:
                shared.append(one if distance >= 0 else other)
    return tuple(shared)


def disjunction(left: Condition, right: Condition) -> Condition:
    return conjunction(left.negated, right.negated).negated


def as_number(condition: Condition) -> tuple[tuple[Polynomial, Facts], tuple[Polynomial, Facts]]:
    """The two values of `int(condition)`, each with what then holds."""
    return (number_polynomial(1), condition.holds), (number_polynomial(0), condition.fails)
