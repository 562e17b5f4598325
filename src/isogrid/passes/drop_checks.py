"""Clear every check whether or not it is proved. Not part of any compilation: tests and benchmarks compare with it.

A kernel whose checks are all proved must give the same machine code as this pass followed by the others.
"""

from dataclasses import replace

from isogrid.ir import kernel as k
from isogrid.ir.walk import map_kernel


def drop_checks(kernel: k.Kernel) -> k.Kernel:
    """The kernel as a compiler would see it that was told to check nothing; asserts of the author stay."""
    return map_kernel(kernel, _expression, _statement)


def _expression(node: k.Expr) -> k.Expr:
    match node:
        case k.Load():
            return replace(node, checked=(False,) * len(node.checked))
        case k.Unary() | k.Binary() | k.Cast():
            return replace(node, checked=False)
        case _:
            return node


def _statement(node: k.Statement) -> k.Statement:
    match node:
        case k.Store():
            return replace(node, checked=(False,) * len(node.checked), narrow_checked=False)
        case k.Atomic():
            return replace(node, checked=(False,) * len(node.checked), total_checked=False)
        case k.For():
            return replace(node, step_checked=False)
        case k.Collective() | k.WarpCollective():
            return replace(node, total_checked=False)
        case _:
            return node
