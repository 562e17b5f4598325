"""The walker: order of evaluation, identity of unchanged parts, replacement of statements."""

from dataclasses import fields, replace
from typing import get_args

import pytest

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import children, is_expr, map_block, map_expr, map_kernel, map_statement, visit, visit_statements
from tests.ir.examples import I64, device_saxpy, local, saxpy

A, B, C = local("a"), local("b"), local("c")


def test_children_come_in_order_of_evaluation() -> None:
    store = k.Store("x", (A, B), C, Scalar.I64, Space.GLOBAL, (True, True))
    assert children(store) == (C, A, B)
    cas = k.Atomic("cas", "x", (A,), B, C, Scalar.I64, Space.GLOBAL, (True,))
    assert children(cas) == (A, C, B)
    assert children(replace(cas, expected=None)) == (A, B)
    assert children(k.While((k.Barrier(),), A, (k.Break(),))) == (k.Barrier(), A, k.Break())
    assert children(k.For("i", A, B, C, (k.Continue(),), I64)) == (A, B, C, k.Continue())


def test_visit_sees_every_node_once_parents_first() -> None:
    kernel = saxpy()
    arrays = [n.array for n in visit(kernel.body) if isinstance(n, k.Load | k.Store)]
    assert arrays == ["y", "x", "y"]
    assert sum(1 for _ in visit(kernel.body)) == 11
    assert [n.op for n in visit(device_saxpy().body) if isinstance(n, d.Op)] == ["ult", "fmul", "fadd"]


def test_visit_statements_gives_the_statements_that_visit_gives() -> None:
    leave = (k.Barrier(), k.Break())
    loop = k.For("i", A, B, C, (k.If(A, leave, (k.If(A, (), leave),)), k.Continue()), I64)
    nested: k.Block = (loop, *saxpy().body, k.While((loop,), A, (loop, k.Return())))
    blocks: list[k.Block | d.Block] = [nested, device_saxpy().body]
    for block in blocks:
        found = list(visit_statements(block))
        assert found == [node for node in visit(block) if not is_expr(node)]
        for statement in found:
            assert list(visit_statements(statement)) == [node for node in visit(statement) if not is_expr(node)]


def test_mapping_nothing_gives_the_same_objects() -> None:
    kernel = saxpy()
    assert map_kernel(kernel, on_expr=lambda e: e, on_statement=lambda s: s) is kernel
    device = device_saxpy()
    assert map_kernel(device, on_expr=lambda e: e) is device


def test_map_expr_works_from_the_leaves_up() -> None:
    def double(expr: k.Expr) -> k.Expr:
        match expr:
            case k.Const(value):
                return replace(expr, value=2 * value)
            case k.Binary("add", k.Const(left), k.Const(right)):
                return k.Const(left + right, I64)
            case _:
                return expr

    one = k.Const(1, I64)
    assert map_expr(k.Binary("add", one, k.Binary("add", one, one, I64), I64), double) == k.Const(6, I64)


def test_statements_are_replaced_removed_and_spread_at_any_depth() -> None:
    def change(statement: k.Statement) -> k.Statement | k.Block:
        match statement:
            case k.Barrier():
                return ()
            case k.Break():
                return (k.Continue(), k.Return())
            case _:
                return statement

    body: k.Block = (k.If(A, (k.Barrier(), k.Break()), (k.Barrier(),)), k.Barrier())
    assert map_block(body, on_statement=change) == (k.If(A, (k.Continue(), k.Return()), ()),)
    assert map_statement(k.Barrier(), on_statement=change) == ()


def test_spans_travel() -> None:
    from isogrid.diagnostics.span import Span

    place = Span("a.py", 1, 1, 1, 5)
    expr = k.Unary("neg", A, I64, span=place)
    new = map_expr(expr, lambda e: B if e == A else e)
    assert new == k.Unary("neg", B, I64)
    assert new.span == place


@pytest.mark.parametrize(
    "node_class", get_args(k.Node) + get_args(d.Node), ids=lambda c: f"{c.__module__[-6:]}.{c.__name__}"
)
def test_every_class_is_known_to_the_walker(node_class: type) -> None:
    """Each field whose annotation mentions nodes is walked; none is forgotten by the override table."""
    from isogrid.ir.walk import _parts  # pyright: ignore[reportPrivateUsage]

    mentioned = {
        f.name
        for f in fields(node_class)
        if "Expr" in str(f.type) or "Block" in str(f.type) or ("|" in str(f.type) and "isogrid.ir" in str(f.type))
    }
    assert {name for name, _ in _parts(node_class)} == mentioned
    assert is_expr(k.Const(1, I64)) and not is_expr(k.Barrier())
