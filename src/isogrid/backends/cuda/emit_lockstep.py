"""Several copies of a body written statement by statement: threads that one thread takes, or trips of a loop.

Checks, and conditions on coordinates alone, are asked for all copies together, as long as nothing has been written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import Code, Variable, assume, evaluate
from isogrid.backends.cuda.emit_slow import emit_rare
from isogrid.backends.cuda.plan_copies import depends_on_data, is_early_return, is_guard
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit


@dataclass(slots=True)
class Copy:
    """The state of one of the threads."""

    specials: dict[tuple[str, int], str]
    sums: dict[str, Linear]
    variables: dict[str, Variable]
    env: dict[str, str] = field(default_factory=dict[str, str])


def together(
    code: Code,
    copies: Sequence[Copy],
    body: d.Block,
    apart: str,
    data: set[str],
    effects: list[bool],
    agreed: Callable[[str], str] = lambda value: value,
    collective: Callable[[Sequence[Copy], d.Collective], None] | None = None,
    done: str = "",
    held: set[d.Expr] | None = None,
) -> None:
    """The copies statement by statement. `effects` says whether something was written; from then on, and behind a
    group operation, conditions are asked of each copy. `agreed` makes an answer one of the whole warp. `done` is where
    copies go that have nothing left to do. `held` are conditions that were found to hold for all copies."""
    w = code.w
    held = set[d.Expr]() if held is None else held
    for node in body:
        w.mark(node.span.line)
        match node:
            case d.Check():
                _all(code, copies, node.ok, apart, agreed, wanted=True)
            case d.Collective() if collective is not None:
                collective(copies, node)
                effects[0] = True
            case d.If(rare=True, otherwise=()) if effects[0] or collective is not None:
                _rarely(code, copies, node, body)
            case d.If(rare=True, otherwise=()):
                _begin_again(code, copies, node.condition, apart)
            case d.If() if held.issuperset(_clauses(node.condition)):
                together(code, copies, node.then, apart, data, effects, agreed, collective, held=held)
            case d.If() if is_guard(data, node, effects[0]):
                if is_early_return(node):
                    _all(code, copies, node.condition, apart, agreed, wanted=False)
                else:
                    rest = done if node is body[-1] and not node.otherwise else ""
                    _all(code, copies, node.condition, apart, agreed, wanted=True, none=rest)
                    held.update(_clauses(node.condition))
                    together(code, copies, node.then, apart, data, effects, agreed, collective, rest, held)
            case _:
                if isinstance(node, d.Let) and depends_on_data(data, node.value):
                    data.add(node.name)
                effects[0] |= _has_effect(node)
                each(code, copies, lambda node=node: code.emit(code, node))


def _rarely(code: Code, copies: Sequence[Copy], node: d.If, body: d.Block) -> None:
    """A slow path of an elementary function, behind one question for all copies: what they have computed by then is
    little, and has to be put aside only where a path is taken. Which copies it is for is asked there once more."""
    w, names = code.w, {s.name: s.value for s in body if isinstance(s, d.Let) and s.value.type is Machine.I1}
    condition = _spelt_out(node.condition, names)
    slow, done = w.block("slow"), w.block("fast")
    w.branch(_all_hold(code, copies, condition), done, slow)
    w.place(slow)
    used = {part.name: part.type for part in visit(condition) if isinstance(part, d.Value)}

    def answer() -> str:
        before = code.env
        again = {name: _hidden(code, before[name], type) for name, type in used.items() if name in before}
        code.env = {**before, **again}
        found = evaluate(code, condition)
        code.env = before
        return found

    answers = list[str]()
    each(code, copies, lambda: answers.append(answer()))
    left = iter(answers)
    each(code, copies, lambda: emit_rare(code, node, next(left)))
    w.place(done)


def _spelt_out(condition: d.Expr, names: dict[str, d.Expr]) -> d.Expr:
    """A condition with the named answers that it is made of."""
    match condition:
        case d.Value(name=name) if name in names:
            return _spelt_out(names[name], names)
        case d.Op(op="inot" | "iand", arguments=arguments):
            return replace(condition, arguments=tuple(_spelt_out(part, names) for part in arguments))
        case _:
            return condition


def _hidden(code: Code, value: str, type: Machine) -> str:
    """A value that LLVM takes for another one, so that it does not keep what it computed from the first."""
    w = code.w
    match type:
        case Machine.F32:
            bits = w.emit(f'call i32 asm "mov.b32 $0, $1;", "=r,f"(float {value})')
            return w.emit(f"bitcast i32 {bits} to float")
        case Machine.F64:
            bits = w.emit(f'call i64 asm "mov.b64 $0, $1;", "=l,d"(double {value})')
            return w.emit(f"bitcast i64 {bits} to double")
        case Machine.I32:
            return w.emit(f'call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 {value})')
        case Machine.I64:
            return w.emit(f'call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 {value})')
        case _:
            return value


def _begin_again(code: Code, copies: Sequence[Copy], condition: d.Expr, apart: str) -> None:
    """A slow path where nothing has been written yet: the copies begin again, one after the other, and so need not keep
    for it what they were given and what they have computed."""
    done = code.w.block("fast")
    code.w.branch(_all_hold(code, copies, condition), done, apart)
    code.w.place(done)


def _all_hold(code: Code, copies: Sequence[Copy], condition: d.Expr) -> str:
    """Whether no copy needs a slow path. Clause by clause: the tests of one for all copies become a test of the least
    of what they look at."""
    clauses = _clauses(d.Op("inot", (condition,), Machine.I1))
    return _joined(code, [_joined(code, _answers(code, copies, clause)) for clause in clauses])


def _answers(code: Code, copies: Sequence[Copy], condition: d.Expr) -> list[str]:
    """Whether a condition holds, for each copy."""
    found = list[str]()
    each(code, copies, lambda: found.append(evaluate(code, condition)))
    return found


def _joined(code: Code, answers: Sequence[str]) -> str:
    """Whether all hold."""
    found = answers[0]
    for answer in answers[1:]:
        found = code.w.emit(f"and i1 {found}, {answer}")
    return found


def _clauses(condition: d.Expr) -> list[d.Expr]:
    """The parts of a conjunction."""
    match condition:
        case d.Op(op="inot", arguments=(d.Op(op="inot", arguments=(inner,)),)):
            return _clauses(inner)
        case d.Op(op="iand", arguments=arguments):
            return [clause for part in arguments for clause in _clauses(part)]
        case _:
            return [condition]


def _has_effect(node: d.Statement) -> bool:
    match node:
        case d.Store() | d.Atomic():
            return True
        case d.If():
            return any(_has_effect(s) for s in (*node.then, *node.otherwise))
        case _:
            return False


def _all(
    code: Code,
    copies: Sequence[Copy],
    condition: d.Expr,
    apart: str,
    agreed: Callable[[str], str],
    *,
    wanted: bool,
    none: str = "",
) -> None:
    """Go on here only if the condition has the same, wanted answer for all copies; at `none` if it holds for none."""
    w, answers = code.w, list[str]()
    each(code, copies, lambda: answers.append(evaluate(code, condition)))
    decided = answers[0]
    for answer in answers[1:]:
        if answer != decided:
            decided = w.emit(f"{'and' if wanted else 'or'} i1 {decided}, {answer}")
    if not wanted:
        decided = w.emit(f"xor i1 {decided}, true")
    decided = agreed(decided)
    same = w.block("same")
    if not none or len(set(answers)) == 1:
        w.branch(decided, same, none or apart)
    else:
        mixed, some = w.block("mixed"), answers[0]
        w.branch(decided, same, mixed)
        w.place(mixed)
        for answer in answers[1:]:
            some = w.emit(f"or i1 {some}, {answer}")
        w.branch(some, apart, none)
    w.place(same)
    assume(code, condition, wanted)


def each(code: Code, copies: Sequence[Copy], emit: Callable[[], None]) -> None:
    """Write something for each copy in turn."""
    for copy in copies:
        code.specials, code.sums, code.variables, code.env = copy.specials, copy.sums, copy.variables, copy.env
        emit()
