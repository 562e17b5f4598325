"""Unroll loops of known trips: by themselves up to 16 trips and a nested product of 64, or by a factor that covers all.

    for k in range(2): y[k] = 0      becomes      y[0] = 0; y[1] = 0

Factors below the number of trips, and loops whose trips are not known, are unrolled by the lowering.
"""

from dataclasses import replace

from isogrid.ir import kernel as k
from isogrid.ir.walk import assigned_local, map_block, visit, visit_statements
from isogrid.passes.effects import assigned_locals, read_locals

_MOST_TRIPS = 16
_MOST_NESTED = 64


def unroll_loops(kernel: k.Kernel, automatic: bool = True) -> k.Kernel:
    """`automatic` is the option `unroll`: False leaves loops alone unless their author gave a factor."""
    unroller = _Unroller(kernel, automatic)
    body, _ = unroller.block(kernel.body)
    return replace(kernel, body=body)


class _Unroller:
    def __init__(self, kernel: k.Kernel, automatic: bool) -> None:
        self._automatic = automatic
        self._labels = {node.label for node in visit_statements(kernel.body) if isinstance(node, k.Scope)}
        self._names = assigned_locals(kernel.body)
        self._kernel = kernel
        self._mentioned = _mentions(kernel.body)
        #: Names made for copies; each is used within one copy only.
        self._introduced: set[str] = set()

    def block(self, block: k.Block) -> tuple[k.Block, int]:
        """The block with its loops unrolled, and the largest product of trips unrolled in it."""
        result: list[k.Statement] = []
        product = 1
        for statement in block:
            statements, inner = self._statement(statement)
            result.extend(statements)
            product = max(product, inner)
        return tuple(result), product

    def _statement(self, statement: k.Statement) -> tuple[k.Block, int]:
        match statement:
            case k.If():
                then, first = self.block(statement.then)
                otherwise, second = self.block(statement.otherwise)
                return (replace(statement, then=then, otherwise=otherwise),), max(first, second)
            case k.Scope():
                body, product = self.block(statement.body)
                return (replace(statement, body=body),), product
            case k.While():
                prelude, first = self.block(statement.prelude)
                body, second = self.block(statement.body)
                return (replace(statement, prelude=prelude, body=body),), max(first, second)
            case k.For():
                body, product = self.block(statement.body)
                loop = replace(statement, body=body)
                values = _values(loop)
                if values is None or not self._wanted(loop, _count(values), product):
                    return (loop,), product
                return self._copies(statement, loop, values), product * max(1, len(values))
            case _:
                return (statement,), 1

    def _wanted(self, loop: k.For, trips: int, product: int) -> bool:
        if loop.unroll > 1:
            return 1 <= trips <= loop.unroll
        allowed = self._automatic and loop.unroll == 0
        return allowed and 1 <= trips <= _MOST_TRIPS and trips * product <= _MOST_NESTED

    # --- copies -------------------------------------------------------------------------------------------------------

    def _copies(self, original: k.For, loop: k.For, values: range) -> k.Block:
        """One copy of the body for each value; `break` leaves a scope around all, `continue` one around its copy."""
        breaks = _jumps(loop.body, k.Break)
        outer = self._label("unrolled") if breaks else ""
        own = self._own_locals(original, loop)
        kept = self._kept_counter(original)
        copies: list[k.Statement] = []
        for number, value in enumerate(values):
            copies.extend(self._copy(loop, value, outer, own if number else set(), kept))
        return (k.Scope(outer, tuple(copies), span=loop.span),) if breaks else tuple(copies)

    def _copy(self, loop: k.For, value: int, outer: str, own: set[str], kept_counter: bool) -> k.Block:
        constant = k.Const(value, loop.type, span=loop.span)
        body = loop.body
        inner = self._label("trip") if _jumps(body, k.Continue) else ""
        body = _redirected(body, outer, inner)
        names = {name: self._name(name) for name in sorted(own)}
        if kept_counter:
            body = (k.Assign(loop.counter, constant, span=loop.span), *body)
            body = _renamed(body, names, "", constant)
        else:
            body = _renamed(body, names, loop.counter, constant)
        return (k.Scope(inner, body, span=loop.span),) if inner else body

    def _kept_counter(self, loop: k.For) -> bool:
        """Whether the counter is more than a number in each copy: assigned in the body, or read after the loop."""
        if loop.counter in assigned_locals(loop.body):
            return True
        inside = sum(isinstance(n, k.Local) and n.name == loop.counter for n in visit(loop.body))
        everywhere = sum(isinstance(n, k.Local) and n.name == loop.counter for n in visit(self._kernel.body))
        return inside != everywhere

    def _own_locals(self, original: k.For, loop: k.For) -> set[str]:
        """Locals that live within one trip: assigned at the top level of the body before any read, and nowhere else
        read or assigned. Each copy gets its own, so that a value assigned once stays one."""
        own: set[str] = set()
        seen: set[str] = set()
        for statement in loop.body:
            if isinstance(statement, k.Assign):
                seen |= read_locals((statement.value,))
                if statement.name not in seen:
                    own.add(statement.name)
                seen.add(statement.name)
            else:
                seen |= read_locals((statement,)) | assigned_locals((statement,))
        inside = _mentions(original.body)
        return {name for name in own if name in self._introduced or inside.get(name) == self._mentioned.get(name)}

    def _label(self, stem: str) -> str:
        number = 1
        while f"{stem}.{number}" in self._labels:
            number += 1
        self._labels.add(f"{stem}.{number}")
        return f"{stem}.{number}"

    def _name(self, stem: str) -> str:
        number = 1
        while f"{stem}.u{number}" in self._names:
            number += 1
        self._names.add(f"{stem}.u{number}")
        self._introduced.add(f"{stem}.u{number}")
        return f"{stem}.u{number}"


def _values(loop: k.For) -> range | None:
    """The values of the counter, where they are literals."""
    match loop:
        case k.For(start=k.Const(value=start), stop=k.Const(value=stop), step=k.Const(value=step)) if step:
            return range(start, stop, step)
        case _:
            return None


def _count(values: range) -> int:
    """How many there are; `len` stops at 2^63."""
    return max(0, -((values.start - values.stop) // values.step))


def _mentions(block: k.Block) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in visit(block):
        match node:
            case k.Local(name):
                counts[name] = counts.get(name, 0) + 1
            case _:
                assigned = assigned_local(node)
                if assigned is not None:
                    counts[assigned[0]] = counts.get(assigned[0], 0) + 1
    return counts


def _jumps(block: k.Block, kind: type[k.Break] | type[k.Continue]) -> bool:
    """Whether the block jumps out of the loop that it is the body of."""
    for statement in block:
        match statement:
            case k.Break() | k.Continue():
                if isinstance(statement, kind):
                    return True
            case k.If():
                if _jumps(statement.then, kind) or _jumps(statement.otherwise, kind):
                    return True
            case k.Scope():
                if _jumps(statement.body, kind):
                    return True
            case _:
                pass
    return False


def _redirected(block: k.Block, outer: str, inner: str) -> k.Block:
    """`break` and `continue` of this loop as `Leave`s."""
    result: list[k.Statement] = []
    for statement in block:
        match statement:
            case k.Break():
                result.append(k.Leave(outer, span=statement.span))
            case k.Continue():
                result.append(k.Leave(inner, span=statement.span))
            case k.If():
                then = _redirected(statement.then, outer, inner)
                result.append(replace(statement, then=then, otherwise=_redirected(statement.otherwise, outer, inner)))
            case k.Scope():
                result.append(replace(statement, body=_redirected(statement.body, outer, inner)))
            case _:
                result.append(statement)
    return tuple(result)


def _renamed(block: k.Block, names: dict[str, str], counter: str, value: k.Const) -> k.Block:
    """The block with some locals renamed, and reads of the counter replaced by its value."""

    def expression(node: k.Expr) -> k.Expr:
        if not isinstance(node, k.Local):
            return node
        if node.name == counter:
            return replace(value, span=node.span)
        return replace(node, name=names[node.name]) if node.name in names else node

    def statement(node: k.Statement) -> k.Statement:
        match node:
            case k.Assign() if node.name in names:
                return replace(node, name=names[node.name])
            case k.Collective() | k.WarpCollective() | k.Atomic() if node.target in names:
                return replace(node, target=names[node.target])
            case k.For() if node.counter in names:
                return replace(node, counter=names[node.counter])
            case _:
                return node

    return map_block(block, expression, statement)
