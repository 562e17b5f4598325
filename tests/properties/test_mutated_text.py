"""Kernels whose text was changed at random are accepted or refused in words; nothing else ever leaves the compiler.

The kernels are those of the gallery and of the conformance tests. A change puts another expression, statement, operator
or name in a random place, so most results are nonsense, as what people type is on the way to a kernel. What is accepted
is also lowered, and every stage is verified.
"""

import ast
import copy
import linecache
import random
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import isogrid as ig
from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.diagnostics.render_text import render_reports
from isogrid.frontend.build import build
from isogrid.ir.verify import verify
from isogrid.launch.specialise import check_specialisations

ROOT = Path(__file__).resolve().parents[2]
HEAD = """import math
from typing import Literal, TypeVar
import numpy as np
import isogrid as ig
from isogrid import *
from isogrid.dims import *
"""
EXPRESSIONS = [ast.parse(text, mode="eval").body for text in """
None|True|()|(1, 2)|((1, 2), 3)|-1|0|1|2**31|2**63|1e400|1.5|'s'|1j|...|x|x[0]|x[0, 0]|x[:]|x[-1]|x.shape|x.shape[0]
x.dtype|x.size|len(x)|ig.gid()|ig.gids()|ig.gid(1)|ig.lid(0)|ig.shared(f32, 4)|ig.local(ig.i32, (2, 2))|ig.barrier()
ig.group_sum(i)|ig.group_scan(1, exclusive=True)|ig.group_any(i > 0)|ig.is_power_of_two(N)|ig.i32|ig.i32(i)|ig.u8(i)
ig.f16(1.0)|ig.w32(i)|ig.bitcast(ig.f32, 1)|ig.saturate(ig.u8, 300)|ig.limits(ig.i32).max|ig.select(True, 1, 2)
ig.cdiv(N, 4)|int(N)|N|N + 1|N // 4|N * 2**64|range(3)|range(i, 10, -1)|ig.unroll(range(4), 2)|enumerate(x)|zip(x, x)
min(1, 2)|abs(-1)|math.inf|math.exp(1.0)|i < 3 < 5|not i|i if i > 0 else 1|i > 0 and i < 3|x is None|i in (1, 2)
lambda: 1|[1, 2]|f"{i}"|(i := 3)|print(i)|i.foo|ig.foo|ig.atomic_add(x, 0, 1)|i ** -1|2.0 ** 0.5|1 << 70|10**5000|1 // 0
5.0 // 0.0|~True|+i|i @ i|sum(x)|bool(i)|float(i)|ig.distinct(x)|ig.tunable(2, 4)|In[f32, N]|Literal[4]|In[()]
""".replace("\n", "|").split("|") if text]  # fmt: skip
STATEMENTS = [statement for text in """
pass|return|return 1|break|continue|ig.barrier()|i += 1|i = 1|i: ig.i32 = 3|i: ig.f32|x[0] = 1|x[0] += 1|a = b = 1
(a, b), c = (1, 2), 3|a, b = x[0]|a, *b = 1, 2|x = 3|N = 3|del i|assert i > 0, "m"|for i in range(3): pass|row = x[0]
for q in x: x[0] = q|for q in (1, 2.0): y = q|for q, (r, s) in enumerate(zip(x, x)): pass|while True: break
for row in range(2): pass|while i > 0: i -= 1|if True: i = 2.0|ig.require(N > 1)|s = ig.shared(ig.f32, 16)
s = ig.local(ig.f32, (2, 3))|a = ig.gid|a = ig.i32|a = x|a = None|ig.group_sum(1)|for q in range(0, 9, 0): pass
import math|raise ValueError|def f(): pass|for q in ig.unroll(range(4), 2): v = 1.0
for q in range(ig.u64(2**64 - 1)): i = 1
""".replace("\n", "|").split("|") for statement in ast.parse(text).body]  # fmt: skip
OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
    ast.BitXor, ast.MatMult,
)  # fmt: skip
#: What surrounds a kernel in its file, and the kernel.
Text: TypeAlias = tuple[list[ast.stmt], ast.FunctionDef]
KERNELS_OF_A_SEED = 150


def texts() -> list[Text]:
    """Every kernel of the gallery and of the conformance tests, each with what stands around it."""
    files = [path.read_text() for path in sorted((ROOT / "examples").glob("*.py")) if path.stem != "demo"]
    statements = (ROOT / "tests" / "conformance" / "statements.txt").read_text().split("# ---")[1:]
    found: list[Text] = []
    for source in [*files, *(text.split("\n", 1)[1] for text in statements)]:
        body = ast.parse(source).body
        kernels = [s for s in body if isinstance(s, ast.FunctionDef) and _is_decorated(s, "kernel")]
        found += [([s for s in body if s not in kernels], kernel) for kernel in kernels]
    return found


def _is_decorated(function: ast.FunctionDef, word: str) -> bool:
    return any(f"ig.{word}" in ast.unparse(decorator) for decorator in function.decorator_list)


def _needed(around: list[ast.stmt], kernel: ast.FunctionDef) -> list[ast.stmt]:
    """The definitions that the kernel reaches: the machinery of an example is no part of it."""
    names, kept = _names(kernel), list[ast.stmt]()
    for statement in reversed(around):
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined = {name}
            case ast.Assign(targets=targets):
                defined = {n for target in targets for n in _names(target)}
            case _:
                defined = set[str]()
        if defined & names:
            kept.append(statement)
            names |= _names(statement)
    return kept[::-1]


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def mutate(function: ast.FunctionDef, chance: random.Random) -> None:
    """One change of the function, its decorator and annotations included."""
    kind = chance.random()
    if kind < 0.55:
        places = [
            (node, field, index)
            for node in ast.walk(function)
            for field, value in ast.iter_fields(node)
            for index, part in enumerate(value if isinstance(value, list) else [value])
            if isinstance(part, ast.expr)
        ]
        node, field, index = chance.choice(places)
        value = getattr(node, field)
        old = value[index] if isinstance(value, list) else value
        new = _other(old, [part for part in ast.walk(function) if isinstance(part, ast.expr)], chance)
        if isinstance(value, list):
            value[index] = new
        else:
            setattr(node, field, new)
    elif kind < 0.9:
        blocks = [b for node in ast.walk(function) if (b := getattr(node, "body", None)) and isinstance(b, list)]
        block: list[Any] = chance.choice(blocks)
        at = chance.randrange(len(block))
        match chance.randrange(5):
            case 0 if len(block) > 1:
                del block[at]
            case 1:
                block.insert(at, copy.deepcopy(block[at]))
            case 2:
                block[at] = ast.For(
                    ast.Name("q", ast.Store()), copy.deepcopy(chance.choice(EXPRESSIONS)), [block[at]], []
                )
            case _:
                block.insert(at, copy.deepcopy(chance.choice(STATEMENTS)))
    elif operations := [n for n in ast.walk(function) if isinstance(n, ast.BinOp | ast.AugAssign)]:
        chance.choice(operations).op = chance.choice(OPERATORS)()


def _other(old: ast.expr, present: list[ast.expr], chance: random.Random) -> ast.expr:
    match chance.randrange(6):
        case 0:
            return copy.deepcopy(chance.choice(present))
        case 1:
            return ast.BinOp(old, chance.choice(OPERATORS)(), copy.deepcopy(chance.choice(EXPRESSIONS)))
        case 2:
            return ast.Subscript(old, copy.deepcopy(chance.choice(EXPRESSIONS)), ast.Load())
        case _:
            return copy.deepcopy(chance.choice(EXPRESSIONS))


def judged(source: str, name: str, kernel: str) -> str:
    """What becomes of a text: Python does not take it, or the compiler accepts or refuses it."""
    try:
        code = compile(source, name, "exec")
    except (SyntaxError, ValueError):
        return "no Python"
    space: dict[str, Any] = {"__name__": "mutated"}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(code, space)
    except ig.KernelRefused as refused:
        return "refused" if str(refused) else "refused without a word"
    except Exception as error:
        # A decorator or annotation is Python; what is wrong with a call of ours is an error of those kinds.
        inside = "/isogrid/" in traceback.extract_tb(error.__traceback__)[-1].filename
        assert not inside or isinstance(error, TypeError | ValueError | AttributeError | ig.IsogridError), source
        return "no Python"
    made = space[kernel]
    reports = made.check()
    if reports:
        return "refused" if render_reports(reports) else "refused without a word"
    for specialisation in check_specialisations(made.definition, made.tunables):
        program = build(made.definition, specialisation, made.compiled.captures)
        verify(program, "the front end")
        better = pipeline.optimise(program, frozenset(), LaunchFacts(small=True), {})
        verify(better, "the passes")
        verify(pipeline.lower(better, LaunchFacts(small=True)), "lowering")
    return "accepted"


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(4))
def test_changed_text_is_accepted_or_refused(seed: int) -> None:
    chance, found, all_texts = random.Random(seed), Counter[str](), texts()
    for number in range(KERNELS_OF_A_SEED):
        around, kernel = copy.deepcopy(chance.choice(all_texts))
        kept = _needed(around, kernel)
        helpers = [s for s in kept if isinstance(s, ast.FunctionDef) and _is_decorated(s, "func")]
        for _ in range(chance.choice((1, 1, 2, 3))):
            mutate(chance.choice([kernel, kernel, *helpers]), chance)
        source = HEAD + ast.unparse(ast.fix_missing_locations(ast.Module([*kept, kernel], [])))
        try:
            found[judged(source, f"<mutated {seed} {number}>", kernel.name)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}, number {number}:\n{source}") from error
    assert not found["refused without a word"] and found["accepted"] >= 5 and found["refused"] >= 50, found
