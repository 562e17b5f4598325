"""The native launch stub of a kernel: a C-level function that checks usual arguments and launches within 0.2 us.

The code is one function for all kernels (call.ll). What differs is data, built here: a row for each argument, and a
short program over i64 cells that compares sizes, evaluates preconditions and geometry, and fills the argument block.
Whatever the stub cannot express makes `native_call` give None; whatever an argument has that is not plainly usual
makes the stub give the `unusual` object back. Both mean that the launcher in Python does the work.
"""

import ctypes
import functools
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from isogrid.backends.cpu import pool
from isogrid.backends.cpu.artifact import LoadedVariant
from isogrid.backends.cpu.pool import Context
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.builtin_function import FASTCALL, KEYWORDS, lasting, new_builtin
from isogrid.support.records import dataclass

#: Limits of the stack frame in call.ll.
_MOST_SLOTS: Final = 192
_MOST_CELLS: Final = 256
_MOST_ARRAYS: Final = 64

#: Arrays that a launch writes are saved by the stub up to this size; the launcher in Python takes over above it, whose
#: memory for copies is kept from launch to launch.
_MOST_SAVED_BYTES: Final = 1 << 24

_SMALL_MOST: Final = (1 << 31) - 1
_I64_MOST: Final = (1 << 63) - 1

_ABSENT, _ARRAY, _F32, _F64, _INTEGER, _BOOL = range(6)
_NO_CELL: Final = -1
#: Fields of a row.
_ROW: Final = 9

#: Operations of call.ll in the order of their codes.
_OPERATIONS: Final = "constant slot add sub mul floordiv mod min max eq lt le and or not demand range"
_CODES: Final = {name: code for code, name in enumerate(_OPERATIONS.split())}


class Call(ctypes.Structure):
    """`%Call` of call.ll."""

    _fields_ = (
        ("context", Context),
        ("arguments", ctypes.c_int64),
        ("unusual", ctypes.c_void_p),
        ("parameters", ctypes.c_void_p),
        ("program", ctypes.c_void_p),
        ("operations", ctypes.c_int64),
        ("flags", ctypes.c_int64),
        ("ndarray", ctypes.c_void_p),
        ("units_cell", ctypes.c_int64),
        ("most_saved", ctypes.c_int64),
    )


class NotExpressible(Exception):
    """Something that the stub has no operation for; the launcher in Python does it."""


def native_call(
    kernel: k.Kernel,
    variant: LoadedVariant,
    arguments: Sequence[str | None],
    unusual: object,
    *,
    constants: Mapping[str, int] | None = None,
    derived: Sequence[tuple[str, k.Expr]] = (),
    most_units: int | None = None,
    open_extents: Sequence[str] = (),
) -> Callable[..., object] | None:
    """A callable that launches the small variant of `kernel`, or None where that cannot be done natively.

    `arguments` names the parameter of each positional argument, None for an optional parameter that is absent and must
    be None; `open_extents` are dimensions that integers behind them give. `constants` are sizes settled by
    specialisation, `derived` the dimensions that follow from others; a launch of more than `most_units` is not usual.
    The callable returns None when the launch is done and `unusual`, nothing having changed, for anything it does not
    like.
    """
    if not is_describable(kernel, variant):
        return None
    builder = Builder(kernel, variant, dict(constants or {}))
    try:
        rows = [*builder.rows(arguments), *map(builder.extent_row, open_extents)]
        builder.dimensions(derived)
        builder.geometry()
        if most_units is not None:
            builder.limit_units(most_units)
        call = described(variant, rows, builder, unusual)
    except NotExpressible:
        return None
    return new_builtin(kernel.name, pool.native_pool().call_address, FASTCALL, owner_of(call))


def is_describable(kernel: k.Kernel, variant: LoadedVariant) -> bool:
    """Whether there is a native side, and room in its frame for the kernel's arguments."""
    arrays = sum(isinstance(p, k.ArrayParameter) for p in kernel.parameters)
    if not pool.is_supported() or not _numpy_layout_holds():
        return False
    return variant.facts.layout.slots <= _MOST_SLOTS and arrays <= _MOST_ARRAYS


@dataclass(slots=True)
class Builder:
    """Collects the rows and the program of one kernel. A cell is an i64 on the stub's stack."""

    kernel: k.Kernel
    variant: LoadedVariant
    constants: dict[str, int]
    program: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    cells: int = 0
    scalars: dict[str, int] = field(default_factory=dict[str, int])
    shapes: dict[str, int] = field(default_factory=dict[str, int])
    dims: dict[str, int] = field(default_factory=dict[str, int])
    units: int = 0

    # --- arguments ---------------------------------------------------------------------------------------------------

    def rows(self, arguments: Sequence[str | None], hidden: Container[str] = ()) -> list[tuple[int, ...]]:
        """One row for each argument, and cells for the sizes and integers that come with it. No argument gives what is
        `hidden`."""
        parameters = {p.name: p for p in self.kernel.parameters if p.name not in hidden}
        if sorted(name for name in arguments if name is not None) != sorted(parameters):
            raise NotExpressible
        return [self._absent() if name is None else self._row(parameters[name]) for name in arguments]

    def extent_row(self, dimension: str) -> tuple[int, ...]:
        """An integer argument that is the size of a dimension."""
        cell = self.dims[dimension] = self._new()
        return (_INTEGER, self.variant.facts.layout.dims[dimension], 0, _SMALL_MOST, 0, 0, 0, cell, 0)

    @staticmethod
    def _absent() -> tuple[int, ...]:
        return (_ABSENT, 0, 0, 0, 0, 0, 0, _NO_CELL, 0)

    def _row(self, parameter: k.Parameter) -> tuple[int, ...]:
        slot = self.variant.facts.layout.parameters[parameter.name]
        match parameter:
            case k.ScalarParameter(name=name, type=type):
                return self._scalar(name, type, slot)
            case k.ArrayParameter(name=name, element=element, shape=shape, access=access):
                self.shapes[name] = self._new(len(shape))
                number, other = element.numpy_numbers
                shadow = self.variant.facts.layout.shadows.get(name, 0)
                cell = self.shapes[name]
                return (_ARRAY, slot, number, other, element.size, len(shape), access.writes, cell, shadow)

    def _scalar(self, name: str, type: Scalar, slot: int) -> tuple[int, ...]:
        like = _scalar_type(type)
        if type is Scalar.F32:
            return (_F32, slot, 0, 0, like, type.size, 0, _NO_CELL, 0)
        if type is Scalar.F64:
            return (_F64, slot, 0, 0, like, type.size, 0, _NO_CELL, 0)
        if type is Scalar.BOOL:
            return (_BOOL, slot, 0, 0, like, type.size, 0, _NO_CELL, 0)
        self.scalars[name] = self._new()
        bound = _SMALL_MOST if type.is_checked else _I64_MOST
        least, most = max(type.minimum, -bound), min(type.maximum, bound)
        return (_INTEGER, slot, least, most, like, type.size, 0, self.scalars[name], 0)

    def _new(self, count: int = 1) -> int:
        first = self.cells
        self.cells += count
        return first

    # --- sizes -------------------------------------------------------------------------------------------------------

    def dimensions(self, derived: Sequence[tuple[str, k.Expr]]) -> None:
        """Bind every dimension to a cell, demand that equal ones are equal, and put them into the block."""
        axes = [
            (extent, self.shapes[p.name] + axis)
            for p in self.kernel.parameters
            if isinstance(p, k.ArrayParameter)
            for axis, extent in enumerate(p.shape)
            if p.name in self.shapes
        ]
        for name, value in self.constants.items():
            self.dims[name] = self._constant(value)
        for extent, cell in axes:
            if isinstance(extent, k.DimValue):
                self.dims.setdefault(extent.name, cell)
        for name, expression in derived:
            self._derive(name, expression)
        for extent, cell in axes:
            expected = self.value(extent)
            if expected != cell:
                self._demand_equal(expected, cell)
        for name, slot in self.variant.facts.layout.dims.items():
            self._emit("slot", slot, self._dimension(name))
        for require in self.kernel.requires:
            self._emit("demand", 0, self.value(require.condition))

    def _derive(self, name: str, expression: k.Expr) -> None:
        if name not in self.dims and name not in self.kernel.dims:
            return
        cell = self.value(expression)
        self._emit("range", 0, cell, _SMALL_MOST)
        if name in self.dims:
            self._demand_equal(self.dims[name], cell)
        else:
            self.dims[name] = cell

    def _dimension(self, name: str) -> int:
        if name not in self.dims:
            raise NotExpressible
        return self.dims[name]

    def _demand_equal(self, left: int, right: int) -> None:
        self._emit("demand", 0, self._result("eq", left, right))

    def constant_slot(self, slot: int, bits: int) -> None:
        """Put 64 bits, as a signed integer, into a slot of the block whatever the arguments are."""
        self._emit("slot", slot, self._constant(bits))

    # --- geometry ----------------------------------------------------------------------------------------------------

    def geometry(self) -> None:
        """Evaluate the extents, put them into the block, and compute the number of units."""
        geometry, facts = self.kernel.geometry, self.variant.facts
        extents = [self.value(extent) for extent in geometry.extents]
        for slot, cell in zip(facts.layout.extents, extents, strict=True):
            self._emit("range", 0, cell, _SMALL_MOST)
            self._emit("slot", slot, cell)
        groups = extents
        if geometry.kind == "grid" and self.kernel.grouped:
            groups = [self._ceiling(e, b) for e, b in zip(extents, geometry.block, strict=True)]
        whole = self.kernel.grouped or geometry.kind == "groups"
        count = self._product(groups)
        threads = self._result("mul", count, self._constant(geometry.group_size)) if whole else count
        self._emit("range", 0, threads, _SMALL_MOST)
        match facts.unit:
            case "groups":
                self.units = count
            case "threads":
                self.units = threads
            case "rows":
                if whole:
                    raise NotExpressible
                self.units = self._product(extents[:-1])

    def limit_units(self, most: int) -> None:
        """Demand that there are at most so many."""
        self._emit("demand", 0, self._result("le", self.units, self._constant(most)))

    def _ceiling(self, extent: int, block: int) -> int:
        if block == 1:
            return extent
        up = self._result("add", extent, self._constant(block - 1))
        return self._result("floordiv", up, self._constant(block))

    def _product(self, cells: Sequence[int]) -> int:
        return functools.reduce(lambda left, right: self._result("mul", left, right), cells)

    # --- expressions -------------------------------------------------------------------------------------------------

    def value(self, expression: k.Expr) -> int:
        """The cell that holds the value of a launch-constant expression. Exact, or the stub stops there."""
        match expression:
            case k.Const(value=value, type=type) if not type.is_float:
                return self._constant(value)
            case k.DimValue(name=name):
                return self._dimension(name)
            case k.ScalarValue(name=name) if name in self.scalars:
                return self.scalars[name]
            case k.Cast(value=value, type=Scalar.I64) if value.type.is_integer:
                return self.value(value)
            case k.Binary(op=op, left=left, right=right, type=Scalar.I64) if op in _CODES:
                return self._result(op, self.value(left), self.value(right))
            case k.Unary(op="neg", operand=operand, type=Scalar.I64):
                return self._result("sub", self._constant(0), self.value(operand))
            case k.Unary(op="not", operand=operand):
                return self._result("not", self.value(operand), 0)
            case k.Compare(op=op, left=left, right=right) if not left.type.is_float:
                return self._comparison(op, self.value(left), self.value(right))
            case k.Logical(op=op, left=left, right=right):
                return self._result(op, self.value(left), self.value(right))
            case _:
                raise NotExpressible

    def _comparison(self, op: str, left: int, right: int) -> int:
        match op:
            case "gt" | "ge":
                return self._result("lt" if op == "gt" else "le", right, left)
            case "ne":
                return self._result("not", self._result("eq", left, right), 0)
            case _:
                return self._result(op, left, right)

    def _constant(self, value: int) -> int:
        if not -_I64_MOST <= value <= _I64_MOST:
            raise NotExpressible
        target = self._new()
        self._emit("constant", target, value)
        return target

    def _result(self, name: str, left: int, right: int) -> int:
        target = self._new()
        self._emit(name, target, left, right)
        return target

    def _emit(self, name: str, target: int, left: int, right: int = 0) -> None:
        self.program.append((_CODES[name], target, left, right))


@dataclass(frozen=True, slots=True)
class Described:
    """A description for the native side, and the memory and object that it points to."""

    call: Call
    behind: tuple[object, ...]


def owner_of(found: Described) -> tuple[object, ...]:
    """The self of a function made here: a capsule of the description, then what must live as long as the function."""
    capsule, kept = lasting(found.call)
    return (capsule, (kept, *found.behind))


def described(variant: LoadedVariant, rows: list[tuple[int, ...]], builder: Builder, unusual: object) -> Described:
    """What the native side must know of the calls that `rows` and the builder's program are about."""
    if builder.cells > _MOST_CELLS:
        raise NotExpressible
    parameters = np.array(rows, np.int64).reshape(-1, _ROW)
    program = np.array(builder.program, np.int64).reshape(-1, 4)
    call = Call(
        context=variant.context,
        arguments=len(rows),
        unusual=id(unusual),
        parameters=parameters.ctypes.data,
        program=program.ctypes.data,
        operations=len(builder.program),
        flags=2 | variant.facts.can_trap,
        ndarray=id(np.ndarray),
        units_cell=builder.units,
        most_saved=_MOST_SAVED_BYTES,
    )
    return Described(call, (parameters, program, unusual))


def whole_call(native: Callable[..., object], slow: Callable[..., None], unusual: object) -> Callable[..., None]:
    """A callable that launches as `native` does and calls `slow` with the same arguments where `native` will not.

    One machine-code call instead of a Python function around `native`, which would cost more than the launch.
    """
    # A builtin's `__self__` is the object that it was made with.
    capsule, behind, *_ = getattr(native, "__self__")  # noqa: B009
    name: str = getattr(native, "__name__")  # noqa: B009
    owner = (capsule, slow, unusual, behind)
    return new_builtin(name, pool.native_pool().whole_call_address, FASTCALL | KEYWORDS, owner)


@functools.cache
def _scalar_type(type: Scalar) -> int:
    """The address of the type of NumPy scalars of this type, 0 where their values are not where call.ll reads them."""
    values = np.array([1, 2], type.numpy)
    held = all(ctypes.string_at(id(value) + 16, type.size) == value.tobytes() for value in values)
    return id(type.numpy.type) if held else 0


@functools.cache
def _numpy_layout_holds() -> bool:
    """Whether the fields that call.ll reads are where it reads them: not so in a free-threaded or debug Python."""
    array = np.zeros((3, 5), np.float32)[:, 1:]
    at = id(array)
    word = ctypes.c_size_t.from_address
    number = ctypes.c_int32.from_address
    descriptor = word(at + 56).value
    if word(at + 8).value != id(np.ndarray) or descriptor != id(array.dtype):
        return False
    shape = (ctypes.c_int64 * 2).from_address(word(at + 32).value)
    return (
        word(at + 16).value == array.ctypes.data
        and number(at + 24).value == array.ndim
        and tuple(shape) == array.shape
        and number(at + 64).value & 0x501 == 0x500
        and number(descriptor + 28).value == array.dtype.num
        and ctypes.c_char.from_address(descriptor + 26).value == b"="
    )
