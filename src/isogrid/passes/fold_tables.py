"""Loads of constant tables at literal indices become literals; a table that nothing reads any more goes.

`WEIGHTS[2]` becomes `0.25`, as it does in loops over tables that have been unrolled.
"""

import math
from dataclasses import replace

from isogrid.builtins import floats
from isogrid.ir import kernel as k
from isogrid.ir.types import Space
from isogrid.ir.walk import map_kernel, visit


def fold_tables(kernel: k.Kernel) -> k.Kernel:
    if not kernel.tables:
        return kernel
    tables = {table.name: table for table in kernel.tables}
    folded = map_kernel(kernel, on_expr=lambda node: _element(node, tables))
    if folded is kernel:
        return kernel
    used = {node.array for node in visit(folded.body) if isinstance(node, k.Load)}
    return replace(folded, tables=tuple(table for table in folded.tables if table.name in used))


def _element(node: k.Expr, tables: dict[str, k.Table]) -> k.Expr:
    match node:
        case k.Load(space=Space.TABLE, indices=indices):
            table = tables[node.array]
            place = 0
            for index, extent in zip(indices, table.shape, strict=True):
                if not isinstance(index, k.Const) or not 0 <= index.value < extent:
                    return node
                place = place * extent + index.value
            return k.Const(_value(table, place), node.type, span=node.span)
        case _:
            return node


def _value(table: k.Table, place: int) -> int:
    """An element as the value of a literal of its computing type."""
    size = len(table.data) // math.prod(table.shape)
    data = table.data[place * size : (place + 1) * size]
    if table.element.is_float:
        bits = int.from_bytes(data, "little")
        if table.element.is_computing:
            return bits
        wide = table.element.computing
        return floats.to_bits(wide, floats.number(wide, floats.from_bits(table.element, bits)))
    return int.from_bytes(data, "little", signed=table.element.is_signed)
