"""Names from outside: constants, tables, closures, tunables, dimensions, absent parameters; grouped kernels."""

import enum
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, w32
from isogrid.dims import M, N
from isogrid.frontend.build import build, build_with_constants
from isogrid.frontend.captures import Captures
from isogrid.frontend.define import define
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

from .bodies import built, f32, i32, i64, refusal_codes, run, run_one, statements

SCALE = 2.5
SIZES = (3, (4, 5))
TABLE = np.array([[10, 20], [30, 40]], np.uint8)
TABLE.flags.writeable = False
TILE = ig.tunable(4, 8)
HALF = N // 2


class D(ig.Dim, const=True):
    """A constant dimension."""


class R1(ig.Dim, equals=N + 1):
    """One more than N."""


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 7


class Limits:
    LEAST = 3


def test_numbers_tuples_enumerations_and_closures() -> None:
    def made(offset: int) -> Callable[..., Any]:
        def body(x: InOut[ig.f32, N]) -> None:
            x[0] = x[0] * SCALE + SIZES[1][0] + offset + Colour.GREEN + Limits.LEAST
            x[1] = math.pi if np.pi == math.pi else 0.0

        return body

    run_one(made(100), x := f32(2.0, 0.0))
    assert x.tolist() == [5.0 + 4 + 100 + 7 + 3, float(np.float32(math.pi))]


def test_tables_are_read_with_run_time_indices() -> None:
    def body(n: In[ig.i32, N], y: Out[ig.i32, N]) -> None:
        i = ig.gid()
        y[i] = TABLE[n[i], 1] + TABLE[n[i]][0] + len(TABLE)

    kernel = built(body)
    assert [(t.name, t.element, t.shape, t.data) for t in kernel.tables] == [
        ("TABLE", Scalar.U8, (2, 2), bytes([10, 20, 30, 40]))
    ]
    run(body, i32(1, 0), y := i32(0, 0))
    assert y.tolist() == [72, 32]


def test_constants_are_read_once_and_listed() -> None:
    scope: dict[str, Any] = {"factor": 2.0}

    def body(x: InOut[ig.f32, N]) -> None:
        x[0] = x[0] * factor  # type: ignore[name-defined]  # noqa: F821

    body.__globals__["factor"] = 2.0
    definition = define(body, grid=N, scope=scope)
    captures = Captures()
    first = build_with_constants(definition, Specialisation(), captures)
    body.__globals__["factor"] = 3.0
    assert build(definition, Specialisation(), captures) == first.kernel
    assert first.constants == (("factor", "2.0"),)
    assert build(definition, Specialisation()) != first.kernel
    del body.__globals__["factor"]


@ig.func
def doubled(v: Any) -> Any:
    return v * 2


def test_helpers_and_dtypes_are_listed_too() -> None:
    real = ig.f32

    def body(x: InOut[ig.f32, N]) -> None:
        x[0] = real(x[0]) + ig.f32(doubled(1.0))

    listed = dict(build_with_constants(define(body, grid=N), Specialisation(), Captures()).constants)
    assert listed == {"real": "f32", "doubled": f"the helper in line {doubled.function.__code__.co_firstlineno}"}


def test_tunables_and_constant_dimensions_are_literals() -> None:
    def body(x: InOut[ig.f32, N, D]) -> None:
        buffer = ig.local(ig.f32, (TILE, int(D) + 1))
        for j in range(D):
            buffer[0, j] = x[0, j] * D
        x[0, 0] = buffer[0, 0] + TILE

    kernel = built(body, Specialisation(constants=(("D", 3), ("TILE", 8))))
    (local,) = [s for s in statements(kernel.body) if isinstance(s, k.DeclareLocal)]
    assert local.shape == (8, 4)
    assert kernel.dims == ("N",)
    assert kernel.parameters[0] == k.ArrayParameter(
        "x", Scalar.F32, (k.DimValue("N"), k.Const(3, Scalar.I64)), ig.InOut.access
    )


def test_dimensions_are_values() -> None:
    def body(p: In[ig.i32, R1], y: Out[ig.i64, N]) -> None:
        y[0] = int(N) * 1000 + R1 * 100 + HALF * 10 + ig.cdiv(N, 4)
        y[1] = p.shape[0] + p.size + len(y)

    run_one(body, i32(0, 0, 0, 0, 0, 0), y := i64(0, 0, 0, 0, 0))
    assert y[:2].tolist() == [5000 + 600 + 20 + 2, 6 + 6 + 5]


def test_a_local_constant_may_be_a_shape() -> None:
    def body(y: Out[ig.f32, N]) -> None:
        width = 4
        tile = ig.local(ig.f32, (width, width * 2))
        y[0] = tile[0, 0]

    (local,) = [s for s in statements(built(body).body) if isinstance(s, k.DeclareLocal)]
    assert local.shape == (4, 8)


def test_absent_parameters_settle_their_branches() -> None:
    def body(x: InOut[ig.f32, N], bias: In[ig.f32, M] | None) -> None:
        i = ig.gid()
        v = x[i]
        if bias is not None and i < len(bias):
            v += bias[i]
        w = 0.0 if bias is None else bias[0]
        x[i] = v + w

    run(body, x := f32(1.0, 2.0), None)
    assert x.tolist() == [1.0, 2.0]
    run(body, x, f32(10.0))
    assert x.tolist() == [21.0, 12.0]


def test_a_scalar_parameter_may_be_assigned() -> None:
    def body(n: ig.i32, y: Out[ig.i32, N]) -> None:
        ig.require(n > 0)
        steps = 0
        while n > 1:
            n //= 2
            steps += 1
        y[0] = ig.i32(steps)

    kernel = built(body)
    assert len(kernel.requires) == 1
    run_one(body, 32, y := i32(0))
    assert y[0] == 5


def test_what_makes_a_kernel_grouped() -> None:
    def plain(y: Out[ig.i64, N]) -> None:
        y[ig.gid()] = ig.grid_size()

    def with_lid(y: Out[ig.i64, N]) -> None:
        y[ig.gid()] = ig.lid()

    def with_sum(y: Out[ig.i64, N]) -> None:
        y[ig.gid()] = ig.group_sum(1)

    def with_shared(y: Out[ig.i64, N]) -> None:
        tile = ig.shared(ig.i64, 4)
        y[ig.gid()] = tile[0]

    assert [built(b).grouped for b in (plain, with_lid, with_sum, with_shared)] == [False, True, True, True]


def test_queries_of_several_axes() -> None:
    def body(y: Out[ig.i64, N, M]) -> None:
        i, j = ig.gids()
        y[ig.gids()] = i * 100 + j * 10 + ig.gid()

    run(body, y := np.zeros((2, 3), np.int64), grid=(N, M))
    assert y.tolist() == [[0, 11, 22], [103, 114, 125]]


def test_group_size_is_a_constant() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        tile = ig.shared(ig.i64, ig.group_size())
        tile[ig.lid()] = ig.group_size()
        y[ig.gid()] = tile[ig.lid()]

    assert built(body, block=64).shared[0].shape == (64,)


def test_group_operations_are_statements_in_order() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        i = ig.gid()
        y[i] = x[i] + ig.group_sum(x[i]) * ig.group_max(x[i])

    kernel = built(body, block=4)
    kinds = [type(s).__name__ for s in kernel.body]
    assert kinds == ["Assign", "Assign", "Collective", "Collective", "Store"]


def test_exchanges_of_one_value_are_accepted() -> None:
    def good(value: ig.i32, flag: InOut[ig.i32, N], lock: InOut[w32, M]) -> None:
        ig.atomic_exchange(flag, 0, value + 1)
        ig.atomic_cas(lock, (0,), 0, 1)

    assert refusal_codes(good) == []

    def bad(flag: InOut[ig.i64, N]) -> None:
        ig.atomic_exchange(flag, 0, ig.gid() % 2)

    assert refusal_codes(bad) == ["IG140"]


def test_preconditions_of_scalars_and_sizes() -> None:
    def body(n: ig.i32, x: InOut[ig.f32, N]) -> None:
        """Doubles."""
        ig.require(0 < n <= N)
        ig.require(ig.is_power_of_two(n) and x.shape[0] % 2 == 0)
        x[ig.gid()] *= 2.0

    kernel = built(body)
    assert [r.text for r in kernel.requires] == ["0 < n <= N", "ig.is_power_of_two(n) and x.shape[0] % 2 == 0"]
    assert not any(isinstance(s, k.Evaluate) for s in kernel.body)
