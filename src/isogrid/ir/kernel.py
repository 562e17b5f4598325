"""Kernel IR: a kernel as its author wrote it, typed, with helpers inlined and every construct explicit.

What it means. A kernel runs once per thread. Expressions are evaluated left to right, children before parents, except
`Logical` and `Choose`, which evaluate only what Python would. A step that traps ends its thread at once. A statement
finishes before the next begins. Threads of a group meet at `Barrier` and `Collective`; nothing else orders them.

    kernel saxpy
      grid N
      scalar a: f32
      In x: f32[N]
      InOut y: f32[N]
      i: i64 = gid(0)
      y[i] = mul(a, x[i]) add y[i]

Values. Integers are mathematical integers of their type; a `checked` operation traps when its exact result does not
fit. `checked=False` on an operation of a checked type says that a pass proved that it cannot trap: the interpreter
verifies that claim and raises `CompilerBug` when it is false. Locals are mutable names with one type each; every read
is preceded by an assignment on every path. Spans travel with nodes and do not count in equality.

The expressions stand in `ir/expressions.py` and are reached through this module, as `k.Const`.
"""

from dataclasses import field
from typing import TypeAlias

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir.expressions import Binary as Binary
from isogrid.ir.expressions import Call as Call
from isogrid.ir.expressions import Cast as Cast
from isogrid.ir.expressions import Choose as Choose
from isogrid.ir.expressions import Compare as Compare
from isogrid.ir.expressions import Const as Const
from isogrid.ir.expressions import DimValue as DimValue
from isogrid.ir.expressions import Expr as Expr
from isogrid.ir.expressions import Load as Load
from isogrid.ir.expressions import Local as Local
from isogrid.ir.expressions import Logical as Logical
from isogrid.ir.expressions import Query as Query
from isogrid.ir.expressions import ScalarValue as ScalarValue
from isogrid.ir.expressions import Unary as Unary
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.records import dataclass

# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """Evaluate `value`, then set the local `name` to it."""

    name: str
    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Evaluate `value` for its traps alone and drop the result."""

    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    """Evaluate `value`, then the indices, check the indices axis by axis, narrow the value, store.

    `narrow_checked` says that narrowing `value.type` to the element type `element` may trap.
    """

    array: str
    indices: tuple[Expr, ...]
    value: Expr
    element: Scalar
    space: Space
    checked: tuple[bool, ...]
    narrow_checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Atomic:
    """One atomic update: indices, bounds, `expected` (cas only), `value`, then the update.

    `op` is add min max and or xor exchange cas, or load and store. `total_checked` says that an add on a checked type
    may leave the type in total. The local `target` gets the element as it was, where it has a name; a load has a
    zero as its value, which nothing uses.
    """

    op: str
    array: str
    indices: tuple[Expr, ...]
    value: Expr
    expected: Expr | None
    element: Scalar
    space: Space
    checked: tuple[bool, ...]
    total_checked: bool = True
    target: str = ""
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    """Every thread of the group arrives before any leaves; orders all accesses of the group."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Collective:
    """A group operation: evaluate `value` in every thread, combine in the fixed order, give each thread its result.

    `op` is sum min max scan any all. `type` is that of value and target (bool for any, all). For an exclusive scan
    thread 0 gets zero. It is a barrier.
    """

    op: str
    target: str
    value: Expr
    type: Scalar
    exclusive: bool = False
    total_checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """Every thread of the warp arrives before any leaves; orders all accesses of the warp."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WarpCollective:
    """A warp operation: evaluate `value`, then `lane`, in every thread of the warp; each gets its result.

    `op` is sum min max scan any all, as for a group; ballot, one bit per lane; or shuffle shuffle_up shuffle_down
    shuffle_xor, which take the value of the lane that the integer `lane` names. `type` is that of the value, `result`
    that of the target. The threads of the warp meet here, but nothing orders their accesses to memory.
    """

    op: str
    target: str
    value: Expr
    lane: Expr | None
    type: Scalar
    result: Scalar
    exclusive: bool = False
    total_checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: "Block"
    otherwise: "Block" = ()
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """Evaluate start, stop, step once; the trips are then fixed. `counter` is set at the head of each trip.

    The step is checked first thing after the three values: 0 is `KernelValueError`. Assigning the counter in the body
    changes this trip's value only. `unroll` is the factor asked for: 0 lets the compiler choose, 1 forbids.
    `step_checked` is False where the step is known not to be 0.
    """

    counter: str
    start: Expr
    stop: Expr
    step: Expr
    body: "Block"
    type: Scalar
    unroll: int = 0
    step_checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class While:
    """Run `prelude`, test `condition`, run `body`, again. `continue` goes to the prelude."""

    prelude: "Block"
    condition: Expr
    body: "Block"
    unroll: int = 0
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Run `body`; a `Leave` of the same label inside it (also from inside loops) goes to its end. An inlined helper."""

    label: str
    body: "Block"
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Leave:
    label: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    """Start the next trip of the innermost loop."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return:
    """End this thread."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assert:
    condition: Expr
    message: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DeclareLocal:
    """A per-thread array, zero each time this statement runs unless `zeroed` is False (every read proved written)."""

    name: str
    element: Scalar
    shape: tuple[int, ...]
    zeroed: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Statement: TypeAlias = (
    Assign
    | Evaluate
    | Store
    | Atomic
    | Barrier
    | Collective
    | WarpBarrier
    | WarpCollective
    | If
    | For
    | While
    | Scope
    | Leave
    | Break
    | Continue
    | Return
    | Assert
    | DeclareLocal
)
Block: TypeAlias = tuple[Statement, ...]
Node: TypeAlias = Expr | Statement

# --- the kernel ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    name: str
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArrayParameter:
    """A C-contiguous global array. Each extent is an expression over `DimValue` and `Const`, or a bare `DimValue`
    that this array binds at launch. `name` is the parameter's; an absent optional array is not among the parameters."""

    name: str
    element: Scalar
    shape: tuple[Expr, ...]
    access: Access
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Parameter: TypeAlias = ScalarParameter | ArrayParameter


@dataclass(frozen=True, slots=True)
class SharedArray:
    """One per group, zero before its first thread runs unless `zeroed` is False (every read proved written)."""

    name: str
    element: Scalar
    shape: tuple[int, ...]
    zeroed: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array of the author's: `data` is its C-ordered little-endian bytes."""

    name: str
    element: Scalar
    shape: tuple[int, ...]
    data: bytes
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Require:
    """A precondition over scalars and sizes, checked once per launch; `text` is the clause as written."""

    condition: Expr
    text: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArrayFact:
    """A precondition on the elements of an array that the launch only reads, checked before any thread.

    `kind` is distinct (no two equal), is_sorted (none below the one before it, C order), all_in_range (low <= v < high)
    or all_finite. With `where` it is about the elements whose flag in that array of the same shape is True.
    """

    kind: str
    array: str
    text: str
    low: Expr | None = None
    high: Expr | None = None
    where: str = ""
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Geometry:
    """How many threads: `kind` is "grid" (total threads per axis) or "groups" (groups per axis).

    `extents` and `block` have one entry per axis, 1 to 3; axis 0 is the slowest. Extents are expressions over
    dimensions and scalar parameters; open geometry reads the dimensions `grid.0`, `grid.1`, `grid.2` that the launch
    binds.
    """

    kind: str
    extents: tuple[Expr, ...]
    block: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def group_size(self) -> int:
        size = 1
        for extent in self.block:
            size *= extent
        return size


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel, fully specialised: types, constant dimensions, tunables and absent parameters are settled.

    `grouped` kernels run whole groups: an axis of a grid kernel is padded up to a multiple of its block and `gid` may
    reach past the grid. Other kernels run exactly the grid. `warp` is the logical warp width.

    `deterministic` is False where results may depend on the order of threads. `races` is "prove", "check" (conflicts
    are traps at run time) or "trust" (the author's word, `reason`); nothing is derived from race freedom in the last
    two.
    """

    name: str
    parameters: tuple[Parameter, ...]
    dims: tuple[str, ...]
    geometry: Geometry
    grouped: bool
    shared: tuple[SharedArray, ...]
    tables: tuple[Table, ...]
    requires: tuple[Require, ...]
    body: Block
    warp: int = 32
    deterministic: bool = True
    races: str = "prove"
    reason: str = ""
    facts: tuple[ArrayFact, ...] = ()
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)
