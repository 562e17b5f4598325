"""Device IR: what a target executes. Flat buffers, machine types, explicit checks, no hidden traps.

What it means. Every operation of an expression is total and pure except `Load`; nothing in an expression traps. A
value that the language would check is computed wrapped, and a `Check` statement before its first use tests it. So the
order of evaluation inside one expression cannot be observed, and statements run in order. Divisors of `sdiv srem udiv
urem` and shift amounts are in range whenever the thread gets there (a `Check` stands before them); the index of a
`Load`, `Store` or `Atomic` likewise.

    kernel saxpy ungrouped rank 1
      buffer x: f32 global in
      buffer y: f32 global inout
      let i = thread(0)
      let t0 = load x[i]
      let t1 = fmul(arg.a, t0)
      store y[i] = fadd(t1, load y[i])

`Let` names are assigned exactly once, dominate their uses and do not change; `Set` assigns the mutable variables that
`Kernel.variables` declares. Buffers are flat: `index` counts elements and is an i64 (or i32 where narrowed).
"""

from dataclasses import field
from enum import Enum
from typing import TypeAlias

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir.kernel import ArrayParameter, Geometry, Require, ScalarParameter
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.records import dataclass


class Machine(Enum):
    """A machine type. Integers have no sign; the operation says how their bits are read."""

    I1 = "i1"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    F32 = "f32"
    F64 = "f64"

    __hash__ = object.__hash__

    @property
    def bits(self) -> int:
        return int(self.value[1:])

    @property
    def is_float(self) -> bool:
        return self in (Machine.F32, Machine.F64)


@dataclass(frozen=True, slots=True)
class Literal:
    """`bits` are the two's complement or IEEE bits, as a non-negative integer."""

    bits: int
    type: Machine
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a `Let` name or of a mutable variable."""

    name: str
    type: Machine
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """A scalar parameter or a dimension of this launch: `kind` is "scalar" or "dim". Launch-uniform."""

    kind: str
    name: str
    type: Machine
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Special:
    """A coordinate of this thread, i64: `kind` is thread (gid), local (lid), group, or the launch-uniform extent and
    groups (grid extent and number of groups along `axis`). Block extents are literals."""

    kind: str
    axis: int
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def type(self) -> Machine:
        return Machine.I64


@dataclass(frozen=True, slots=True)
class Op:
    """A machine operation from `OPERATIONS`; all operands are evaluated, nothing traps."""

    op: str
    arguments: tuple["Expr", ...]
    type: Machine
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """Element `buffer[index]` as stored (no widening: a cast follows). A bool is loaded as i1."""

    buffer: str
    index: "Expr"
    type: Machine
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Expr: TypeAlias = Literal | Value | Argument | Special | Op | Load

#: Machine operations: name -> (number of operands, meaning).
OPERATIONS: dict[str, tuple[int, str]] = {
    "iadd": (2, "sum modulo 2^n"),
    "isub": (2, "difference modulo 2^n"),
    "imul": (2, "product modulo 2^n"),
    "ineg": (1, "negation modulo 2^n"),
    "sdiv": (2, "signed quotient, truncated"),
    "srem": (2, "signed remainder, sign of the dividend"),
    "udiv": (2, "unsigned quotient"),
    "urem": (2, "unsigned remainder"),
    "iand": (2, "bitwise and (also of i1)"),
    "ior": (2, "bitwise or (also of i1)"),
    "ixor": (2, "bitwise exclusive or (also of i1)"),
    "inot": (1, "bitwise complement (also of i1)"),
    "shl": (2, "shift left, amount below the width"),
    "lshr": (2, "logical shift right, amount below the width"),
    "ashr": (2, "arithmetic shift right, amount below the width"),
    "smin": (2, "signed minimum"),
    "smax": (2, "signed maximum"),
    "umin": (2, "unsigned minimum"),
    "umax": (2, "unsigned maximum"),
    "ieq": (2, "equal bits"),
    "ine": (2, "different bits"),
    "slt": (2, "signed less"),
    "sle": (2, "signed less or equal"),
    "ult": (2, "unsigned less"),
    "ule": (2, "unsigned less or equal"),
    "sadd_overflows": (2, "whether the signed sum leaves the type"),
    "ssub_overflows": (2, "whether the signed difference leaves the type"),
    "smul_overflows": (2, "whether the signed product leaves the type"),
    "uadd_overflows": (2, "whether the unsigned sum leaves the type"),
    "usub_overflows": (2, "whether the unsigned difference leaves the type"),
    "umul_overflows": (2, "whether the unsigned product leaves the type"),
    "smulhi": (2, "upper half of the signed double-width product"),
    "umulhi": (2, "upper half of the unsigned double-width product"),
    "popcount": (1, "number of one bits"),
    "clz": (1, "number of leading zero bits, the width for 0"),
    "ctz": (1, "number of trailing zero bits, the width for 0"),
    "rotl": (2, "rotate left, amount modulo the width"),
    "fadd": (2, "IEEE sum"),
    "fsub": (2, "IEEE difference"),
    "fmul": (2, "IEEE product"),
    "fdiv": (2, "IEEE quotient"),
    "fneg": (1, "sign bit flipped"),
    "fabs": (1, "sign bit cleared"),
    "fsqrt": (1, "correctly rounded square root"),
    "fma": (3, "a * b + c, rounded once"),
    "ffmod": (2, "exact C fmod"),
    "ffloor": (1, "largest integral value not above"),
    "fceil": (1, "smallest integral value not below"),
    "ftrunc": (1, "integral value towards zero"),
    "froundeven": (1, "nearest integral value, halves to even"),
    "fmin": (2, "IEEE 754-2019 minimum: NaN propagates, -0 < +0"),
    "fmax": (2, "IEEE 754-2019 maximum: NaN propagates, -0 < +0"),
    "fcopysign": (2, "magnitude of the first, sign bit of the second"),
    "feq": (2, "ordered equal"),
    "fne": (2, "unordered or different"),
    "flt": (2, "ordered less"),
    "fle": (2, "ordered less or equal"),
    "fisnan": (1, "whether the operand is a NaN"),
    "select": (3, "second if the first (i1) else third; both evaluated"),
    "trunc": (1, "low bits"),
    "sext": (1, "sign-extended"),
    "zext": (1, "zero-extended (also i1)"),
    "sitofp": (1, "signed integer to float, rounded once"),
    "uitofp": (1, "unsigned integer to float, rounded once"),
    "fptosi": (1, "float to signed integer towards zero; a check stands before it"),
    "fptoui": (1, "float to unsigned integer towards zero; a check stands before it"),
    "fpext": (1, "f32 to f64, exact"),
    "fptrunc": (1, "f64 to f32, rounded once"),
    "f16_value": (1, "f32 value of an f16, which is its bits (i16)"),
    "f16_bits": (1, "bits (i16) of an f32 rounded once to f16; every NaN gives the canonical one"),
    "bf16_value": (1, "f32 value of a bf16, which is its bits (i16)"),
    "bf16_bits": (1, "bits (i16) of an f32 rounded once to bf16; every NaN gives the canonical one"),
    "bits": (1, "same bits, other type of the same width"),
}


@dataclass(frozen=True, slots=True)
class Let:
    """`start` is a hint that changes no result: what follows corrects any value within 2^-18 of this one, and in f32
    any within 2^-22 and an infinity where the operand is subnormal."""

    name: str
    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)
    start: bool = field(default=False, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Set:
    name: str
    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    buffer: str
    index: Expr
    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Atomic:
    """Atomic update of `buffer[index]`; `op` as in kernel IR, `element` decides how bits are read.

    `total` is the number of the trap site for an add whose mathematical total may leave the type, else None. The
    mutable variable `target` gets the element as it was, where it has a name.
    """

    op: str
    buffer: str
    index: Expr
    value: Expr
    expected: Expr | None
    element: Scalar
    total: int | None = None
    target: str = ""
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Check:
    """If `ok` (i1) is false the thread traps here, at site `site`, with these operands, and does nothing more."""

    ok: Expr
    site: int
    operands: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: "Block"
    otherwise: "Block" = ()
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)
    #: Whether the condition seldom holds: a hint for the layout of code, which changes no result and is not printed.
    rare: bool = field(default=False, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """Run `body` for trip = 0 .. trips-1 (an unsigned i64, evaluated once); `counter`, a `Let` name in the body, is
    start + trip * step in the counter's type, modulo 2^n. `unroll` as in kernel IR."""

    counter: str
    start: Expr
    step: Expr
    trips: Expr
    body: "Block"
    type: Machine
    unroll: int = 0
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """Run `body` again and again until a `Break`. `bounded` is False when nothing proves that it ends."""

    body: "Block"
    unroll: int = 0
    bounded: bool = False
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    label: str
    body: "Block"
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """Go to the end of the enclosing `Scope` of this label."""

    label: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return:
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Collective:
    """Group operation of kernel IR: the mutable variable `target` gets the result in every thread. `scalar` is the
    language's type of the value; `total` is the trap site of a checked sum or scan, else None."""

    op: str
    target: str
    value: Expr
    scalar: Scalar
    exclusive: bool = False
    total: int | None = None
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """A barrier of each warp. All threads of the group come here; `active`, the same for a warp, says which warps take
    part, None that all do."""

    active: Expr | None = None
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WarpCollective:
    """Warp operation of kernel IR: the mutable variable `target` gets the result. `op` is sum min max scan any all
    ballot, or shuffle, the only one with a `lane`: an i64 in 0..width-1, whose value this thread gets. `active` is as
    for a warp barrier; a warp that takes no part gets anything."""

    op: str
    target: str
    value: Expr
    lane: Expr | None
    scalar: Scalar
    exclusive: bool = False
    total: int | None = None
    active: Expr | None = None
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Agree:
    """The mutable variable `target` is True in every thread if `value` (i1) is True in some thread of the group that
    has not trapped. It orders nothing and ends no interval; lowering puts it where warps of a group part."""

    target: str
    value: Expr
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fill:
    """Set every element of the thread's local buffer to zero."""

    buffer: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Statement: TypeAlias = (
    Let
    | Set
    | Store
    | Atomic
    | Check
    | If
    | For
    | Loop
    | Scope
    | Leave
    | Break
    | Continue
    | Return
    | Barrier
    | Collective
    | WarpBarrier
    | WarpCollective
    | Agree
    | Fill
)
Block: TypeAlias = tuple[Statement, ...]
Node: TypeAlias = Expr | Statement


@dataclass(frozen=True, slots=True)
class Buffer:
    """`count` is the number of elements of a shared, local or table buffer, None for a parameter.

    `access` is that of the parameter; `zeroed` tells whether a shared buffer must be zero before the group starts;
    `data` holds a table's little-endian bytes.
    """

    name: str
    element: Scalar
    space: Space
    count: int | None = None
    access: Access = Access.INOUT
    zeroed: bool = True
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel ready for a target. Host-side facts (parameters, geometry, preconditions) stay in kernel-IR form.

    `exact` says that it holds sequences, those of elementary functions, that are right only if every float operation is
    rounded as written: no `fastmath` applies to such a kernel.

    The order of traps is spec 1.8: ungrouped kernels by linear gid, grouped ones by group, interval, warp, thread.
    """

    name: str
    parameters: tuple[ScalarParameter | ArrayParameter, ...]
    dims: tuple[str, ...]
    geometry: Geometry
    grouped: bool
    buffers: tuple[Buffer, ...]
    variables: tuple[tuple[str, Machine], ...]
    requires: tuple[Require, ...]
    sites: tuple[TrapSite, ...]
    body: Block
    warp: int = 32
    deterministic: bool = True
    races: str = "prove"
    reason: str = ""
    exact: bool = False
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)
