"""Check preconditions on arrays before any thread runs, with NumPy, and name the first element that breaks one.

ig.require(ig.distinct(p))    ->    p[7] is 3, and p[2] is 3
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isogrid.ir import kernel as k
from isogrid.launch.arrays import HostArray as Array
from isogrid.launch.evaluate import evaluate
from isogrid.support.bfloat16 import is_bfloat16
from isogrid.support.errors import CompilerBug


def broken_fact(
    fact: k.ArrayFact, arrays: Mapping[str, Array], scalars: Mapping[str, Any], dims: Mapping[str, int]
) -> str | None:
    """What breaks the fact first, in words; None where it holds. May raise `CannotEvaluate` for a bound."""
    array = arrays[fact.array]
    values = _computed(array.reshape(-1))
    among = np.flatnonzero(arrays[fact.where].reshape(-1)) if fact.where else np.arange(values.size)
    chosen = values[among] if fact.where else values
    places = _offenders(fact, chosen, scalars, dims)

    def shown(position: int) -> str:
        at = int(among[position])
        index = ", ".join(str(int(i)) for i in np.unravel_index(at, array.shape))
        return f"{fact.array}[{index}] is {values[at].item()!r}"

    return ", and ".join(shown(place) for place in places) or None


def _computed(values: Array) -> Array:
    """Elements of f16 and bf16 as the f32 that kernels compute with."""
    return values.astype(np.float32) if values.dtype == np.float16 or is_bfloat16(values.dtype) else values


def _offenders(
    fact: k.ArrayFact, values: Array, scalars: Mapping[str, Any], dims: Mapping[str, int]
) -> tuple[int, ...]:
    """The first place that breaks the fact, and the one that it disagrees with; nothing where the fact holds."""
    match fact.kind:
        case "distinct":
            return _repeated(values)
        case "is_sorted":
            found = _first(~(values[1:] >= values[:-1]))
            return (found[0] + 1, found[0]) if found else ()
        case "all_in_range":
            if fact.low is None or fact.high is None:
                raise CompilerBug("a range without bounds")
            return _first(~_inside(values, evaluate(fact.low, scalars, dims), evaluate(fact.high, scalars, dims)))
        case "all_finite":
            return _first(~np.isfinite(values))
        case kind:
            raise CompilerBug(f"no precondition {kind!r} on arrays")


def _first(wrong: "np.ndarray[Any, Any]") -> tuple[int, ...]:
    places = np.flatnonzero(wrong)
    return (int(places[0]),) if len(places) else ()


def _repeated(values: Array) -> tuple[int, ...]:
    """The first place whose value has occurred before it, and where."""
    order = np.argsort(values, kind="stable")
    again = order[1:][values[order[1:]] == values[order[:-1]]]
    if not len(again):
        return ()
    place = int(again.min())
    return place, int(np.flatnonzero(values == values[place])[0])


def _inside(values: Array, low: Any, high: Any) -> "np.ndarray[Any, Any]":
    """low <= v < high, exactly: a bound of an integer array may lie outside the type of its elements."""
    if values.dtype.kind == "f":
        return (values >= low) & (values < high)
    limits = np.iinfo(values.dtype)
    inside = np.ones(len(values), bool)
    if low > limits.min:
        inside &= (values >= low) if low <= limits.max else False
    if high <= limits.max:
        inside &= (values < high) if high > limits.min else False
    return inside
