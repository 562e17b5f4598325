"""Random well-formed IR: every node kind appears, types agree, names are declared. Meaning is of no concern here."""

from collections.abc import Callable

from hypothesis import strategies as st

from isogrid.builtins.warps import ballot_type
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.operations import (
    ARRAY_FACTS,
    ATOMICS,
    BINARY_SIGNS,
    COLLECTIVES,
    COMPARE_SIGNS,
    QUERIES,
    SHUFFLES,
    SPECIALS,
    STORED_FLOATS,
    WARP_COLLECTIVES,
    machine_type,
    natural_type,
)
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import Access, Scalar, Space

Draw = Callable[[st.SearchStrategy], object]

COMPUTING = [scalar for scalar in Scalar if scalar.is_computing]
INTEGERS = [scalar for scalar in COMPUTING if scalar.is_integer]
NUMBERS = [scalar for scalar in COMPUTING if scalar is not Scalar.BOOL]
NAMES = [
    "i",
    "i.1",
    "clamp3.x",
    "barrier",
    "scope",
    "group_sum",
    "gid",
    "f32",
    "nan",
    "true",
    "größe",
    "odd name",
    "eval",
]


class KernelMaker:
    """Draws one kernel; `locals` are those assigned on every path so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.locals: dict[str, Scalar] = {}
        self.ever: dict[str, Scalar] = {}
        self.arrays: dict[str, k.ArrayParameter | k.SharedArray | k.Table | k.DeclareLocal] = {}
        self.scalars = {"a": Scalar.F32, "n": Scalar.I64, "flag": Scalar.BOOL, "h": Scalar.W32}
        self.dims = ("N", "M", "grid.0")
        self.rank = self.pick([1, 2, 3])
        self.labels: list[str] = []
        self.loops = 0
        self.warp = self.pick([4, 64] if self.rank == 3 else [4])
        self.deterministic = self.flag()
        self.races = self.pick(["prove", "check", "trust"])

    def pick(self, options):
        return self.draw(st.sampled_from(list(options)))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def kernel(self) -> k.Kernel:
        n = k.DimValue("N")
        arrays = [
            k.ArrayParameter("x", Scalar.F32, (n,), Access.IN),
            k.ArrayParameter("y", self.pick(Scalar), (n, k.Const(4, Scalar.I64)), Access.INOUT),
            k.ArrayParameter("z", Scalar.I64, (n, n, k.DimValue("M")), Access.OUT),
        ]
        shared = (k.SharedArray("tile", Scalar.I32, (4, 5), self.flag()),)
        tables = (k.Table("weights", Scalar.I16, (3,), b"\x01\x00\x02\x00\xff\xff"),)
        for array in (*arrays, *shared, *tables):
            self.arrays[array.name] = array
        scalars = [k.ScalarParameter(name, type) for name, type in self.scalars.items()]
        return k.Kernel(
            self.pick(["saxpy", "module.saxpy", "<lambda>"]),
            tuple(scalars + arrays),
            self.dims,
            k.Geometry(
                self.pick(["grid", "groups"]),
                tuple(self.host(Scalar.I64) for _ in range(self.rank)),
                (4,) * self.rank,
            ),
            True,
            shared,
            tables,
            tuple(k.Require(self.host(Scalar.BOOL), 'n > 0 and "quoted"\n') for _ in range(self.pick([0, 1]))),
            self.block(3),
            self.warp,
            self.deterministic,
            self.races,
            'p "is" one' if self.races == "trust" else "",
            tuple(self.fact() for _ in range(self.pick([0, 1, 2]))),
        )

    def fact(self) -> k.ArrayFact:
        kind = self.pick(ARRAY_FACTS)
        low, high = (self.host(Scalar.I64), self.host(Scalar.I64)) if kind == "all_in_range" else (None, None)
        return k.ArrayFact(kind, "x", f'ig.{kind}(x) "quoted"', low, high, self.pick(["", "x"]))

    def host(self, type: Scalar) -> k.Expr:
        n = k.Binary("sub", k.DimValue("N"), k.ScalarValue("n", Scalar.I64), Scalar.I64, self.flag())
        return n if type is Scalar.I64 else k.Compare("lt", n, k.Const(-3, Scalar.I64))

    # --- expressions ---

    def expr(self, type: Scalar, depth: int = 2) -> k.Expr:
        makers = [self.const, self.leaf]
        if depth > 0:
            makers += [self.unary, self.binary, self.choose, self.cast, self.call, self.load]
            makers += [self.truth] * 3 if type is Scalar.BOOL else []
        return self.pick(makers)(type, depth - 1)

    def const(self, type: Scalar, depth: int) -> k.Expr:
        low, high = (
            (type.minimum, type.maximum) if type.is_integer else (0, 1 if type is Scalar.BOOL else 2**type.bits - 1)
        )
        return k.Const(self.draw(st.integers(low, high)), type)

    def leaf(self, type: Scalar, depth: int) -> k.Expr:
        found: list[k.Expr] = [k.Local(name, kind) for name, kind in self.locals.items() if kind is type]
        found += [k.ScalarValue(name, kind) for name, kind in self.scalars.items() if kind is type]
        if type is Scalar.I64:
            found += [k.DimValue(name) for name in self.dims]
            found += [
                k.Query(kind, None if kind in ("lane_id", "warp_id") else self.pick([None, *range(self.rank)]))
                for kind in QUERIES
            ]
        return self.pick(found) if found else self.const(type, depth)

    def unary(self, type: Scalar, depth: int) -> k.Expr:
        return k.Unary(self.pick(["neg", "invert", "not", "abs"]), self.expr(type, depth), type, self.flag())

    def binary(self, type: Scalar, depth: int) -> k.Expr:
        op = self.pick([*BINARY_SIGNS, "min", "max"])
        right = type
        if op in ("shl", "shr") or (op == "pow" and type.is_integer):
            right = self.pick(INTEGERS)
        return k.Binary(op, self.expr(type, depth), self.expr(right, depth), type, self.flag())

    def truth(self, type: Scalar, depth: int) -> k.Expr:
        if self.flag():
            return k.Logical(self.pick(["and", "or"]), self.expr(Scalar.BOOL, depth), self.expr(Scalar.BOOL, depth))
        kind = self.pick(COMPUTING)
        return k.Compare(self.pick(COMPARE_SIGNS), self.expr(kind, depth), self.expr(kind, depth))

    def choose(self, type: Scalar, depth: int) -> k.Expr:
        return k.Choose(self.expr(Scalar.BOOL, depth), self.expr(type, depth), self.expr(type, depth), type)

    def cast(self, type: Scalar, depth: int) -> k.Expr:
        return k.Cast(self.expr(self.pick(COMPUTING), depth), type, self.flag())

    def call(self, type: Scalar, depth: int) -> k.Expr:
        arguments = tuple(self.expr(self.pick(COMPUTING), depth) for _ in range(self.pick([0, 1, 2, 3])))
        return k.Call(self.pick(["sqrt", "bitcast", "min", "gid", "abs", "f32", "group_sum", "if"]), arguments, type)

    def load(self, type: Scalar, depth: int) -> k.Expr:
        readable = [a for a in self.arrays.values() if a.element.computing is type and a.name != "z"]
        if not readable:
            return self.const(type, depth)
        array = self.pick(readable)
        indices, checked = self.indices(array, depth)
        return k.Load(array.name, indices, type, space_of(array), checked)

    def indices(self, array, depth: int):
        indices = tuple(self.expr(self.pick(INTEGERS), depth) for _ in array.shape)
        return indices, tuple(self.flag() for _ in indices)

    # --- statements ---

    def block(self, depth: int) -> k.Block:
        count = self.draw(st.integers(1, 4))
        return tuple(self.statement(depth) for _ in range(count))

    def statement(self, depth: int) -> k.Statement:
        makers = [self.assign] * 3 + [self.evaluate, self.store, self.atomic, self.collective, self.declare]
        makers += [self.warp_collective]
        makers += [self.plain] * 4
        if depth > 0:
            makers += [self.branch, self.for_loop, self.while_loop, self.scope] * 2
        return self.pick(makers)(depth - 1)

    def assign(self, depth: int) -> k.Statement:
        name, type = self.target(COMPUTING)
        value = self.expr(type)
        self.locals[name] = type
        return k.Assign(name, value)

    def target(self, types) -> tuple[str, Scalar]:
        name = self.pick(NAMES)
        type = self.ever.setdefault(name, self.pick(types))
        if type not in types:
            name = f"{name}.{self.pick(types).value}"
            type = self.ever.setdefault(name, Scalar(name.rsplit(".", 1)[1]))
        return name, type

    def evaluate(self, depth: int) -> k.Statement:
        return k.Evaluate(self.expr(self.pick(COMPUTING)))

    def store(self, depth: int) -> k.Statement:
        array = self.arrays[self.pick([n for n in self.arrays if n not in ("x", "weights")])]
        indices, checked = self.indices(array, 1)
        value = self.expr(array.element.computing)
        return k.Store(array.name, indices, value, array.element, space_of(array), checked, self.flag())

    def atomic(self, depth: int) -> k.Statement:
        array = self.arrays[self.pick(["y", "tile"])]
        indices, checked = self.indices(array, 1)
        op = self.pick(a for a in ATOMICS if not self.deterministic or a not in ("load", "store"))
        kind = array.element.computing
        expected = self.expr(kind) if op == "cas" else None
        value, total, target = self.expr(kind), self.flag(), ""
        if not self.deterministic and self.flag():
            target, _ = self.target([kind])
            self.locals[target] = kind
        return k.Atomic(
            op, array.name, indices, value, expected, array.element, space_of(array), checked, total, target
        )

    def collective(self, depth: int) -> k.Statement:
        op = self.pick(COLLECTIVES)
        types = [Scalar.BOOL] if op in ("any", "all") else [c for c in COMPUTING if c is not Scalar.BOOL]
        name, type = self.target(types)
        value = self.expr(type)
        self.locals[name] = type
        return k.Collective(op, name, value, type, op == "scan" and self.flag(), self.flag())

    def warp_collective(self, depth: int) -> k.Statement:
        op = self.pick(WARP_COLLECTIVES)
        votes = op in ("any", "all", "ballot")
        name, result = self.target([ballot_type(self.warp)] if op == "ballot" else [Scalar.BOOL] if votes else NUMBERS)
        type = Scalar.BOOL if votes else result
        value, lane = self.expr(type), self.expr(self.pick(INTEGERS)) if op in SHUFFLES else None
        self.locals[name] = result
        return k.WarpCollective(op, name, value, lane, type, result, op == "scan" and self.flag(), self.flag())

    def plain(self, depth: int) -> k.Statement:
        options: list[k.Statement] = [
            k.Barrier(),
            k.WarpBarrier(),
            k.Return(),
            k.Assert(self.expr(Scalar.BOOL), 'say "x"\n: é'),
        ]
        options += [k.Leave(label) for label in self.labels]
        options += [k.Break(), k.Continue()] if self.loops else []
        return self.pick(options)

    def declare(self, depth: int) -> k.Statement:
        name = f"buf.{len(self.arrays)}"
        self.arrays[name] = k.DeclareLocal(name, self.pick(Scalar), (2, 3), self.flag())
        return self.arrays[name]

    def branch(self, depth: int) -> k.Statement:
        condition = self.expr(Scalar.BOOL)
        return k.If(condition, self.nested(depth), self.nested(depth) if self.flag() else ())

    def for_loop(self, depth: int) -> k.Statement:
        name, type = self.target(INTEGERS)
        bounds = [self.expr(type) for _ in range(3)]
        self.loops += 1
        body = self.nested(depth, {name: type})
        self.loops -= 1
        return k.For(name, *bounds, body, type, self.pick([0, 1, 4]), self.flag())

    def while_loop(self, depth: int) -> k.Statement:
        condition = self.expr(Scalar.BOOL)
        self.loops += 1
        prelude, body = self.nested(depth), self.nested(depth)
        self.loops -= 1
        return k.While(prelude, condition, body, self.pick([0, 2]))

    def scope(self, depth: int) -> k.Statement:
        label = f"{self.pick(['clamp3', 'scope'])}.{len(self.labels)}"
        self.labels.append(label)
        body = self.nested(depth)
        self.labels.pop()
        return k.Scope(label, body)

    def nested(self, depth: int, extra: dict[str, Scalar] | None = None) -> k.Block:
        """A block whose assignments do not count afterwards."""
        before = dict(self.locals)
        self.locals.update(extra or {})
        block = self.block(depth)
        self.locals = before
        return block


def space_of(array) -> Space:
    match array:
        case k.ArrayParameter():
            return Space.GLOBAL
        case k.SharedArray():
            return Space.SHARED
        case k.Table():
            return Space.TABLE
        case _:
            return Space.LOCAL


@st.composite
def kernels(draw) -> k.Kernel:
    """Well-formed kernel IR."""
    return KernelMaker(draw).kernel()


M = d.Machine
CONVERSIONS = {
    "trunc": [(M.I64, M.I32), (M.I32, M.I8), (M.I8, M.I1)],
    "sext": [(M.I32, M.I64), (M.I8, M.I32)],
    "zext": [(M.I1, M.I64), (M.I16, M.I32)],
    "sitofp": [(M.I32, M.F32), (M.I64, M.F64)],
    "uitofp": [(M.I64, M.F32)],
    "fptosi": [(M.F32, M.I32), (M.F64, M.I64)],
    "fptoui": [(M.F32, M.I64)],
    "fpext": [(M.F32, M.F64)],
    "fptrunc": [(M.F64, M.F32)],
    "bits": [(M.F32, M.I32), (M.I64, M.F64)],
    **{op: [types] for op, types in STORED_FLOATS.items()},
}
FLOAT_ONLY = {op for op in d.OPERATIONS if op.startswith("f")} - {"fptosi", "fptoui", "fptrunc", *STORED_FLOATS}


class DeviceMaker:
    """Draws one device kernel; `values` are those assigned on every path so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.values: dict[str, M] = {}
        self.used = 0
        self.labels: list[str] = []
        self.loops = 0
        self.variables = {"v": M.I32, "w.1": M.F32, "odd name": M.I1, "u": M.I64, "s": M.F64}
        self.elements = {
            "x": Scalar.F32,
            "y": Scalar.U16,
            "flags": Scalar.BOOL,
            "tile": Scalar.I32,
            "l": Scalar.F64,
            "t": Scalar.I8,
        }
        self.sites = (
            TrapSite(TrapKind.INDEX, Span('odd "file".py', 9, 7, 9, 8), "x", "0", (Scalar.I64, Scalar.I64)),
            TrapSite(TrapKind.TOTAL, Span("<stdin>", 3, 1, 4, 2), "y", "u16", (Scalar.I64,)),
            TrapSite(TrapKind.ASSERTION, Span("a.py", 3, 1, 3, 2), 'no "way"\n'),
            TrapSite(TrapKind.ZERO_DIVISION, Span("a.py", 3, 1, 3, 2), "//", "i32", (Scalar.I32,)),
        )

    def pick(self, options):
        return self.draw(st.sampled_from(list(options)))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def kernel(self) -> d.Kernel:
        n = k.DimValue("N")
        return d.Kernel(
            "saxpy",
            (
                k.ScalarParameter("a", Scalar.F32),
                k.ScalarParameter("flag", Scalar.BOOL),
                k.ArrayParameter("x", Scalar.F32, (n,), Access.INOUT),
                k.ArrayParameter("y", Scalar.U16, (n, n), Access.INOUT),
                k.ArrayParameter("flags", Scalar.BOOL, (n,), Access.IN),
            ),
            ("N",),
            k.Geometry("grid", (n, n), (4, 4)),
            True,
            (
                d.Buffer("x", Scalar.F32, Space.GLOBAL),
                d.Buffer("y", Scalar.U16, Space.GLOBAL, access=Access.INOUT),
                d.Buffer("flags", Scalar.BOOL, Space.GLOBAL, access=Access.IN),
                d.Buffer("tile", Scalar.I32, Space.SHARED, 20, zeroed=self.flag()),
                d.Buffer("l", Scalar.F64, Space.LOCAL, 4),
                d.Buffer("t", Scalar.I8, Space.TABLE, 3, Access.IN, data=b"\x01\x02\xff"),
            ),
            tuple(self.variables.items()),
            (),
            self.sites,
            tuple(d.Set(name, self.literal(type, 0)) for name, type in self.variables.items()) + self.block(3),
        )

    # --- expressions ---

    def expr(self, type: M, depth: int = 2) -> d.Expr:
        makers = [self.literal, self.leaf]
        if depth > 0:
            makers += [self.operation, self.conversion, self.load]
        return self.pick(makers)(type, depth - 1)

    def literal(self, type: M, depth: int) -> d.Expr:
        return d.Literal(self.draw(st.integers(0, 2**type.bits - 1)), type)

    def leaf(self, type: M, depth: int) -> d.Expr:
        known = {**self.variables, **self.values}
        found: list[d.Expr] = [d.Value(name, kind) for name, kind in known.items() if kind is type]
        found += [d.Argument("dim", "N", type)] if type in (M.I64, M.I32) else []
        found += [d.Argument("scalar", "a", type)] if type is M.F32 else []
        found += [d.Argument("scalar", "flag", type)] if type is M.I1 else []
        found += [d.Special(kind, self.pick([0, 1])) for kind in SPECIALS] if type is M.I64 else []
        return self.pick(found) if found else self.literal(type, depth)

    def operation(self, type: M, depth: int) -> d.Expr:
        ops = []
        for op in (op for op in d.OPERATIONS if op not in STORED_FLOATS):
            operand = M.F64 if op in FLOAT_ONLY else M.I16
            natural = natural_type(op, [operand] * d.OPERATIONS[op][0])
            gives_bool = natural is M.I1
            if natural is not None and (type is M.I1 if gives_bool else (op in FLOAT_ONLY) == type.is_float):
                ops.append(op)
        op = self.pick([*ops, "select"])
        if op == "select":
            return d.Op(op, (self.expr(M.I1, depth), self.expr(type, depth), self.expr(type, depth)), type)
        operand = type
        if type is M.I1:
            operand = self.pick([M.F32, M.F64] if op in FLOAT_ONLY else [M.I32, M.I64, M.I8])
            if natural_type(op, [operand]) is not M.I1:
                operand = M.I1
        return d.Op(op, tuple(self.expr(operand, depth) for _ in range(d.OPERATIONS[op][0])), type)

    def conversion(self, type: M, depth: int) -> d.Expr:
        options = [(op, source) for op, pairs in CONVERSIONS.items() for source, target in pairs if target is type]
        if not options:
            return self.literal(type, depth)
        op, source = self.pick(options)
        return d.Op(op, (self.expr(source, depth),), type)

    def load(self, type: M, depth: int) -> d.Expr:
        names = [name for name, element in self.elements.items() if machine_type(element) is type]
        if not names:
            return self.literal(type, depth)
        return d.Load(self.pick(names), self.expr(self.pick([M.I64, M.I32]), depth), type)

    # --- statements ---

    def block(self, depth: int) -> d.Block:
        return tuple(self.statement(depth) for _ in range(self.draw(st.integers(1, 4))))

    def statement(self, depth: int) -> d.Statement:
        makers = [self.let] * 2 + [self.set, self.store, self.atomic, self.check, self.collective]
        makers += [self.warp_collective, self.agree]
        makers += [self.plain] * 4
        if depth > 0:
            makers += [self.branch, self.for_loop, self.loop, self.scope] * 2
        return self.pick(makers)(depth - 1)

    def let(self, depth: int) -> d.Statement:
        value = self.expr(self.pick(M))
        name = self.fresh()
        self.values[name] = value.type
        return d.Let(name, value)

    def fresh(self) -> str:
        self.used += 1
        return f"{self.pick(['t', 'set', 'let', 'group_sum', '%'])}.{self.used}"

    def set(self, depth: int) -> d.Statement:
        name = self.pick(self.variables)
        return d.Set(name, self.expr(self.variables[name]))

    def store(self, depth: int) -> d.Statement:
        buffer = self.pick(["x", "y", "tile", "l"])
        return d.Store(buffer, self.expr(M.I64), self.expr(machine_type(self.elements[buffer])))

    def atomic(self, depth: int) -> d.Statement:
        op, buffer = self.pick(ATOMICS), self.pick(["y", "tile"])
        element = self.elements[buffer]
        kind = machine_type(element)
        expected = self.expr(kind) if op == "cas" else None
        target = "v" if kind is M.I32 and self.flag() else ""
        return d.Atomic(op, buffer, self.expr(M.I64), self.expr(kind), expected, element, self.pick([None, 1]), target)

    def check(self, depth: int) -> d.Statement:
        site = self.pick([0, 2, 3])
        operands = tuple(self.expr(machine_type(scalar)) for scalar in self.sites[site].operands)
        return d.Check(self.expr(M.I1), site, operands)

    def plain(self, depth: int) -> d.Statement:
        options: list[d.Statement] = [d.Barrier(), d.WarpBarrier(self.active()), d.Return(), d.Fill("l")]
        options += [d.Leave(label) for label in self.labels]
        options += [d.Break(), d.Continue()] if self.loops else []
        return self.pick(options)

    def collective(self, depth: int) -> d.Statement:
        op = self.pick(COLLECTIVES)
        name, scalar = ("odd name", Scalar.BOOL) if op in ("any", "all") else ("w.1", Scalar.F32)
        return d.Collective(
            op, name, self.expr(machine_type(scalar)), scalar, op == "scan" and self.flag(), self.pick([None, 1])
        )

    def active(self) -> d.Expr | None:
        return self.expr(M.I1) if self.flag() else None

    def warp_collective(self, depth: int) -> d.Statement:
        op = self.pick([*COLLECTIVES, "ballot", "shuffle"])
        name, scalar = ("odd name", Scalar.BOOL) if op in ("any", "all", "ballot") else ("w.1", Scalar.F32)
        value, lane = self.expr(machine_type(scalar)), self.expr(M.I64) if op == "shuffle" else None
        exclusive, total = op == "scan" and self.flag(), self.pick([None, 1])
        target = "v" if op == "ballot" else name
        return d.WarpCollective(op, target, value, lane, scalar, exclusive, total, self.active())

    def agree(self, depth: int) -> d.Statement:
        return d.Agree("odd name", self.expr(M.I1))

    def branch(self, depth: int) -> d.Statement:
        condition = self.expr(M.I1)
        return d.If(condition, self.nested(depth), self.nested(depth) if self.flag() else ())

    def for_loop(self, depth: int) -> d.Statement:
        type = self.pick([M.I32, M.I64])
        start, step, trips = self.expr(type), self.expr(type), self.expr(M.I64)
        name = self.fresh()
        self.loops += 1
        body = self.nested(depth, {name: type})
        self.loops -= 1
        return d.For(name, start, step, trips, body, type, self.pick([0, 4]))

    def loop(self, depth: int) -> d.Statement:
        self.loops += 1
        body = self.nested(depth)
        self.loops -= 1
        return d.Loop(body, self.pick([0, 2]), self.flag())

    def scope(self, depth: int) -> d.Statement:
        label = f"clamp3.{len(self.labels)}"
        self.labels.append(label)
        body = self.nested(depth)
        self.labels.pop()
        return d.Scope(label, body)

    def nested(self, depth: int, extra: dict[str, M] | None = None) -> d.Block:
        before = dict(self.values)
        self.values.update(extra or {})
        block = self.block(depth)
        self.values = before
        return block


@st.composite
def device_kernels(draw) -> d.Kernel:
    """Well-formed device IR."""
    return DeviceMaker(draw).kernel()
