"""Random bodies mean what Python means: the same text runs as a plain function and as a kernel of one thread.

Every operand may be a `tick`, a helper that notes in `log` that it was evaluated, so a wrong order, a missing short
circuit or a part evaluated twice shows, as do wrong values.
"""

import linecache
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

PROGRAMS = 120
PRELUDE = """\
@ig.func
def tick(log, mark, value):
    log[0] = (log[0] * 31 + mark) % 1000003
    return value


@ig.func
def early(log, a, b):
    for j in range(3):
        if a == j:
            return tick(log, 7, b)
        while b > 5:
            b -= tick(log, 8, 3)
            if b == 6:
                return b + j
    return a - b


@ig.func
def pair(log, a, b):
    if tick(log, 9, a) < b:
        return b, a
    return a, tick(log, 10, b)


@ig.func
def steps(log, n, count=0):
    return count if n <= 0 else steps(log, n - tick(log, 11, 2), count + 1)


@ig.kernel(grid=1)
def body(x: ig.InOut[ig.i64, N], m: ig.InOut[ig.i64, M, Literal[3]], log: ig.InOut[ig.i64, Literal[1]]) -> None:
    a = 1
    b = 2
    c = 3
"""
LOCALS = ("a", "b", "c")


class Writer:
    """Writes one random body. All values stay small, and all indices in range."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.marks = 0
        self.names = 0

    def text(self) -> str:
        lines = [line for _ in range(self.random.randint(3, 7)) for line in self.statement(0, in_loop=False)]
        return PRELUDE + "".join(f"    {line}\n" for line in lines)

    # --- expressions

    def value(self, depth: int = 0) -> str:
        simple = [self.literal, self.local, self.element, self.ticked]
        compound = [self.operation, self.choice, self.helper, self.least]
        return self.random.choice(simple if depth > 2 else simple + compound)(depth + 1)

    def literal(self, depth: int) -> str:
        return str(self.random.randint(-9, 9))

    def local(self, depth: int) -> str:
        return self.random.choice(LOCALS)

    def ticked(self, depth: int) -> str:
        self.marks += 1
        return f"tick(log, {self.marks + 20}, {self.value(depth + 1)})"

    def index(self, depth: int, extent: int) -> str:
        return f"({self.value(depth + 1)}) % {extent}"

    def element(self, depth: int) -> str:
        form = self.random.randrange(3)
        if form == 0:
            return f"x[{self.index(depth, 5)}]"
        separator = ", " if form == 1 else "]["
        return f"m[{self.index(depth, 4)}{separator}{self.index(depth, 3)}]"

    def operation(self, depth: int) -> str:
        op = self.random.choice(["+", "-", "*", "//", "%", "&", "|", "^"])
        right = self.value(depth)
        if op in ("//", "%"):
            right = f"(3 + ({right}) % 5)"
        return f"(({self.value(depth)} {op} {right}) % 1009)"

    def choice(self, depth: int) -> str:
        return f"({self.value(depth)} if {self.test(depth)} else {self.value(depth)})"

    def helper(self, depth: int) -> str:
        name = self.random.choice(["early", "pair", "steps"])
        if name == "steps":
            return f"steps(log, ({self.value(depth)}) % 9)"
        call = f"{name}(log, {self.value(depth)} % 50, {self.value(depth)} % 50)"
        return call + (f"[{self.random.randrange(2)}]" if name == "pair" else "")

    def least(self, depth: int) -> str:
        name = self.random.choice(["min", "max"])
        return f"{name}({', '.join(self.value(depth) for _ in range(self.random.randint(2, 3)))})"

    def test(self, depth: int) -> str:
        form = self.random.randrange(5 if depth < 3 else 2)
        if form <= 1:
            count = self.random.randint(1, 2 if form == 0 else 3)
            parts = [self.value(depth + 1) for _ in range(count + 1)]
            text = parts[0]
            for part in parts[1:]:
                text += f" {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {part}"
            return f"({text})"
        if form == 2:
            return f"(not {self.test(depth + 1)})"
        word = " and " if form == 3 else " or "
        return "(" + word.join(self.test(depth + 1) for _ in range(self.random.randint(2, 3))) + ")"

    # --- statements

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        forms = [self.assign, self.store, self.update, self.unpack, self.chain]
        if depth < 2:
            forms += [self.branch, self.counted, self.listed, self.over, self.looped]
        if in_loop and self.random.random() < 0.2:
            word = self.random.choice(["break", "continue"])
            return [f"if {self.test(2)}:", f"    {word}"]
        return list(self.random.choice(forms)(depth, in_loop))

    def block(self, depth: int, in_loop: bool) -> Iterator[str]:
        for _ in range(self.random.randint(1, 3)):
            for line in self.statement(depth + 1, in_loop):
                yield f"    {line}"

    def target(self) -> str:
        return self.random.choice([*LOCALS, self.element(2)])

    def assign(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.random.choice(LOCALS)} = {self.value()}"

    def store(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.element(1)} = {self.value()}"

    def update(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.target()} {self.random.choice(['+=', '-=', '^='])} {self.value()}"

    def unpack(self, depth: int, in_loop: bool) -> Iterator[str]:
        if self.random.random() < 0.3:
            yield f"{self.target()}, {self.target()} = pair(log, {self.value(2)}, {self.value(2)})"
        else:
            yield f"{self.target()}, {self.target()} = {self.value(1)}, {self.value(1)}"

    def chain(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.target()} = {self.target()} = {self.value()}"

    def branch(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"if {self.test(1)}:"
        yield from self.block(depth, in_loop)
        if self.random.random() < 0.4:
            yield f"elif {self.test(1)}:"
            yield from self.block(depth, in_loop)
        if self.random.random() < 0.5:
            yield "else:"
            yield from self.block(depth, in_loop)

    def counter(self) -> str:
        self.names += 1
        return f"i{self.names}"

    def counted(self, depth: int, in_loop: bool) -> Iterator[str]:
        step = self.random.choice([-2, -1, 1, 2])
        name = self.counter()
        yield f"for {name} in range({self.value(2)} % 5, {self.value(2)} % 9, {step}):"
        yield f"    c = (c + {name}) % 1009"
        yield from self.block(depth, in_loop=True)

    def listed(self, depth: int, in_loop: bool) -> Iterator[str]:
        items = ", ".join(self.value(2) for _ in range(self.random.randint(2, 3)))
        name, number = self.counter(), self.counter()
        if self.random.random() < 0.5:
            yield f"for {name} in ({items}):"
        else:
            yield f"for {number}, {name} in enumerate(({items}), {self.random.randint(0, 3)}):"
            yield f"    b = (b * 3 + {number}) % 1009"
        yield f"    a = (a + {name}) % 1009"
        yield from self.block(depth, in_loop=True)

    def over(self, depth: int, in_loop: bool) -> Iterator[str]:
        name, other = self.counter(), self.counter()
        form = self.random.randrange(4)
        if form == 0:
            yield f"for {name} in x:"
        elif form == 1:
            yield f"for {other}, {name} in enumerate(m[{self.index(2, 4)}]):"
        elif form == 2:
            yield f"for {name}, {other} in zip(x, m[{self.index(2, 4)}], strict=False):"
        else:
            yield f"for {other}, {name} in zip((4, 5, 6), x, strict=False):"
        yield f"    a = (a * 5 + {name}) % 1009"
        if form:
            yield f"    b = (b + {other}) % 1009"
        yield from self.block(depth, in_loop=True)

    def looped(self, depth: int, in_loop: bool) -> Iterator[str]:
        name = self.counter()
        yield f"{name} = 0"
        yield f"while {name} < {self.random.randint(1, 4)} and {self.test(2)}:"
        yield f"    {name} += 1"
        yield from self.block(depth, in_loop=True)


class Rows(list[list[int]]):
    """A list of rows that also takes `m[i, j]`."""

    def __getitem__(self, index: Any) -> Any:
        return list.__getitem__(self, index[0])[index[1]] if isinstance(index, tuple) else list.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        list.__getitem__(self, index[0])[index[1]] = value


def as_python(text: str) -> Any:
    """The body as a plain function: decorators leave it as it is, annotations mean nothing."""
    stand_in = SimpleNamespace(func=lambda f: f, kernel=lambda grid: lambda f: f)
    space: dict[str, Any] = {"ig": stand_in}
    exec("from __future__ import annotations\n" + text, space)
    return space["body"]


def as_kernel(text: str, name: str) -> Any:
    text = "from typing import Literal\nimport isogrid as ig\nfrom isogrid.dims import M, N\n" + text
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    return space["body"].on("interp")


@pytest.mark.parametrize("first", range(0, PROGRAMS, 20))
def test_random_bodies_mean_what_python_means(first: int) -> None:
    for seed in range(first, first + 20):
        text = Writer(seed).text()
        x, m, log = [3, -1, 4, 1, -5], Rows([i * 3 + j - 5 for j in range(3)] for i in range(4)), [0]
        arrays = [np.array(values, np.int64) for values in (x, m, log)]
        as_python(text)(x, m, log)
        as_kernel(text, f"<body {seed}>")(*arrays)
        assert [a.tolist() for a in arrays] == [x, m, log], text


def test_a_wrong_order_would_show() -> None:
    right = PRELUDE + "    a = tick(log, 1, 2) - tick(log, 2, 3)\n    x[0] = a\n"
    wrong = PRELUDE + "    a = -tick(log, 2, 3) + tick(log, 1, 2)\n    x[0] = a\n"
    results = []
    for text in (right, wrong):
        x, m, log = np.zeros(5, np.int64), np.zeros((4, 3), np.int64), np.zeros(1, np.int64)
        as_kernel(text, "<order>")(x, m, log)
        results.append((x[0], log[0]))
    assert results[0][0] == results[1][0] and results[0][1] != results[1][1]
