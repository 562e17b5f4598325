"""What a call checks before an accepted loop runs: index ranges against lengths, coefficients not zero, trip counts."""

from collections.abc import Mapping
from typing import Any

from isogrid.analysis.linear import Polynomial
from isogrid.ir import kernel as k
from isogrid.launch.errors import LaunchValueError
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.offloading.context import author_name
from isogrid.offloading.forms import Forms
from isogrid.offloading.proof import Accepted
from isogrid.offloading.ranges import IndexCheck, scalars_for_locals
from isogrid.support.records import dataclass

_MOST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one call: scalars (parameters and locals so far) and sizes."""

    scalars: Mapping[str, Any]
    dims: Mapping[str, int]

    def of(self, forms: Forms, value: Polynomial) -> int:
        """A fixed polynomial, exactly."""
        total = 0
        for monomial, factor in value.terms:
            for atom in monomial:
                expression = forms.atoms[atom].value
                assert expression is not None
                factor *= self.expression(expression)
            total += factor
        return total

    def expression(self, node: k.Expr) -> int:
        return int(evaluate(scalars_for_locals(node), self.scalars, self.dims))


def iterations(function: str, number: int, loop: k.For, values: Values) -> range:
    """The iterations of a loop at this call. Raises where there are more than any launch may have."""
    assert isinstance(loop.step, k.Const)
    try:
        found = range(values.expression(loop.start), values.expression(loop.stop), loop.step.value)
    except CannotEvaluate as fault:
        raise LaunchValueError(f"{function}(): the bounds of loop {number} have no value: {fault}") from None
    distance = found.stop - found.start
    if abs(distance) > _MOST and bool(found):
        raise LaunchValueError(
            f"{function}(): loop {number} runs from {found.start} to {found.stop}, which is 2^63 iterations or more"
        )
    return found


def check_loop(
    function: str, number: int, accepted: Accepted, checks: list[IndexCheck], trips: range, values: Values,
    shapes: Mapping[str, tuple[int, ...]],
) -> None:  # fmt: skip
    """Raise `LaunchValueError` for the first thing that the proof assumed and that does not hold."""
    forms = accepted.candidate.forms
    counter = accepted.candidate.counter
    for written in accepted.written.values():
        if written.kind in ("scaled", "image") and len(trips) > 1:
            _check_coefficient(function, number, accepted, written.array, written.kind, written.coefficient, values)
    for check in checks:
        slope, rest = values.of(forms, check.coefficient), values.of(forms, check.rest)
        ends = sorted((slope * trips[0] + rest, slope * trips[-1] + rest))
        length = shapes[check.array][check.axis]
        if ends[0] >= 0 and ends[1] < length:
            continue
        axis = f" along axis {check.axis}" if len(shapes[check.array]) > 1 else ""
        does = "writes" if check.writes else "reads"
        span = f"{trips[0]}..{trips[-1]}" if len(trips) > 1 else f"{trips[0]}"
        raise LaunchValueError(
            f"{function}(): argument `{check.array}` has {length} elements{axis}, and loop {number} {does} "
            f"{check.text} on line {check.line} at indices {ends[0]}..{ends[1]}, for {counter} = {span}"
        )


def _check_coefficient(
    function: str, number: int, accepted: Accepted, array: str, kind: str, coefficient: Polynomial, values: Values
) -> None:
    forms = accepted.candidate.forms
    value = values.of(forms, coefficient)
    if value > 0 or (kind == "scaled" and value < 0):
        return
    text = coefficient_text(forms, coefficient)
    if kind == "scaled":
        raise LaunchValueError(
            f"{function}(): `{text}` is 0, so all iterations of loop {number} would write one element of `{array}`"
        )
    raise LaunchValueError(
        f"{function}(): `{text}` is {value}, and loop {number} divides its rows of `{array}` by it: it must be above 0"
    )


def coefficient_text(forms: Forms, value: Polynomial) -> str:
    """A fixed polynomial in the author's names."""
    terms: list[str] = []
    for monomial, factor in value.terms:
        names = [_atom_text(forms.atoms[atom].value) for atom in monomial]
        terms.append(" * ".join(([str(factor)] if factor != 1 or not names else []) + names))
    return " + ".join(terms) or "0"


def _atom_text(node: k.Expr | None) -> str:
    match node:
        case k.Local(name=name) | k.ScalarValue(name=name) | k.DimValue(name=name):
            return author_name(name)
        case _:
            return "..."
