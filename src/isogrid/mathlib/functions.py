"""Compiled elementary functions: device IR by name and types, as statements that may be put into any kernel.

`python -m tools.mathlib.compile` builds `source/` with the ordinary compiler and writes one kernel per function to
`compiled/`; its input arrays are the parameters, what it stores is the result.
"""

import functools
from pathlib import Path
from typing import Final

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.parse import parse_device
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.errors import CompilerBug
from isogrid.support.records import dataclass

_FOLDER: Final = Path(__file__).parent / "compiled"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of values: run `body` with the parameters bound, then evaluate `result`.

    The body has `Let`, `Set` and `If` statements only; `tables` are the constant buffers that it loads from.
    """

    name: str
    parameters: tuple[tuple[str, Machine], ...]
    variables: tuple[tuple[str, Machine], ...]
    tables: tuple[d.Buffer, ...]
    body: d.Block
    result: d.Expr


def compiled_name(name: str, operand: Scalar) -> str:
    """What the function is called for operands of a type: `exp_f32`."""
    return f"{name}_{operand.value}"


def path_of(name: str, build: str = "") -> Path:
    """The file of a compiled function, or of a build of it for some kind of device."""
    return _FOLDER / (f"{name}.{build}.ir" if build else f"{name}.ir")


def has_build(name: str, build: str) -> bool:
    """Whether the function has a build of its own of this name."""
    return bool(build) and path_of(name, build).exists()


def is_compiled(name: str) -> bool:
    """Whether there is a compiled function of this name."""
    return path_of(name).exists()


@functools.cache
def load(name: str, build: str = "") -> Function:
    """The compiled function in this build where there is one, else the usual; read from its file once."""
    path = path_of(name, build if has_build(name, build) else "")
    return function_of(parse_device(path.read_text()))


def function_of(kernel: d.Kernel) -> Function:
    """The function that a kernel of the form `result[i] = f(x[i], ...)` applies."""
    inputs = [b.name for b in kernel.buffers if b.space is Space.GLOBAL and b.access is Access.IN]
    found: dict[str, tuple[str, Machine]] = {}
    body: list[d.Statement] = []
    *statements, store = kernel.body
    for statement in statements:
        match statement:
            case d.Let(value=d.Special()):
                pass
            case d.Let(value=d.Load(buffer=buffer) as load) if buffer in inputs:
                found[buffer] = (statement.name, load.type)
            case d.Let() | d.Set() | d.If():
                body.append(statement)
            case _:
                raise CompilerBug(f"{kernel.name}: {type(statement).__name__} in an elementary function")
    if not isinstance(store, d.Store) or kernel.sites:
        raise CompilerBug(f"{kernel.name}: an elementary function ends in its only store and cannot trap")
    tables = tuple(b for b in kernel.buffers if b.space is Space.TABLE)
    return Function(
        kernel.name, tuple(found[name] for name in inputs), kernel.variables, tables, tuple(body), store.value
    )
