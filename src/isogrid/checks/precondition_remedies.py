"""Preconditions that would prove an array free of races. They are about data, sizes and scalars, so the author has to
know them.

y[at[i]] = x[i]                           ig.require(ig.distinct(at))
y[i // w, i % w] = x[i]                   ig.require(w > 0)
s[i] = s[i + 1 if i < N - 1 else 0]       ig.require(N % 2 == 0), for one colour of two at a time
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.formula import AtLeastZero, Both, Either, Formula, IsZero, Known, NotZero, Unknown
from isogrid.analysis.symbolic.polynomial import Polynomial
from isogrid.analysis.symbolic.races import Unproved
from isogrid.checks.trials import Trials, mends
from isogrid.diagnostics.report import Remedy
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX
from isogrid.ir.walk import visit

_MOST_ARRAYS = 3
#: Remainders by more are seldom colours.
_MOST_COLOURS = 16
_MOST_SIZES = 3
_MOST_SCALARS = 3


def precondition_remedies(trials: Trials, pair: Unproved) -> tuple[Remedy, ...]:
    """At most one, tried out by the proof."""
    return _about_data(trials, pair) or _about_scalars(trials, pair) or _about_sizes(trials, pair)


def _about_data(trials: Trials, pair: Unproved) -> tuple[Remedy, ...]:
    for name in sorted(_index_arrays(trials.proof.context, trials.kernel, pair))[:_MOST_ARRAYS]:
        for kind, words in (("distinct", "no two entries of `{}` are equal"), ("is_sorted", "`{}` is sorted")):
            text = f"ig.{kind}({name})"
            if not trials.races_given(k.ArrayFact(kind, name, text), pair.first.array):
                return (Remedy(f"if {words.format(name)}, say so first in the body: `ig.require({text})`"),)
    return ()


def _index_arrays(c: Context, kernel: k.Kernel, pair: Unproved) -> set[str]:
    """Integer arrays that the kernel only reads and whose elements the two indices, or guards on them, depend on."""
    written = {node.array for node in visit(kernel.body) if isinstance(node, k.Store | k.Atomic)}
    readable = {
        p.name
        for p in kernel.parameters
        if isinstance(p, k.ArrayParameter) and p.element.is_integer and p.name not in written
    }
    loads = {
        atom.definition[0].removeprefix("load ")
        for atom in c.atoms.values()
        if atom.definition is not None and atom.definition[0].startswith("load ")
    }
    return readable & loads if any(p.atoms() for p in pair.first.indices) else set()


def _about_scalars(trials: Trials, pair: Unproved) -> tuple[Remedy, ...]:
    """A width or stride by which indices are split or multiplied, and which may be negative or 0 as it stands."""
    for name in sorted(_factors(trials.proof.context, pair) & _signed(trials.kernel))[:_MOST_SCALARS]:
        scalar = next(p for p in trials.kernel.parameters if p.name == name)
        assert isinstance(scalar, k.ScalarParameter)
        value = k.ScalarValue(name, scalar.type)
        clause = k.Require(k.Compare("gt", value, k.Const(0, scalar.type)), f"{name} > 0")
        if mends(trials.with_requirements((clause,)), pair.first.array):
            text = f"if `{name}` is always positive, say so first in the body: `ig.require({clause.text})`"
            return (Remedy(text),)
    return ()


def _signed(kernel: k.Kernel) -> set[str]:
    return {p.name for p in kernel.parameters if isinstance(p, k.ScalarParameter) and p.type.is_signed}


def _factors(c: Context, pair: Unproved) -> set[str]:
    """Scalars that divide something the accesses depend on, or are a factor in an index."""
    found = {n for p in (*pair.first.indices, *pair.second.indices) for m in p.terms if len(m) > 1 for n in m}
    for operation, arguments in _definitions(c, pair):
        if operation in ("floordiv", "mod") and isinstance(arguments[1], Polynomial):
            found |= arguments[1].atoms()
    return {name.removeprefix("$") for name in found if name.startswith("$")}


def _definitions(c: Context, pair: Unproved) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What the indices and guards of both accesses are worked out from."""
    accesses = (pair.first, pair.second)
    open_ = [name for access in accesses for g in access.guards for name in _names(g)]
    open_ += [name for access in accesses for p in access.indices for name in sorted(p.atoms())]
    seen: set[str] = set()
    while open_:
        name = open_.pop()
        definition = c.atoms[name].definition if name in c.atoms and name not in seen else None
        seen.add(name)
        if definition is not None:
            yield definition
            open_ += [n for x in definition[1] if isinstance(x, Polynomial) for n in sorted(x.atoms())]


def _about_sizes(trials: Trials, pair: Unproved) -> tuple[Remedy, ...]:
    """Sizes that hold every colour equally often: the last neighbours on a ring or torus then differ in colour."""
    sizes = _sizes_of(trials.kernel, pair.first.array)
    for colours in sorted(_colours(trials.proof.context, pair)):
        for count in range(1, len(sizes) + 1):
            for chosen in combinations(sizes, count):
                clauses = tuple(_multiple(name, colours) for name in chosen)
                if mends(trials.with_requirements(clauses), pair.first.array):
                    return (Remedy(_words(chosen, colours, clauses)),)
    return ()


def _sizes_of(kernel: k.Kernel, array: str) -> list[str]:
    """The dimensions that are extents of the array, if they are few."""
    for p in kernel.parameters:
        if isinstance(p, k.ArrayParameter) and p.name == array:
            names = list(dict.fromkeys(e.name for e in p.shape if isinstance(e, k.DimValue)))
            return names if len(names) <= _MOST_SIZES else []
    return []


def _multiple(size: str, colours: int) -> k.Require:
    remainder = k.Binary("mod", k.DimValue(size), k.Const(colours, INDEX), INDEX, checked=False)
    return k.Require(k.Compare("eq", remainder, k.Const(0, INDEX)), f"{size} % {colours} == 0")


def _words(sizes: tuple[str, ...], colours: int, clauses: tuple[k.Require, ...]) -> str:
    named = " and ".join(f"`{name}`" for name in sizes)
    are = "is always" if len(sizes) == 1 else "are always"
    what = "even" if colours == 2 else f"a multiple of {colours}" if len(sizes) == 1 else f"multiples of {colours}"
    lines = ", ".join(f"`ig.require({clause.text})`" for clause in clauses)
    return f"if {named} {are} {what}, say so first in the body: {lines}"


def _colours(c: Context, pair: Unproved) -> set[int]:
    """Literals by which the guards and indices of both accesses take remainders."""
    found: set[int] = set()
    for operation, arguments in _definitions(c, pair):
        if operation == "mod" and isinstance(arguments[1], Polynomial) and not arguments[1].atoms():
            divisor = arguments[1].constant_term
            if isinstance(divisor, int) and 2 <= divisor <= _MOST_COLOURS:
                found.add(divisor)
    return found


def _names(f: Formula) -> Iterator[str]:
    """The atoms that a condition depends on."""
    match f:
        case Known():
            return
        case AtLeastZero(p) | IsZero(p) | NotZero(p):
            yield from p.atoms()
        case Unknown():
            yield f.name
        case Both(parts) | Either(parts):
            for part in parts:
                yield from _names(part)
