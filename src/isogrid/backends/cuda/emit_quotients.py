"""Quotients and roots of f32 in trips that run side by side: one question for all of them in place of one for each.

    y = rcp.approx(b);  y += y (1 - b y);  q = a y;  q += y (a - b q)        if any is out of range: every q = a / b

The assembler writes this for every quotient, with a branch of its own to a function for what is out of range, and no
quotient starts before that branch of the one before has ended. decisions/0184 has the proof and what was measured.
"""

from collections.abc import Callable, Sequence
from typing import Final

from isogrid.backends.cuda.emit_code import Code, Variable, apply, evaluate, read_variable
from isogrid.backends.cuda.emit_lockstep import Copy, each
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_expr, visit

#: Compute capabilities whose approximations were tried for every significand.
MEASURED: Final = (90,)
#: The exponents in range, as the lowest of 128 in the place where they stand: of a divisor, of a quotient, of a root.
_DIVISOR, _QUOTIENT, _ROOT = ((127 + exponent) << 23 for exponent in (-32, -64, -48))
#: Set where a difference from the lowest is not below 128 exponents, sign aside.
_OUTSIDE: Final = 1 << 30


def is_quick(node: d.Node) -> bool:
    """Whether an operation is computed here: a quotient by a constant is the assembler's."""
    match node:
        case d.Op(op="fdiv", type=Machine.F32, arguments=(_, divisor)):
            return not isinstance(divisor, d.Literal)
        case d.Op(op="fsqrt", type=Machine.F32):
            return True
        case _:
            return False


def with_quotients_apart(body: d.Block) -> d.Block:
    """The statements with a `Let` for each quotient and root outside of branches, in the order of evaluation. What a
    variable is set to from its own value stays where it is: that statement runs trip after trip."""
    result: list[d.Statement] = []
    for statement in body:
        match statement:
            case d.Let(start=False, value=value) | d.Set(value=value) | d.Store(value=value):
                result += _apart(statement, value, len(result))
            case _:
                result.append(statement)
    return tuple(result)


def _apart(statement: d.Let | d.Set | d.Store, value: d.Expr, place: int) -> list[d.Statement]:
    before: list[d.Statement] = []
    own = statement.name if isinstance(statement, d.Set) else ""

    def name(node: d.Expr) -> d.Expr:
        if not is_quick(node) or any(isinstance(part, d.Value) and part.name == own for part in visit(node)):
            return node
        made = d.Value(f"quotient {place}.{len(before)}", Machine.F32)
        before.append(d.Let(made.name, node, span=statement.span))
        return made

    if not any(is_quick(node) for node in visit(value)):
        return [statement]
    last = _valued(statement, map_expr(value, name))
    return [*before, last]


def _valued(statement: d.Let | d.Set | d.Store, value: d.Expr) -> d.Statement:
    match statement:
        case d.Let():
            return d.Let(statement.name, value, span=statement.span)
        case d.Set():
            return d.Set(statement.name, value, span=statement.span)
        case d.Store():
            return d.Store(statement.buffer, statement.index, value, span=statement.span)


def emit_quotients(code: Code, copies: Sequence[Copy], node: d.Let) -> None:
    """Give the name of a quotient or root its value in every copy."""
    w, operation = code.w, node.value
    assert isinstance(operation, d.Op)
    operands, results, tests = list[list[str]](), list[Variable](), list[str]()

    def quick() -> None:
        operands.append([evaluate(code, argument) for argument in operation.arguments])
        value, outside = (_root if operation.op == "fsqrt" else _quotient)(code, *operands[-1])
        results.append(Variable(w.alloca("float", "quotient"), Machine.F32))
        w.do(f"store float {value}, ptr {results[-1].pointer}")
        tests.extend(outside)

    each(code, copies, quick)
    some = tests[0]
    for test in tests[1:]:
        some = w.emit(f"or i32 {some}, {test}")
    slow, done = w.block("slow"), w.block("fast")
    w.branch(w.emit(f"icmp ne i32 {w.emit(f'and i32 {some}, {_OUTSIDE}')}, 0"), slow, done)
    w.place(slow)
    for given, result in zip(operands, results, strict=True):
        exact = apply(code, operation.op, given, Machine.F32, Machine.F32)
        w.do(f"store float {exact}, ptr {result.pointer}")
    w.place(done)
    left = iter(results)
    each(code, copies, lambda: _named(code, node.name, read_variable(code, next(left))))


def _named(code: Code, name: str, value: str) -> None:
    code.env[name] = value
    code.sums.pop(name, None)
    code.zeros[name] = 0


def _quotient(code: Code, a: str, b: str) -> tuple[str, list[str]]:
    w, fma = code.w, _fma(code)
    start = w.emit(f'call float asm "rcp.approx.ftz.f32 $0, $1;", "=f,f"(float {b})')
    minus = w.emit(f"fneg float {b}")
    inverse = fma(start, fma(minus, start, _ONE), start)
    near = w.emit(f"fmul float {a}, {inverse}")
    quotient = fma(fma(minus, near, a), inverse, near)
    return quotient, [_beyond(code, b, _DIVISOR), _beyond(code, quotient, _QUOTIENT)]


def _root(code: Code, x: str) -> tuple[str, list[str]]:
    w, fma = code.w, _fma(code)
    start = w.emit(f'call float asm "rsqrt.approx.ftz.f32 $0, $1;", "=f,f"(float {x})')
    near, half = w.emit(f"fmul float {x}, {start}"), w.emit(f"fmul float {start}, {_HALF}")
    root = fma(fma(w.emit(f"fneg float {near}"), near, x), half, near)
    return root, [_beyond(code, root, _ROOT)]


#: As LLVM writes them.
_ONE, _HALF = "1.0", "5.0e-01"


def _fma(code: Code) -> Callable[[str, str, str], str]:
    def fma(a: str, b: str, c: str) -> str:
        return code.w.call("llvm.fma.f32", "float", ["float"] * 3, [a, b, c])

    return fma


def _beyond(code: Code, value: str, lowest: int) -> str:
    """A word that tells, in the bit `_OUTSIDE`, whether a value is out of 128 exponents from the lowest on."""
    bits = code.w.emit(f"bitcast float {value} to i32")
    return code.w.emit(f"sub i32 {bits}, {lowest}")
