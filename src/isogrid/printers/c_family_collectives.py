"""Group operations: every thread fills its slot, all meet, and the slots are combined in the fixed pairing."""

from isogrid.analysis.meetings import Pending
from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.printers.c_family_groups import scan_function, tree_function, wide_type
from isogrid.printers.c_family_meetings import Together
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text, element_type


def group_operation(together: Together, body: Body, node: d.Collective) -> None:
    pending = together.meetings.pending(node)
    value = body.expressions.text(node.value)
    if node.op in ("any", "all"):
        if pending.warp or pending.group or pending.total:
            together.meet(body, pending)
        body.give(node.target, _any_or_all(together, node.op, value))
        return
    type, wide = element_type(node.scalar), wide_type(node)
    own = Pending(pending.warp, pending.group, False)
    value = body.expressions.converted(node.value, type)
    if node.total is not None and type.bits == 64:
        _exact(together, body, node, value, own)
    else:
        slots = together.slots(wide, together.frame.threads)
        body.line(f"{slots}[{together.thread}] = {value.text};")
        together.meet(body, own)
        result = _combined(together, body, node, slots, wide)
        _narrowed(together, body, node, result, type, wide)
    if pending.total:
        together.meet(body, Pending(total=True))


def _any_or_all(together: Together, op: str, value: Text) -> Text:
    if op == "any":
        return Text(together.vote(value), CType.BOOL)
    return Text(f"!{together.vote(Text(f'!{value.as_unary}', CType.BOOL))}", CType.BOOL, 14)


def _combined(together: Together, body: Body, node: d.Collective, slots: str, type: CType) -> str:
    """The result of a group operation on filled slots, as text."""
    if node.op == "scan":
        name, text = scan_function(together.spelling, type, together.frame.threads)
        together.functions[name] = text
        body.line(f"{name}({slots}, {together.thread});")
        if node.exclusive:
            zero = "0.0f" if type is CType.F32 else "0.0" if type is CType.F64 else f"({type.value})0"
            return f"{together.thread} > 0 ? {slots}[{together.thread} - 1] : {zero}"
        return f"{slots}[{together.thread}]"
    name, text = tree_function(
        together.spelling, node.op, node.scalar, type, together.frame.threads, body.expressions.needs
    )
    together.functions[name] = text
    return f"{name}({slots}, {together.thread})"


def _narrowed(together: Together, body: Body, node: d.Collective, result: str, type: CType, wide: CType) -> None:
    """The result in its own type; the group leaves where it does not fit."""
    if wide is type:
        body.give(node.target, Text(result, type, 3, "?" if "?" in result else ""))
        if node.op == "scan":
            body.line(together.spelling.barrier)
        return
    total = together.frame.names.fresh("total")
    body.line(f"const {wide.value} {total} = {result};")
    if node.op == "scan":
        body.line(together.spelling.barrier)
    _leave_at_total(together, body, node, f"{total} != ({type.value}){total}")
    body.give(node.target, Text(f"({type.value}){total}", type, 14))


def _leave_at_total(together: Together, body: Body, node: d.Collective, lost: str) -> None:
    """Thread 0 names a sum that is out of its type, the lowest such thread a scan; then all leave."""
    assert node.total is not None
    if node.op == "sum":
        body.opened(f"if ({lost}) {{")
        body.opened(f"if ({together.thread} == 0) {{")
        together.trap(body, node.total)
        body.closed()
        body.line("return;")
        body.closed()
        return
    flag = together.frame.names.fresh("is_lost")
    body.line(f"const bool {flag} = {lost};")
    body.opened(f"if ({flag}) {{")
    together.trap(body, node.total)
    body.closed()
    body.line(f"if ({together.vote(Text(flag, CType.BOOL))}) return;")


def _exact(together: Together, body: Body, node: d.Collective, value: Text, pending: Pending) -> None:
    """A checked total of 64-bit integers: the upper and lower halves are added apart, and carry at the end."""
    type = element_type(node.scalar)
    upper = together.slots(CType.I64, together.frame.threads)
    lower = together.slots(CType.U64, together.frame.threads)
    names = together.frame.names
    kept = names.fresh("value")
    body.line(f"const {type.value} {kept} = {value.text};")
    body.line(f"{upper}[{together.thread}] = (i64)({kept} >> 32);")
    body.line(f"{lower}[{together.thread}] = (u32){kept};")
    together.meet(body, pending)
    highs = _combined(together, body, _like(node, Scalar.I64), upper, CType.I64)
    high, low = names.fresh("high"), names.fresh("low")
    body.line(f"i64 {high} = {highs};")
    lows = _combined(together, body, _like(node, Scalar.U64), lower, CType.U64)
    body.line(f"const u64 {low} = {lows};")
    body.line(together.spelling.barrier)
    body.line(f"{high} += (i64)({low} >> 32);")
    lost = f"{high} != (int){high}" if type.is_signed else f"{high} >> 32 != 0"
    _leave_at_total(together, body, node, lost)
    body.give(node.target, Text(f"({type.value})((u64){high} << 32 | (u32){low})", type, 14))


def _like(node: d.Collective, scalar: Scalar) -> d.Collective:
    return d.Collective(node.op, node.target, node.value, scalar, node.exclusive, None, span=node.span)
