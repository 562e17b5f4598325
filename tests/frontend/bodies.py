"""Building and running small bodies: what the tests of this folder share."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.frontend.build import build
from isogrid.frontend.define import define
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.verify import verify


def built(function: Callable[..., Any], specialisation: Specialisation | None = None, **options: Any) -> k.Kernel:
    """The verified kernel IR of a function; the grid is the dimension N unless given."""
    from isogrid.dims import N

    definition = define(function, **({"grid": N} | options))
    kernel = build(definition, specialisation or Specialisation())
    verify(kernel)
    return kernel


def statements(block: k.Block) -> Iterator[k.Statement]:
    """Every statement, nested ones included, in the order of the text."""
    for statement in block:
        yield statement
        match statement:
            case k.If():
                yield from statements(statement.then)
                yield from statements(statement.otherwise)
            case k.While():
                yield from statements(statement.prelude)
                yield from statements(statement.body)
            case k.For() | k.Scope():
                yield from statements(statement.body)
            case _:
                pass


def types_of(kernel: k.Kernel) -> dict[str, Scalar]:
    """The type of every local that is assigned or counts a loop."""
    found: dict[str, Scalar] = {}
    for statement in statements(kernel.body):
        if isinstance(statement, k.Assign):
            found[statement.name] = statement.value.type
        elif isinstance(statement, k.For):
            found[statement.counter] = statement.type
    return found


def refusal_codes(function: Callable[..., Any], **options: Any) -> list[str]:
    """Codes of the reports that a body is refused with, in the order of the text; empty if it is accepted."""
    try:
        built(function, **options)
    except ig.KernelRefused as refused:
        return [report.code for report in refused.reports]
    return []


def run(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Launch the function as a kernel on the interpreter."""
    from isogrid.dims import N

    ig.kernel(**({"grid": N} | options))(function).on("interp")(*arguments)


def run_one(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Launch one thread of the function on the interpreter."""
    run(function, *arguments, **({"grid": 1} | options))


def f32(*values: float) -> "np.ndarray[Any, Any]":
    return np.array(values, np.float32)


def i32(*values: int) -> "np.ndarray[Any, Any]":
    return np.array(values, np.int32)


def i64(*values: int) -> "np.ndarray[Any, Any]":
    return np.array(values, np.int64)
