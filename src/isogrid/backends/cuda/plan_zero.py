"""Which shared buffers need no zeroes: every element that is read was written before an earlier barrier.

Coordinates in a group and counters of short loops are few numbers, so that all indices are simply listed. What differs
between groups stays a sum of names. A store under `gy * 32 + ly < H` gives its element under the condition that `H`
minus 32 `gy` is more than its `ly`; a read of that element under the same names and a number at least as large finds it
written.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, assert_never

import numpy as np

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.ir.walk import visit

#: Numbers, one for every thread of the group (first axis) and every trip of the loops around.
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
#: Names that a group has one value of, each with its coefficient.
Names: TypeAlias = tuple[tuple[str, int], ...]
#: Conditions `names + numbers < 0` that must hold, by names.
Conditions: TypeAlias = Mapping[Names, Numbers]

_MOST_NUMBERS = 1 << 16
#: Sums of these sizes, of names below 2^31, cannot leave 64 bits.
_MOST_SIZE, _MOST_FACTOR, _MOST_NAMES = 1 << 40, 1 << 20, 8
_JUMPS = (d.Break, d.Continue, d.Return, d.Leave)
_COMPARED = {"slt": 0, "sle": -1}


@dataclass(frozen=True, slots=True)
class _Sum:
    names: Names
    numbers: Numbers


@dataclass(slots=True)
class _Written:
    """What is known of one buffer. `least` holds, for every names of a condition, how large its number must be at a
    read of each element; elements written without that condition have the smallest number there is."""

    done: Numbers
    least: dict[Names, Numbers] = field(default_factory=dict[Names, Numbers])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: which threads and trips come here (None: not known), and under what conditions."""

    here: Numbers | None
    conditions: Conditions
    shape: tuple[int, ...]


class _Unproved(Exception):
    """A read that may find nothing written; the argument is its buffer."""


def unneeded_zeroes(kernel: d.Kernel, *, small: bool) -> frozenset[str]:
    """Names of shared buffers that need not be zero when a group starts. `small`: no size reaches 2^31."""
    asked = [b for b in kernel.buffers if b.space is Space.SHARED and b.zeroed]
    return frozenset(b.name for b in asked if _Walk(kernel, b, small).holds())


class _Walk:
    """One buffer through the whole body, in order."""

    def __init__(self, kernel: d.Kernel, buffer: d.Buffer, small: bool) -> None:
        self.kernel, self.buffer, self.small = kernel, buffer, small
        self.variables = frozenset(name for name, _ in kernel.variables)
        self.values: dict[str, _Sum | None] = {}
        #: What conditions that have a name say when they hold.
        self.limits: dict[str, list[_Sum]] = {}
        self.whole: set[str] = set()
        self.written = _Written(np.zeros(buffer.count or 0, np.int64))
        #: Stores since the last barrier.
        self.pending: list[tuple[Numbers, Conditions, Numbers]] = []
        #: Whether threads may have left already: what follows is then not sure to happen.
        self.left = False

    def holds(self) -> bool:
        size = self.kernel.geometry.group_size
        try:
            self.block(self.kernel.body, _Place(np.ones((size,), np.int64), {}, (size,)))
        except _Unproved:
            return False
        return True

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, body: d.Block, place: _Place) -> None:
        for node in body:
            self.statement(node, place)

    def statement(self, node: d.Statement, place: _Place) -> None:
        match node:
            case d.Let():
                self.reads(node.value, place)
                self.values[node.name] = None if node.name in self.variables else self.value(node.value, place)
                self.limits.pop(node.name, None)
                self.whole.discard(node.name)
                if node.value.type is Machine.I1 and node.name not in self.variables:
                    self.limits[node.name] = self.conjuncts(node.value, place)
                    if self.is_understood(node.value, place):
                        self.whole.add(node.name)
            case d.Set():
                self.reads(node.value, place)
            case d.Store():
                self.reads(node.index, place)
                self.reads(node.value, place)
                if node.buffer == self.buffer.name:
                    self.store(node, place)
            case d.Atomic():
                if node.buffer == self.buffer.name:
                    raise _Unproved
                for part in (node.index, node.value, *([node.expected] if node.expected is not None else [])):
                    self.reads(part, place)
            case d.Check():
                for part in (node.ok, *node.operands):
                    self.reads(part, place)
            case d.If():
                self.choice(node, place)
            case d.For():
                self.loop(node, place)
            case d.Loop():
                self.repeated(node.body, place)
            case d.Scope():
                self.repeated(node.body, place)
            case d.Barrier():
                self.barrier(place)
            case d.Collective():
                self.reads(node.value, place)
                self.barrier(place)
            case d.WarpCollective():
                self.parts(node, place)
            case d.Return():
                self.left = True
            case d.Fill() | d.WarpBarrier() | d.Break() | d.Continue() | d.Leave() | d.Agree():
                return
            case _:
                assert_never(node)

    def parts(self, node: d.Statement, place: _Place) -> None:
        for part in visit(node):
            if isinstance(part, d.Load):
                self.read(part, place)

    def choice(self, node: d.If, place: _Place) -> None:
        self.reads(node.condition, place)
        self.block(node.then, self.under(place, node.condition, True))
        self.block(node.otherwise, self.under(place, node.condition, False))

    def loop(self, node: d.For, place: _Place) -> None:
        for part in (node.start, node.step, node.trips):
            self.reads(part, place)
        start, step, trips = (self.value(part, place) for part in (node.start, node.step, node.trips))
        inside = list(visit(node.body))
        simple = not any(isinstance(n, (*_JUMPS, d.Barrier, d.Collective)) for n in inside)
        if start is not None and step is not None and trips is not None and simple:
            most = int(trips.numbers.max(initial=0))
            few = most * math.prod(place.shape) <= _MOST_NUMBERS
            if few and not step.names and not trips.names and node.counter not in self.variables:
                self.counted(node, place, most, (start, step, trips))
                return
        self.values[node.counter] = None
        self.repeated(node.body, place)

    def counted(self, node: d.For, place: _Place, most: int, ends: tuple[_Sum, _Sum, _Sum]) -> None:
        """All trips at once, along a new axis."""
        if not most:
            return
        start, step, trips = ends
        outer, limits = self.values, self.limits
        trip = np.arange(most, dtype=np.int64)
        self.values = {name: _deeper(value) for name, value in outer.items()}
        self.limits = {name: [_one_deeper(limit) for limit in found] for name, found in limits.items()}
        numbers = start.numbers[..., None] + step.numbers[..., None] * trip
        self.values[node.counter] = _Sum(start.names, numbers) if _is_small(numbers) else None
        here = None if place.here is None else place.here[..., None] * (trip < trips.numbers[..., None])
        conditions = {names: limit[..., None] for names, limit in place.conditions.items()}
        self.block(node.body, _Place(here, conditions, (*place.shape, most)))
        self.values, self.limits = outer, limits

    def repeated(self, body: d.Block, place: _Place) -> None:
        """Trips that nobody counts: what they write is not sure to be there behind them, but in the trip itself."""
        saved = (self.written.done.copy(), dict(self.written.least), list(self.pending), self.left)
        inside = list(visit(body))
        self.left |= any(isinstance(n, _JUMPS) for n in inside)
        self.block(body, place)
        self.written.done, self.written.least, self.pending, self.left = saved
        self.left |= any(isinstance(n, d.Return) for n in inside)

    def under(self, place: _Place, condition: d.Expr, holds: bool) -> _Place:
        """The place in one way of a choice."""
        known = self.value(condition, place)
        if known is not None and not known.names and place.here is not None:
            return replace(place, here=place.here * (known.numbers != 0 if holds else known.numbers == 0))
        conditions = dict(place.conditions)
        for limit in self.conjuncts(condition, place) if holds else []:
            there = conditions.get(limit.names)
            conditions[limit.names] = limit.numbers if there is None else np.maximum(limit.numbers, there)
        # A store must meet all that the way asks for; a read may rely on what is understood of it.
        whole = holds and self.is_understood(condition, place)
        return _Place(place.here if whole else None, conditions, place.shape)

    def is_understood(self, condition: d.Expr, place: _Place) -> bool:
        """Whether the condition says no more than its `conjuncts`."""
        match condition:
            case d.Op(op="iand", arguments=(a, b)):
                return self.is_understood(a, place) and self.is_understood(b, place)
            case d.Value(name=name):
                return name in self.whole
            case _:
                return self.limit(condition, place) is not None

    def conjuncts(self, condition: d.Expr, place: _Place) -> list[_Sum]:
        """Sums that are below zero where the condition holds."""
        match condition:
            case d.Op(op="iand", arguments=(a, b)):
                return [*self.conjuncts(a, place), *self.conjuncts(b, place)]
            case d.Value(name=name):
                return self.limits.get(name, [])
            case _:
                limit = self.limit(condition, place)
                return [] if limit is None else [limit]

    def limit(self, condition: d.Expr, place: _Place) -> _Sum | None:
        """`a < b` as a sum below zero."""
        if not isinstance(condition, d.Op) or condition.op not in _COMPARED:
            return None
        a, b = (self.value(argument, place) for argument in condition.arguments)
        if a is None or b is None:
            return None
        found = _plus(a, b, -1)
        return _Sum(found.names, found.numbers + _COMPARED[condition.op])

    # --- accesses ---------------------------------------------------------------------------------------------------

    def store(self, node: d.Store, place: _Place) -> None:
        index = self.value(node.index, place)
        if index is None or index.names or place.here is None or self.left:
            return
        shape = np.broadcast_shapes(index.numbers.shape, place.here.shape, place.shape)
        where = np.broadcast_to(index.numbers, shape)
        conditions = {names: np.broadcast_to(limit, shape) for names, limit in place.conditions.items()}
        self.pending.append((where, conditions, np.broadcast_to(place.here, shape)))

    def barrier(self, place: _Place) -> None:
        """What was stored is there from now on, if all threads are here."""
        if place.here is None or not place.here.all() or place.conditions:
            self.pending = []
            return
        for where, conditions, here in self.pending:
            flat = here.astype(bool).reshape(-1)
            elements = where.reshape(-1)[flat]
            inside = (elements >= 0) & (elements < len(self.written.done))
            elements = elements[inside]
            fresh = self.written.done[elements] == 0
            for names, limit in conditions.items():
                needed = self.written.least.setdefault(names, np.full(len(self.written.done), -_MOST_SIZE))
                needed[elements[fresh]] = limit.reshape(-1)[flat][inside][fresh]
            self.written.done[elements] = 1
        self.pending = []

    def reads(self, node: d.Expr, place: _Place) -> None:
        for part in visit(node):
            if isinstance(part, d.Load):
                self.read(part, place)

    def read(self, node: d.Load, place: _Place) -> None:
        if node.buffer != self.buffer.name:
            return
        index = self.value(node.index, place)
        if index is None or index.names:
            if not self.written.done.all() or self.written.least:
                raise _Unproved
            return
        shape = np.broadcast_shapes(index.numbers.shape, place.shape)
        flat = np.ones(shape, bool) if place.here is None else np.broadcast_to(place.here != 0, shape)
        elements = np.broadcast_to(index.numbers, shape)[flat]
        if ((elements < 0) | (elements >= len(self.written.done))).any() or not self.written.done[elements].all():
            raise _Unproved
        for names, least in self.written.least.items():
            needed = least[elements]
            limit = place.conditions.get(names)
            mine = -_MOST_SIZE if limit is None else np.broadcast_to(limit, shape)[flat]
            if (needed > mine).any():
                raise _Unproved

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, node: d.Expr, place: _Place) -> _Sum | None:
        """A number for every thread and trip, plus what all threads of the group share; None where that is unknown."""
        match node:
            case d.Literal():
                bits = node.bits
                if node.type.is_float:
                    return None
                if node.type is not Machine.I1 and bits >> (node.type.bits - 1):
                    bits -= 1 << node.type.bits
                return _Sum((), np.full((1,) * len(place.shape), bits, np.int64))
            case d.Value():
                return self.values.get(node.name)
            case d.Argument():
                return self.named(f"dim {node.name}", place) if node.kind == "dim" else None
            case d.Special(kind="local"):
                return _Sum((), self.local(node.axis).reshape((-1, *(1 for _ in place.shape[1:]))))
            case d.Special(kind="thread"):
                local = self.local(node.axis).reshape((-1, *(1 for _ in place.shape[1:])))
                block = self.kernel.geometry.block[node.axis]
                return _Sum(((f"group {node.axis}", block),), local) if self.small else None
            case d.Special(kind="group" | "groups" | "extent"):
                return self.named(f"{node.kind} {node.axis}", place)
            case d.Special():
                return None
            case d.Load():
                return None
            case d.Op():
                return self.operation(node, [self.value(argument, place) for argument in node.arguments])

    def named(self, name: str, place: _Place) -> _Sum | None:
        """A number that all threads of the group share, and that is below 2^31."""
        if not self.small:
            return None
        return _Sum(((name, 1),), np.zeros((1,) * len(place.shape), np.int64))

    def local(self, axis: int) -> Numbers:
        """Coordinates of all threads of the group along an axis."""
        block = self.kernel.geometry.block
        return np.indices(block, dtype=np.int64)[axis].reshape(-1)

    def operation(self, node: d.Op, parts: list[_Sum | None]) -> _Sum | None:
        known = [part for part in parts if part is not None]
        if len(known) != len(parts):
            return None
        found = _linear(node.op, known)
        if found is None and not any(part.names for part in known):
            numbers = _apply(node.op, [part.numbers for part in known])
            found = None if numbers is None else _Sum((), numbers)
        if found is None or not _is_small(found.numbers, node.type.bits):
            return None
        wraps = node.type.bits < 64 and found.names
        large = len(found.names) > _MOST_NAMES or any(abs(c) > _MOST_FACTOR for _, c in found.names)
        return None if wraps or large else found


def _linear(op: str, parts: list[_Sum]) -> _Sum | None:
    match op:
        case "iadd":
            return _plus(parts[0], parts[1])
        case "isub":
            return _plus(parts[0], parts[1], -1)
        case "ineg":
            return _times(parts[0], -1)
        case "imul" | "shl":
            constants = [None if part.names or part.numbers.size != 1 else int(part.numbers.flat[0]) for part in parts]
            if op == "shl":
                return None if constants[1] is None else _times(parts[0], 1 << (constants[1] & 63))
            if constants[0] is not None:
                return _times(parts[1], constants[0])
            return None if constants[1] is None else _times(parts[0], constants[1])
        case "sext" | "zext" if not parts[0].names:
            return parts[0] if op == "sext" or bool((parts[0].numbers >= 0).all()) else None
        case "trunc" if not parts[0].names:
            return parts[0]
        case _:
            return None


def _is_small(numbers: Numbers, bits: int = 64) -> bool:
    """Whether signed numbers fit a type, and are far from the ends of 64 bits."""
    most = 2 if bits == 1 else min(_MOST_SIZE, 1 << (bits - 1))
    return bool((np.abs(numbers) < most).all())


def _plus(a: _Sum, b: _Sum, sign: int = 1) -> _Sum:
    names = dict(a.names)
    for name, coefficient in b.names:
        names[name] = names.get(name, 0) + sign * coefficient
    return _Sum(tuple(sorted((n, c) for n, c in names.items() if c)), a.numbers + sign * b.numbers)


def _times(a: _Sum, factor: int) -> _Sum | None:
    if abs(factor) > _MOST_FACTOR:
        return None
    return _Sum(tuple((name, factor * c) for name, c in a.names) if factor else (), a.numbers * factor)


def _apply(op: str, numbers: list[Numbers]) -> Numbers | None:
    """An operation on numbers; None where it is not one on these."""
    match op, numbers:
        case "imul", [a, b] if bool((np.abs(b) <= _MOST_FACTOR).all()):
            return a * b
        case (("sdiv" | "udiv" | "srem" | "urem"), [a, b]) if bool((a >= 0).all() and (b > 0).all()):
            return a // b if op.endswith("div") else a % b
        case "iand", [a, b]:
            return a & b
        case "ior", [a, b]:
            return a | b
        case "ixor", [a, b]:
            return a ^ b
        case (("lshr" | "ashr"), [a, b]) if bool((a >= 0).all() and ((b >= 0) & (b < 32)).all()):
            return a >> b
        case (("smin" | "umin"), [a, b]) if op == "smin" or bool((a >= 0).all() and (b >= 0).all()):
            return np.minimum(a, b)
        case (("smax" | "umax"), [a, b]) if op == "smax" or bool((a >= 0).all() and (b >= 0).all()):
            return np.maximum(a, b)
        case "select", [chosen, a, b]:
            return np.where(chosen != 0, a, b)
        case (("slt" | "ult"), [a, b]) if op == "slt" or bool((a >= 0).all() and (b >= 0).all()):
            return (a < b).astype(np.int64)
        case (("sle" | "ule"), [a, b]) if op == "sle" or bool((a >= 0).all() and (b >= 0).all()):
            return (a <= b).astype(np.int64)
        case "ieq", [a, b]:
            return (a == b).astype(np.int64)
        case "ine", [a, b]:
            return (a != b).astype(np.int64)
        case _:
            return None


def _deeper(value: _Sum | None) -> _Sum | None:
    return None if value is None else _one_deeper(value)


def _one_deeper(value: _Sum) -> _Sum:
    return _Sum(value.names, value.numbers[..., None])
