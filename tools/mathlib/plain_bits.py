"""Leave out what makes a NaN canonical inside elementary functions: their result for a NaN is a NaN whatever its bits.

`bits(select(fisnan(v), nan, v))` becomes `bits(v)`, `select(fisnan(s), fabs(v), fcopysign(v, s))` its last part. Every
device computes the same result as long as no bits of a NaN reach one: the tests run each function on NaN, and what a
`bitcast` of the author's sees is canonical as before.
"""

from isogrid.ir import device as d
from isogrid.ir.walk import map_kernel


def plain_bits(kernel: d.Kernel) -> d.Kernel:
    return map_kernel(kernel, on_expr=_plain)


def _plain(node: d.Expr) -> d.Expr:
    match node:
        case d.Op("bits", (d.Op("select", (d.Op("fisnan", (tested,)), d.Literal(), value)),)) if tested == value:
            return d.Op("bits", (value,), node.type, span=node.span)
        case d.Op("select", (d.Op("fisnan", (tested,)), d.Op("fabs"), d.Op("fcopysign", (_, sign)) as signed)):
            return signed if tested == sign else node
        case _:
            return node
