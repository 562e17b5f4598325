"""Warp operations: through the hardware's shuffles where it has them, else through the group's slots."""

from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.printers.c_family_groups import combiner, wide_type
from isogrid.printers.c_family_meetings import Together
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text, element_type


def warp_operation(together: Together, body: Body, node: d.WarpCollective) -> None:
    """Print one warp operation; the target gets the result."""
    match node.op:
        case "shuffle":
            assert node.lane is not None
            type = element_type(node.scalar)
            value = body.expressions.converted(node.value, type)
            lane = body.expressions.converted(node.lane, CType.I32)
            body.give(node.target, Text(_exchange(together, type, value.text, lane.text, body), type))
        case "any" | "all" | "ballot":
            _vote(together, body, node)
        case _:
            _combine(together, body, node)


def _lane(together: Together) -> str:
    return f"({together.thread} & {together.kernel.warp - 1})"


def _exchange(together: Together, type: CType, value: str, lane: str, body: Body) -> str:
    """The value of a lane of the warp, as an expression."""
    spelling, width = together.spelling, together.kernel.warp
    native = spelling.warps.get(f"shuffle_{type.suffix}")
    if native is not None and (together.is_narrow or spelling.barrier_or):
        together.check_width()
        return native.format(mask=together.mask(), v=value, lane=lane, width=width)
    slots = together.slots(type, together.frame.threads)
    name = f"warp_exchange_{type.suffix}"
    shared = spelling.spaces["shared"]
    together.functions[name] = f"""
{spelling.function}{type.value} {name}({shared}{type.value}* slots, {type.value} value, int lane, int t) {{
    slots[t] = value;
    {spelling.barrier}
    const {type.value} result = slots[(t & ~{width - 1}) | lane];
    {spelling.barrier}
    return result;
}}"""
    return f"{name}({slots}, {value}, {lane}, {together.thread})"


def _vote(together: Together, body: Body, node: d.WarpCollective) -> None:
    spelling, width = together.spelling, together.kernel.warp
    value = body.expressions.text(node.value)
    if "any" in spelling.warps:
        vote = f"!{value.as_unary}" if node.op == "all" else value.text
        if node.op == "ballot":
            together.check_width()
            bits = spelling.warps["ballot"].format(mask=together.mask(), v=vote)
            if width < 32:
                bits = f"{bits} >> ({together.thread} & {32 - width}) & {hex((1 << width) - 1)}u"
            body.give(node.target, Text(bits, CType.U32, 8, "&" if width < 32 else ""))
            return
        text = together.warp_vote(vote)
        body.give(node.target, Text(f"!{text}" if node.op == "all" else text, CType.BOOL))
        return
    type = CType.U64 if width == 64 else CType.U32
    slots = together.slots(CType.I32, together.frame.threads)
    name = "warp_ballot"
    together.functions[name] = f"""
{spelling.function}{type.value} {name}({spelling.spaces["shared"]}int* slots, bool value, int t) {{
    slots[t] = value ? 1 : 0;
    {spelling.barrier}
    {type.value} bits = 0;
    for (int lane = 0; lane < {width}; ++lane) bits |= ({type.value})slots[(t & ~{width - 1}) | lane] << lane;
    {spelling.barrier}
    return bits;
}}"""
    bits = f"{name}({slots}, {value.text}, {together.thread})"
    full = f"~({type.value})0" if width in (32, 64) else f"{hex((1 << width) - 1)}u"
    match node.op:
        case "ballot":
            body.give(node.target, Text(bits, type))
        case "any":
            body.give(node.target, Text(f"{bits} != 0", CType.BOOL, 9, "!="))
        case _:
            body.give(node.target, Text(f"{bits} == {full}", CType.BOOL, 9, "=="))


def _combine(together: Together, body: Body, node: d.WarpCollective) -> None:
    """A sum, minimum, maximum or scan by exchanges. Lanes that differ in one bit of their number combine the same two
    values, so every lane of a butterfly gets what lane 0 of the tree gets."""
    type, wide = element_type(node.scalar), wide_type(node)
    names = together.frame.names
    value = body.expressions.converted(node.value, type)
    if node.total is not None and type.bits == 64 and node.op in ("sum", "scan"):
        _exact(together, body, node, value)
        return
    result = names.fresh(node.op)
    body.line(f"{wide.value} {result} = {value.text};")
    _steps(together, body, node, result, wide, node.scalar)
    if node.op == "scan" and node.exclusive:
        _shifted(together, body, result, wide)
    if wide is not type:
        _leave(together, body, node, f"{result} != ({type.value}){result}")
    body.give(node.target, Text(result, wide))


def _steps(together: Together, body: Body, node: d.WarpCollective, result: str, type: CType, scalar: Scalar) -> None:
    width = together.kernel.warp
    lane, other = _lane(together), together.frame.names.fresh("other")
    if node.op == "scan":
        body.opened(f"for (int step = 1; step < {width}; step <<= 1) {{")
        source = f"{lane} >= step ? {lane} - step : {lane}"
        body.line(f"const {type.value} {other} = {_exchange(together, type, result, source, body)};")
        added = combiner(together.spelling, "scan", scalar, body.expressions.needs).format(a=other, b=result)
        body.line(f"if ({lane} >= step) {result} = {added};")
        body.closed()
        return
    combined = combiner(together.spelling, node.op, scalar, body.expressions.needs).format(a=result, b=other)
    body.opened(f"for (int step = {width // 2}; step > 0; step >>= 1) {{")
    body.line(f"const {type.value} {other} = {_exchange(together, type, result, f'{lane} ^ step', body)};")
    body.line(f"{result} = {combined};")
    body.closed()


def _shifted(together: Together, body: Body, result: str, type: CType) -> None:
    """Lane t gets what lane t - 1 has, lane 0 zero."""
    lane, zero = _lane(together), "0.0f" if type is CType.F32 else "0.0" if type is CType.F64 else "0"
    source = f"{lane} > 0 ? {lane} - 1 : 0"
    body.line(f"{result} = {_exchange(together, type, result, source, body)};")
    body.line(f"if ({lane} == 0) {result} = {zero};")


def _exact(together: Together, body: Body, node: d.WarpCollective, value: Text) -> None:
    """A checked total of 64-bit integers in halves, which carry at the end."""
    type = element_type(node.scalar)
    names = together.frame.names
    kept, high, low = names.fresh("value"), names.fresh("high"), names.fresh("low")
    body.line(f"const {type.value} {kept} = {value.text};")
    body.line(f"i64 {high} = (i64)({kept} >> 32);")
    body.line(f"u64 {low} = (u32){kept};")
    _steps(together, body, node, high, CType.I64, Scalar.I64)
    _steps(together, body, node, low, CType.U64, Scalar.U64)
    if node.op == "scan" and node.exclusive:
        _shifted(together, body, high, CType.I64)
        _shifted(together, body, low, CType.U64)
    body.line(f"{high} += (i64)({low} >> 32);")
    _leave(together, body, node, f"{high} != (int){high}" if type.is_signed else f"{high} >> 32 != 0")
    body.give(node.target, Text(f"({type.value})((u64){high} << 32 | (u32){low})", type, 14))


def _leave(together: Together, body: Body, node: d.WarpCollective, lost: str) -> None:
    """A warp whose total is out of its type leaves: lane 0 names a sum, the lowest such lane a scan."""
    assert node.total is not None
    flag = together.frame.names.fresh("is_lost")
    active = "" if node.active is None else f"{body.expressions.text(node.active).as_unary} && "
    body.line(f"const bool {flag} = {active}{lost};")
    mine = flag if node.op == "scan" else f"{flag} && {_lane(together)} == 0"
    body.opened(f"if ({mine}) {{")
    together.trap(body, node.total)
    body.closed()
    if "any" in together.spelling.warps:
        body.opened(f"if ({together.warp_vote(flag)}) {{")
        together.leave_warp(body, node)
        body.closed()
    else:
        body.line(f"if ({together.vote(Text(flag, CType.BOOL))}) return;")
