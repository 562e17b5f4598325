"""Random kernels of warp operations in control flow that is the same for a warp and differs between warps."""

import random

from isogrid.builtins.warps import WARP_OPERATIONS, ballot_type
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space

W32, I32, BOOL = Scalar.W32, Scalar.I32, Scalar.BOOL
N = k.DimValue("N")


class Maker:
    """Locals `u..` are the same for a warp, `v..` differ; all are w32, so that only asserts and i32 sums trap."""

    def __init__(self, seed: int, traps: bool) -> None:
        self.random = random.Random(seed)
        self.traps = traps
        self.warp = self.random.choice((4, 8, 16, 32))
        self.block = self.warp * self.random.choice((1, 2, 3, 4))
        self.lines = 0
        self.names = 0
        self.labels: list[str] = []
        self.loops = 0
        self.uniform = ["u0", "u1"]
        self.varying = ["v0", "v1"]

    def kernel(self) -> k.Kernel:
        lid, width = k.Query("lid", None), self.warp
        head: list[k.Statement] = [
            k.Assign("i", k.Query("gid", 0)),
            k.Assign("v0", k.Cast(k.Load("x", (k.Local("i", INDEX),), I32, Space.GLOBAL, (True,)), W32, False)),
            k.Assign("v1", k.Cast(k.Query("lane_id", None), W32, False)),
            k.Assign("u0", k.Cast(k.Query("warp_id", None), W32, False)),
            k.Assign("u1", k.Cast(k.Binary("floordiv", lid, k.Const(width, INDEX), INDEX, False), W32, False)),
            k.Assign("c", k.Const(0, W32)),
        ]
        body = self.block_of(self.random.randint(3, 6), 3)
        tail = [self.store(k.Local(name, W32)) for name in ("v0", "v1", "u0", "u1", "c")]
        return k.Kernel(
            "sample",
            (k.ArrayParameter("x", I32, (N,), Access.IN), k.ArrayParameter("y", W32, (N,), Access.INOUT)),
            ("N",),
            k.Geometry("groups", (k.Const(2, INDEX),), (self.block,)),
            True,
            (),
            (),
            (),
            (*head, *body, *tail),
            self.warp,
        )

    def span(self) -> Span:
        self.lines += 1
        return Span("kernels.py", self.lines, 1, self.lines, 2)

    def temporary(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def store(self, value: k.Expr) -> k.Statement:
        i = k.Local("i", INDEX)
        mixed = k.Binary(
            "add", k.Binary("mul", k.Load("y", (i,), W32, Space.GLOBAL, (True,)), self.const(31), W32), value, W32
        )
        return k.Store("y", (i,), mixed, W32, Space.GLOBAL, (True,))

    def const(self, value: int) -> k.Expr:
        return k.Const(value, W32)

    # --- expressions ---

    def value(self, names: list[str], depth: int = 2) -> k.Expr:
        if depth == 0 or self.random.random() < 0.3:
            return (
                k.Local(self.random.choice(names), W32)
                if self.random.random() < 0.8
                else self.const(self.random.randrange(9))
            )
        op = self.random.choice(("add", "sub", "mul", "xor", "and"))
        return k.Binary(op, self.value(names, depth - 1), self.value(names, depth - 1), W32, False)

    def all_names(self) -> list[str]:
        return self.uniform + self.varying + ["c"]

    def condition(self, names: list[str]) -> k.Expr:
        low = k.Binary("and", self.value(names), self.const(7), W32, False)
        return k.Compare(self.random.choice(("lt", "eq", "ne", "gt")), low, self.const(self.random.randrange(7)))

    # --- statements ---

    def block_of(self, count: int, depth: int) -> tuple[k.Statement, ...]:
        return tuple(s for _ in range(count) for s in self.statement(depth))

    def statement(self, depth: int) -> list[k.Statement]:
        makers = [self.assign, self.operation, self.operation, self.guarded, self.note]
        if depth:
            makers += [self.branch, self.branch, self.loop, self.loop, self.scope]
        makers += [self.leave] if self.loops or self.labels else []
        makers += [self.barrier]
        makers += [self.check] if self.traps else []
        return self.random.choice(makers)(depth - 1)

    def assign(self, depth: int) -> list[k.Statement]:
        if self.random.random() < 0.5:
            return [k.Assign(self.random.choice(self.uniform), self.value(self.uniform))]
        return [k.Assign(self.random.choice(self.varying), self.value(self.all_names()))]

    def note(self, depth: int) -> list[k.Statement]:
        count = k.Binary("mul", k.Local("c", W32), self.const(3), W32)
        return [k.Assign("c", k.Binary("add", count, self.const(self.random.randrange(5)), W32))]

    def barrier(self, depth: int) -> list[k.Statement]:
        return [k.WarpBarrier(span=self.span())]

    def guarded(self, depth: int) -> list[k.Statement]:
        """Threads of a warp part, and meet nobody."""
        inside = (k.Assign(self.random.choice(self.varying), self.value(self.all_names())),)
        return [k.If(self.condition(self.all_names()), inside)]

    def check(self, depth: int) -> list[k.Statement]:
        """Hardly any thread traps here."""
        rare = k.Compare("ne", k.Binary("and", self.value(self.all_names(), 1), self.const(63), W32), self.const(37))
        return [k.Assert(rare, "rare", span=self.span())]

    def operation(self, depth: int) -> list[k.Statement]:
        op = self.random.choice(list(WARP_OPERATIONS))
        row, target = WARP_OPERATIONS[op], self.temporary()
        value: k.Expr = self.value(self.all_names())
        type, result = W32, W32
        if row.types == (BOOL,):
            value, type, result = self.condition(self.all_names()), BOOL, BOOL
        elif self.traps and row.totals and self.random.random() < 0.5:
            value = k.Cast(k.Binary("shr", value, self.const(self.random.choice((1, 6))), W32), I32, False)
            type = result = I32
        if op == "ballot":
            result = ballot_type(self.warp)
        lane = None
        if row.lane:
            lane = self.value(self.uniform if self.random.random() < 0.3 else self.all_names(), 1)
            lane = k.Binary("sub", k.Cast(lane, INDEX, False), k.Const(3, INDEX), INDEX, False)
            if self.random.random() < 0.5:
                lane = k.Binary("and", lane, k.Const(15, INDEX), INDEX, False)
        exclusive = op == "scan" and self.random.random() < 0.5
        totals = row.totals and type is I32
        got: k.Expr = k.Local(target, result)
        if result is BOOL or result is I32 or result is Scalar.W64:
            got = k.Cast(got, W32, False)
        into = self.random.choice(self.uniform if row.uniform else self.varying)
        met = k.WarpCollective(op, target, value, lane, type, result, exclusive, totals, span=self.span())
        return [met, k.Assign(into, got)]

    def branch(self, depth: int) -> list[k.Statement]:
        then = self.block_of(self.random.randint(1, 3), depth)
        otherwise = self.block_of(self.random.randint(1, 2), depth) if self.random.random() < 0.4 else ()
        return [k.If(self.condition(self.uniform), then, otherwise)]

    def loop(self, depth: int) -> list[k.Statement]:
        counter = self.temporary()
        trips = k.Cast(k.Binary("and", self.value(self.uniform), self.const(3), W32, False), INDEX, False)
        self.loops += 1
        body = self.block_of(self.random.randint(1, 3), depth)
        self.loops -= 1
        used = k.Assign("v0", k.Binary("add", k.Local("v0", W32), k.Cast(k.Local(counter, INDEX), W32, False), W32))
        if self.random.random() < 0.3:
            count = self.temporary()
            test = k.Compare("lt", k.Local(count, INDEX), trips)
            more = k.Assign(count, k.Binary("add", k.Local(count, INDEX), k.Const(1, INDEX), INDEX, False))
            bound = k.Compare("lt", k.Local(count, INDEX), k.Const(3, INDEX))
            return [
                k.Assign(count, k.Const(0, INDEX)),
                k.While((more,), k.Logical("and", bound, test), self.without(body)),
            ]
        return [k.For(counter, k.Const(1, INDEX), trips, k.Const(1, INDEX), (used, *body), INDEX)]

    def without(self, body: k.Block) -> k.Block:
        return body

    def scope(self, depth: int) -> list[k.Statement]:
        label = self.temporary()
        self.labels.append(label)
        before, self.loops = self.loops, 0
        body = self.block_of(self.random.randint(1, 3), depth)
        self.labels.pop()
        self.loops = before
        return [k.Scope(label, body)]

    def leave(self, depth: int) -> list[k.Statement]:
        exits: list[k.Statement] = [k.Leave(label) for label in self.labels]
        exits += [k.Break(), k.Continue()] * 2 if self.loops else []
        exits += [k.Return()] if self.random.random() < 0.15 else []
        return [k.If(self.condition(self.uniform), (self.random.choice(exits),))]


def make(seed: int, traps: bool = False) -> k.Kernel:
    """One kernel; equal seeds give equal kernels."""
    return Maker(seed, traps).kernel()
