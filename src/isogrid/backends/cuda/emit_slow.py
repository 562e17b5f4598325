"""Slow paths of elementary functions as functions beside the kernel, so that registers and code are those of the rest.

    if not good:               call float @slow.1(float %x)       define internal float @slow.1(float %x) noinline {
        y = ...          ->

A path becomes a function where it computes one variable from values: its copies then share it.
"""

import dataclasses

from isogrid.backends.cuda.emit_code import Code, SlowPath, Variable, assuming, read_variable, write_variable
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import Writer, type_text

#: Nodes of a path from which on a call costs less than what it saves.
_LEAST = 60


def emit_rare(code: Code, node: d.If, condition: str) -> None:
    """A slow path, for an answer that is known."""
    then, end = code.w.block("then"), code.w.block("end")
    code.w.branch(condition, then, end)
    code.w.place(then)
    outside, code.rare = code.rare, True
    if outside or not _called(code, node):
        with assuming(code, node.condition, True):
            for statement in node.then:
                code.emit(code, statement)
    code.rare = outside
    code.w.place(end)


def _called(code: Code, node: d.If) -> bool:
    """Call the function of a rare path, writing it first if this is the first call; False where it cannot be one."""
    if id(node) not in code.slow_paths:
        code.slow_paths[id(node)] = _written(code, node)
    path = code.slow_paths[id(node)]
    if path is None:
        return False
    arguments = ", ".join(f"{type_text(type)} {_value(code, name)}" for name, type in path.reads)
    type = type_text(code.variables[path.result].type)
    write_variable(code, path.result, code.w.emit(f"call {type} @{path.name}({arguments})"))
    return True


def _value(code: Code, name: str) -> str:
    return code.env[name] if name in code.env else read_variable(code, code.variables[name])


def _written(code: Code, node: d.If) -> SlowPath | None:
    body = node.then
    parts = [part for statement in body for part in visit(statement)]
    if node.otherwise or len(parts) < _LEAST or not all(_is_plain(code, part) for part in parts):
        return None
    own = {part.name for part in parts if isinstance(part, d.Let)}
    reads = {part.name: part.type for part in parts if isinstance(part, d.Value) and part.name not in own}
    sets = {part.name for part in parts if isinstance(part, d.Set)}
    inside = set(map(id, parts))
    elsewhere = {part.name for part in visit(code.kernel.body) if isinstance(part, d.Value) and id(part) not in inside}
    results = sorted(sets & elsewhere)
    if len(results) != 1 or not (own | sets).isdisjoint(reads.keys() - sets):
        return None
    path = SlowPath(f"slow_{len(code.slow_paths)}", tuple(reads.items()), results[0])
    code.helpers[path.name] = _text(code, path, body, sets)
    return path


def _is_plain(code: Code, part: d.Node) -> bool:
    """Whether a part of a path can stand in a function that knows nothing of the launch."""
    match part:
        case d.Load():
            return code.buffers[part.buffer].space is Space.TABLE
        case d.Let() | d.Set() | d.If() | d.Value() | d.Literal() | d.Op():
            return True
        case _:
            return False


def _text(code: Code, path: SlowPath, body: d.Block, sets: set[str]) -> str:
    """The definition. Variables of the path are its own; those that it reads start as parameters."""
    w = Writer(converts_halves=code.w.converts_halves, declarations=code.w.declarations)
    types = {name: variable.type for name, variable in code.variables.items()}
    inner = dataclasses.replace(
        code, w=w, specials={}, sums={}, env={}, arguments={}, zeros={}, rare=True, exits=[],
        variables={name: Variable(w.alloca(type_text(types[name]), "var"), types[name]) for name in sorted(sets)},
    )  # fmt: skip
    parameters = [(type_text(type), f"%in.{number}") for number, (_, type) in enumerate(path.reads)]
    for (name, _), (_, given) in zip(path.reads, parameters, strict=True):
        if name in inner.variables:
            write_variable(inner, name, given)
        else:
            inner.env[name] = given
    for statement in body:
        inner.emit(inner, statement)
    result = read_variable(inner, inner.variables[path.result])
    type = type_text(types[path.result])
    w.finish(f"ret {type} {result}")
    listed = ", ".join(f"{text} {name}" for text, name in parameters)
    return "\n".join([
        f"define internal {type} @{path.name}({listed}) nounwind noinline {{", "entry:", *w.allocas,
        "  br label %begin", "begin:", *w.lines, "}",
    ])  # fmt: skip
