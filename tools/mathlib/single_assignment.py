"""Give each assignment of a compiled function its own name and drop copies, so that the text is short to read and load.

`set h = a; set h = f(h)` becomes `let h.1 = f(a)`. Variables that branches set stay variables.
"""

from dataclasses import replace

from isogrid.ir import device as d
from isogrid.ir.walk import map_expr, visit


def single_assignment(kernel: d.Kernel) -> d.Kernel:
    """The same kernel with as few variables and copies as its branches allow."""
    state = _State({name for name, _ in kernel.variables} | _names(kernel.body))
    body = state.block(kernel.body)
    body = _without_unused(body)
    used = {s.name for s in visit(body) if isinstance(s, d.Set)}
    tables = {e.buffer for e in visit(body) if isinstance(e, d.Load | d.Store)}
    return replace(
        kernel,
        body=body,
        variables=tuple(v for v in kernel.variables if v[0] in used),
        buffers=tuple(b for b in kernel.buffers if b.name in tables),
    )


def _assigned(block: d.Block) -> dict[str, d.Machine]:
    return {s.name: s.value.type for s in visit(block) if isinstance(s, d.Set)}


def _names(block: d.Block) -> set[str]:
    return {s.name for s in visit(block) if isinstance(s, d.Let | d.Set)}


class _State:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.values: dict[str, d.Expr] = {}

    def block(self, block: d.Block) -> d.Block:
        result: list[d.Statement] = []
        for statement in block:
            match statement:
                case d.Let(name=name) | d.Set(name=name):
                    self.assign(result, name, self.rewritten(statement.value), isinstance(statement, d.Set))
                case d.If():
                    self.branch(result, statement)
                case d.Store():
                    result.append(
                        replace(statement, index=self.rewritten(statement.index), value=self.rewritten(statement.value))
                    )
                case _:
                    raise SystemExit(f"{type(statement).__name__} in an elementary function")
        return tuple(result)

    def assign(self, result: list[d.Statement], name: str, value: d.Expr, is_set: bool) -> None:
        if isinstance(value, d.Literal | d.Value):
            self.values[name] = value
            return
        fresh = self.fresh(name) if is_set else name
        result.append(d.Let(fresh, value))
        self.values[name] = d.Value(fresh, value.type)

    def branch(self, result: list[d.Statement], statement: d.If) -> None:
        """Variables that a side sets hold their value before it, and are read from it after it."""
        then, otherwise = _assigned(statement.then), _assigned(statement.otherwise)
        # A variable that one side alone sets, and nothing before, is that side's own.
        assigned = {n: t for n, t in (then | otherwise).items() if n in self.values or (n in then and n in otherwise)}
        condition = self.rewritten(statement.condition)
        for name in assigned:
            if name in self.values:
                result.append(d.Set(name, self.values[name]))
        sides: list[d.Block] = []
        for side in (statement.then, statement.otherwise):
            kept = dict(self.values)
            inside = list(self.block(side))
            for name in assigned:
                value = self.values.get(name)
                if value is not None and value != kept.get(name):
                    inside.append(d.Set(name, value))
            self.values = kept
            sides.append(tuple(inside))
        result.append(d.If(condition, sides[0], sides[1]))
        for name, type in assigned.items():
            self.values[name] = d.Value(name, type)

    def rewritten(self, value: d.Expr) -> d.Expr:
        def known(node: d.Expr) -> d.Expr:
            return self.values.get(node.name, node) if isinstance(node, d.Value) else node

        return map_expr(value, known)

    def fresh(self, name: str) -> str:
        number = 1
        while f"{name}.{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}.{number}")
        return f"{name}.{number}"


def _without_unused(block: d.Block) -> d.Block:
    """Drop names that nothing reads, until none is left."""
    while True:
        read = {e.name for e in visit(block) if isinstance(e, d.Value)}
        kept = _filtered(block, read)
        if kept == block:
            return block
        block = kept


def _filtered(block: d.Block, read: set[str]) -> d.Block:
    result: list[d.Statement] = []
    for statement in block:
        match statement:
            case d.Let(name=name) | d.Set(name=name) if name not in read:
                continue
            case d.If():
                then, otherwise = _filtered(statement.then, read), _filtered(statement.otherwise, read)
                if then or otherwise:
                    result.append(replace(statement, then=then, otherwise=otherwise))
            case _:
                result.append(statement)
    return tuple(result)
