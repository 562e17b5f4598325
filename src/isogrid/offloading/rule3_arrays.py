"""R3 for arrays: two iterations never write the same element. Each array fits one class; they are tried in this order.

affine, scaled   `a * i + c`: one `a`, and either one index or constants `c` in 0..|a|-1; `a` not 0, here or at the call
tile             `i * w + x`, where `x` runs over `range(w)` around the write, and `w` is the same in all iterations
image            `[i // w, i % w]`
scatter          `a[k] op= e` on integers with one operator, where nothing else reads the array
"""

from typing import Final, TypeAlias

from isogrid.analysis.linear import Polynomial
from isogrid.ir import kernel as k
from isogrid.offloading.context import Candidate
from isogrid.offloading.finding import Finding
from isogrid.offloading.forms import COUNTER, Forms, Kind, divided
from isogrid.offloading.loop_facts import Access
from isogrid.offloading.scatter import find_scatter
from isogrid.offloading.why_not import explain
from isogrid.support.records import dataclass

Index: TypeAlias = tuple[Polynomial, ...]
_NONE: Final = Polynomial(())


@dataclass(frozen=True, slots=True)
class Written:
    """A written array that was accepted. `kind` is the class, `axis` the one that tells iterations apart,
    `coefficient` what must not be 0 (for an image: must be above 0), `indices` all that is written."""

    array: str
    kind: str
    axis: int
    coefficient: Polynomial
    indices: tuple[Index, ...]
    op: str = ""
    #: Of a tile: where the row of an iteration begins beyond `coefficient * i`.
    offset: Polynomial = _NONE


def judge_array(candidate: Candidate, array: str) -> Written | Finding:
    """The class of one written array, or why it has none."""
    forms = candidate.forms
    writes = [access for access in candidate.facts.of(array) if access.writes]
    if not any(isinstance(write.node, k.Atomic) for write in writes):
        indices = tuple(tuple(forms.of(index) for index in write.node.indices) for write in writes)
        found = _by_axis(forms, array, indices) or _tile(forms, array, writes, indices) or _image(forms, array, indices)
        if found is not None:
            return found
    scattered = find_scatter(candidate, array)
    if isinstance(scattered, str):
        return Written(array, "scatter", 0, _NONE, (), scattered)
    return scattered if isinstance(scattered, Finding) else explain(candidate, array, writes)


def in_own_row(forms: Forms, written: Written, access: Access) -> bool:
    """Whether an access is where no other iteration writes: along the axis that tells iterations apart it has an index
    that is written, or, in a tile, one that covers no more than the row."""
    along = forms.of(access.node.indices[written.axis])
    match written.kind:
        case "affine" | "scaled":
            return any(along == index[written.axis] for index in written.indices)
        case "tile":
            part = forms.linear(along)
            return part is not None and _row(forms, access, *part) == (written.coefficient, written.offset)
        case _:
            return False


# --- affine and scaled -----------------------------------------------------------------------------------------------


def _by_axis(forms: Forms, array: str, indices: tuple[Index, ...]) -> Written | None:
    for axis in range(len(indices[0])):
        coefficient = _apart(forms, [index[axis] for index in indices])
        if coefficient is not None:
            kind = "affine" if coefficient.constant is not None else "scaled"
            return Written(array, kind, axis, coefficient, indices)
    return None


def _apart(forms: Forms, along: list[Polynomial]) -> Polynomial | None:
    """The coefficient of the counter, where these indices along one axis tell iterations apart."""
    parts = [forms.linear(value) for value in along]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    coefficient = known[0][0]
    fixed = all(a == coefficient and forms.fixed(rest) for a, rest in known) and forms.fixed(coefficient)
    if not fixed or coefficient.constant == 0:
        return None
    if all(value == along[0] for value in along):
        return coefficient
    width = coefficient.constant
    if width is None:
        return None
    shared = known[0][1].plus(-known[0][1].offset)
    offsets = [rest.offset for _, rest in known]
    same = all(rest.plus(-rest.offset) == shared for _, rest in known)
    return coefficient if same and all(0 <= c < abs(width) for c in offsets) else None


# --- tiles -----------------------------------------------------------------------------------------------------------


def _tile(forms: Forms, array: str, writes: list[Access], indices: tuple[Index, ...]) -> Written | None:
    for axis in range(len(indices[0])):
        found: set[tuple[Polynomial, Polynomial]] = set()
        for write, index in zip(writes, indices, strict=True):
            part = forms.linear(index[axis])
            row = None if part is None else _row(forms, write, *part)
            if row is None:
                break
            found.add(row)
        else:
            if len(found) == 1:
                width, offset = next(iter(found))
                return Written(array, "tile", axis, width, indices, offset=offset)
    return None


def _row(forms: Forms, write: Access, width: Polynomial, rest: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """Width and offset of the row that an iteration writes, where nested counters cover just `range(width)`."""
    if not forms.fixed(width):
        return None
    covered = _covered(forms, write, rest)
    return covered if covered is not None and covered[0] == width else None


def _covered(forms: Forms, write: Access, value: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """`(size, offset)` where the value runs through offset..offset+size-1 as the nested counters around the write
    run: `x`, `y * w + x`, and so on."""
    for loop in write.loops:
        counter = _counter_of(forms, loop)
        if counter is None or dict(value.terms).get((counter,)) != 1:
            continue
        bound = _unit_bound(forms, loop)
        rest = Polynomial(tuple(term for term in value.terms if term[0] != (counter,)))
        if bound is None or any(counter in monomial for monomial, _ in rest.terms):
            continue
        if forms.fixed(rest):
            return bound, rest
        moving = Polynomial(tuple(t for t in rest.terms if not all(forms.kind(a) is Kind.FIXED for a in t[0])))
        quotient = divided(moving, bound)
        inner = None if quotient is None else _covered(forms, write, quotient)
        if inner is not None and inner[1] == _NONE:
            return bound * inner[0], rest - moving
    return None


def _counter_of(forms: Forms, loop: k.For) -> int | None:
    for number, atom in enumerate(forms.atoms):
        if atom.loop is loop:
            return number
    return None


def _unit_bound(forms: Forms, loop: k.For) -> Polynomial | None:
    """The bound of `range(bound)`, where it is the same in all iterations."""
    match loop.start, loop.step:
        case k.Const(value=0), k.Const(value=1):
            bound = forms.of(loop.stop)
            return bound if forms.fixed(bound) else None
        case _:
            return None


# --- images ----------------------------------------------------------------------------------------------------------


def _image(forms: Forms, array: str, indices: tuple[Index, ...]) -> Written | None:
    """`[i // w, i % w]`: both floor, so each pair belongs to one `i`."""
    first = indices[0]
    if len(first) != 2 or any(index != first for index in indices):
        return None
    counter = Polynomial((((COUNTER,), 1),))
    for (op, *parts), number in _quotients(forms):
        if op != "floordiv" or parts[0] != counter or not forms.fixed(parts[1]):
            continue
        remainder = forms.numbers.get(("mod", *parts))
        if first == (Polynomial((((number,), 1),)), Polynomial((((remainder,), 1),)) if remainder else None):
            return Written(array, "image", 0, parts[1], indices)
    return None


def _quotients(forms: Forms) -> list[tuple[tuple[str, Polynomial, Polynomial], int]]:
    return [(key, number) for key, number in forms.numbers.items() if isinstance(key, tuple) and key[0] == "floordiv"]  # type: ignore[misc]
