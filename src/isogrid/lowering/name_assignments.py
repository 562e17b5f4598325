"""Give each assignment of a variable its own name where the next statements read just that one.

    set i = a; x[i] ...; set i = b; y[i] ...    ->    let i.s1 = a; x[i.s1] ...; let i.s2 = b; y[i.s2] ...

What is known of a `Let` is known wherever it is read: its range, that it is affine, what it is the same as.
"""

from collections import Counter
from dataclasses import replace
from itertools import count

from isogrid.ir import device as d
from isogrid.ir.walk import map_block, map_expr, map_statement, visit, visit_statements, with_blocks


def name_assignments(kernel: d.Kernel) -> d.Kernel:
    """The same kernel with `Let`s for assignments; variables that nothing reads any more lose theirs."""
    machines = dict(kernel.variables)
    fixed = frozenset(t for s in visit_statements(kernel.body) if (t := _target(s)))
    body = _Renamer(machines, fixed).block(kernel.body, {})
    read = {n.name for n in visit(body) if isinstance(n, d.Value)}
    unread = frozenset(n for n in machines if n not in read and n not in fixed)
    variables = tuple(v for v in kernel.variables if v[0] not in unread)
    if unread:
        body = map_block(body, on_statement=lambda s: () if isinstance(s, d.Set) and s.name in unread else s)
    once = {
        name for name, times in Counter(n.name for n in visit(body) if isinstance(n, d.Value)).items() if times == 1
    }
    return replace(kernel, body=_joined(body, once), variables=variables)


class _Renamer:
    def __init__(self, machines: dict[str, d.Machine], fixed: frozenset[str]) -> None:
        self.machines, self.fixed = machines, fixed
        self.numbers = count(1)

    def block(self, body: d.Block, outer: dict[str, d.Value]) -> d.Block:
        """`outer` has the present names of variables that nothing in this block's statement assigns."""
        result: list[d.Statement | None] = []
        names = dict(outer)
        # Where the last assignment of a variable stands, as long as only its new name can have been read since.
        last: dict[str, int] = {}
        for node in body:
            if isinstance(node, d.Set) and node.name in self.machines and node.name not in self.fixed:
                new = d.Value(f"{node.name}.s{next(self.numbers)}", self.machines[node.name])
                result.append(d.Let(new.name, _renamed(node.value, names), span=node.span))
                if node.name in last:
                    result[last[node.name]] = None
                last[node.name] = len(result)
                names[node.name] = new
                result.append(replace(node, value=new))
                continue
            # Inside a statement that assigns the variable itself a read may see either value.
            for name in _assigned((node,)):
                names.pop(name, None)
            if not isinstance(node, d.Let | d.Set | d.Store | d.Check):
                last.clear()
            result.append(self.statement(node, names))
        return tuple(s for s in result if s is not None)

    def statement(self, node: d.Statement, names: dict[str, d.Value]) -> d.Statement:
        match node:
            case d.If():
                then, otherwise = self.block(node.then, names), self.block(node.otherwise, names)
                return replace(node, condition=_renamed(node.condition, names), then=then, otherwise=otherwise)
            case d.For():
                start, step, trips = (_renamed(e, names) for e in (node.start, node.step, node.trips))
                return replace(node, start=start, step=step, trips=trips, body=self.block(node.body, names))
            case d.Loop() | d.Scope():
                return replace(node, body=self.block(node.body, names))
            case _:
                return _renamed_in(node, names)


def _renamed_in(node: d.Statement, names: dict[str, d.Value]) -> d.Statement:
    if not names:
        return node
    (found,) = map_statement(node, on_expr=lambda e: _name(e, names))
    return found


def _renamed(node: d.Expr, names: dict[str, d.Value]) -> d.Expr:
    return map_expr(node, lambda e: _name(e, names)) if names else node


def _name(node: d.Expr, names: dict[str, d.Value]) -> d.Expr:
    return names.get(node.name, node) if isinstance(node, d.Value) else node


def _assigned(body: d.Block) -> frozenset[str]:
    """Variables that statements assign."""
    found: set[str] = set()
    for node in visit_statements(body):
        found.add(node.name if isinstance(node, d.Set) else _target(node))
    return frozenset(found)


def _joined(body: d.Block, once: set[str]) -> d.Block:
    """Without the new names that only the assignment behind them reads."""
    result: list[d.Statement] = []
    for node in body:
        last = result[-1] if result else None
        match node:
            case d.Set(value=d.Value(name=name)) if isinstance(last, d.Let) and last.name == name and name in once:
                result[-1] = replace(node, value=last.value)
            case _:
                result.append(with_blocks(node, lambda inner: _joined(inner, once)))
    return tuple(result)


def _target(node: d.Node) -> str:
    """The variable that a group operation or an atomic gives its result, "" where there is none."""
    return str(getattr(node, "target", ""))
