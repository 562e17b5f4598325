"""Random loops as text, and what their iterations touch when they run in any order.

The loops use integers alone, so that every accepted reduction has one value in every order. Each is judged; then its
plain Python text runs with the iterations in order and shuffled, every access logged.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.frontend.captures import Captures
from isogrid.launch.specialise import check_specialisations
from isogrid.offloading.analysis import Analysis, analyse
from tests.offload.written import HEAD, function

ARRAYS = ("a", "b", "c")
SIZE = 80
#: Extents of the array of two axes.
SIDE = 24
DIMS = "".join(f"class N{name}(ig.Dim): pass\n" for name in (*ARRAYS, "p"))
DIMS += "class Rows(ig.Dim): pass\nclass Columns(ig.Dim): pass\n"
#: Helpers that a body may call; without the decorator they are Python's.
HELPERS = """
@ig.func
def twice(v):
    return v * 2

@ig.func
def of(x, i):
    return x[i]

@ig.func
def put(x, i, v):
    x[i] = v
"""
_PARAMETERS = ", ".join(
    [f"{name}: InOut[i64, N{name}]" for name in ARRAYS]
    + ["g: InOut[i64, Rows, Columns]", "p: In[i64, Np]", *(f"{s}: i64" for s in "nwhk")]
)
_HEADERS = (
    "range(n)",
    "range(n)",
    "range(h)",
    "range(1, n)",
    "range(n - 1, -1, -1)",
    "range(0, n, 2)",
    "range(2, h + 2)",
)
_OPERATORS = ("+", "+", "+", "*", "|", "&", "^")


@dataclass
class _Writer:
    """Text of one loop body. `names` are the locals assigned so far on every path."""

    random: random.Random
    nested: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    count: int = 0

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def index(self) -> str:
        c = self.random.randint(0, 3)
        forms = [
            "i", "i", "i", "i", f"i + {c}", f"{c} + i", "2 * i", "2 * i + 1", f"3 * i + {c}", "n - 1 - i", "i * k",
            f"i * k + {c}", "i // 2", "i % 4", "p[i]", str(c), "i * i", "int(i)", "i + i", f"20 - i - {c}", "k + i",
        ]  # fmt: skip
        for x, bound in self.nested:
            forms += [f"i * {bound} + {x}"] * 6 + [f"{x} + {bound} * i", f"i * w + {x}", x, f"i + {x}", f"i * 4 + {x}"]
        forms += [name for name in self.names if name.startswith("j")] * 2
        return self.pick(*forms)

    def pair(self) -> str:
        """Indices of the array of two axes."""
        c = self.random.randint(0, 3)
        forms = ["i, 0", "0, i", f"i, {c}", f"i + {c}, i", "i, p[i]", "p[i], i", "i, i"]
        for width in ("w", "w", "k", "4"):
            forms += [f"i // {width}, i % {width}"] * 2 + [f"i % {width}, i // {width}", f"i // {width}, i % k"]
        for x, _ in self.nested:
            forms += [f"i, {x}"] * 4 + [f"{x}, i"] * 2 + [f"{x}, {x}", f"i + {x}, {x}", f"2 * i + {c}, {x}"]
        return self.pick(*forms)

    def place(self) -> str:
        """An element."""
        return f"g[{self.pair()}]" if self.random.random() < 0.25 else f"{self.pick(*ARRAYS)}[{self.index()}]"

    def value(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            reads = [self.place(), self.place(), "p[i]", "i", "k", str(self.random.randint(0, 5))]
            reads.append(self.pick(f"twice({self.place()})", f"of({self.pick(*ARRAYS)}, {self.index()})"))
            return self.pick(*reads, *self.names, *(self.shared if self.random.random() < 0.1 else ()))
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.pick(f"{left} + {right}", f"{left} - ({right})", f"min({left}, {right})", f"({left}) * 2")

    def statement(self, depth: int, indent: str) -> list[str]:
        roll = self.random.random()
        array = self.pick(*ARRAYS)
        if roll < 0.32:
            return [f"{indent}{self.place()} = {self.value()}"]
        if roll < 0.34:
            return [f"{indent}put({array}, {self.index()}, {self.value(1)})"]
        if roll < 0.5:
            return [f"{indent}{self.place()} {self.pick(*_OPERATORS)}= {self.value(1)}"]
        if roll < 0.62:
            return self.reduction(indent)
        if roll < 0.72:
            self.count += 1
            name = self.pick("t", "j") + str(self.count)
            text = self.index() if name.startswith("j") else self.value()
            self.names.append(name)
            return [f"{indent}{name} = {text}"]
        if roll < 0.8 and depth:
            return self.branch(depth, indent)
        if roll < 0.95 and depth:
            return self.loop(depth, indent)
        if roll < 0.97:
            return [f"{indent}if {self.value(1)} > 4:", f"{indent}    continue"] if not self.nested else []
        if roll < 0.985 and depth:
            return self.counting(depth, indent)
        name = self.pick("s", "m")
        return [f"{indent}{name} = {self.value(1)}"]

    def reduction(self, indent: str) -> list[str]:
        name = self.pick("s", "m")
        value = self.value(1)
        op = self.pick("+", "+", "|", "min", "max", "-")
        self.shared.append(name)
        if op in ("min", "max"):
            return [f"{indent}{name} = {op}({name}, {value})"]
        return [indent + self.pick(f"{name} {op}= {value}", f"{name} = {name} {op} ({value})")]

    def branch(self, depth: int, indent: str) -> list[str]:
        known = list(self.names)
        lines = [f"{indent}if {self.value(1)} > {self.random.randint(0, 6)}:"]
        lines += self.block(depth - 1, indent + "    ")
        self.names = known
        return lines

    def loop(self, depth: int, indent: str) -> list[str]:
        known, x = list(self.names), self.pick("x", "x", "y")
        if any(x == name for name, _ in self.nested):
            return []
        bound = self.pick("w", "w", "w", "4", "k", "h")
        head = self.pick(bound, bound, bound, bound, f"{bound} + 1", f"1, {bound}", f"0, {bound}, 2")
        lines = [f"{indent}for {x} in range({head}):"]
        self.nested.append((x, bound))
        lines += self.block(depth - 1, indent + "    ")
        self.nested.pop()
        self.names = known
        return lines

    def counting(self, depth: int, indent: str) -> list[str]:
        """A `while` with a counter of its own."""
        self.count += 1
        name, known = f"q{self.count}", list(self.names)
        lines = [f"{indent}{name} = 0", f"{indent}while {name} < {self.pick('w', 'k', '3', 'p[i]')}:"]
        lines.append(f"{indent}    {name} += 1")  # first, so that a `continue` does not skip it
        self.names.append(name)
        lines += self.block(depth - 1, indent + "    ")
        self.names = known
        return lines

    def block(self, depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        for _ in range(self.pick(1, 1, 2, 2, 3)):
            lines += self.statement(depth, indent)
        return lines or [f"{indent}pass"]


def loop_text(seed: int) -> str:
    """A function `f` with one candidate loop."""
    writer = _Writer(random.Random(seed))
    header = writer.pick(*_HEADERS)
    body = writer.block(2, "        ")
    lines = [f"def f({_PARAMETERS}) -> tuple[i64, i64]:", "    s = 0", "    m = 7", f"    for i in {header}:", *body]
    return "\n".join([*lines, "    return s, m"]) + "\n"


@dataclass
class Log:
    """Who touched what: per array and element, the iterations that read it and those that wrote it."""

    iteration: int = -1
    reads: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    writes: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def conflicts(self, free: Iterable[str]) -> list[tuple[str, int]]:
        """Elements that two iterations touched, one of them writing; arrays that are only updated are `free`."""
        found: list[tuple[str, int]] = []
        for place, writers in self.writes.items():
            if place[0] not in free and len(writers | self.reads.get(place, set())) > 1:
                found.append(place)
        return found


class Logged:
    """An array of Python integers that logs every access."""

    def __init__(self, name: str, values: Iterable[int], log: Log) -> None:
        self.name, self.values, self.log = name, list(values), log

    def __len__(self) -> int:
        return len(self.values)

    def _place(self, index: int | tuple[int, int]) -> int:
        if isinstance(index, tuple):
            row, column = index
            if not (0 <= row < SIDE and 0 <= column < SIDE):
                raise IndexError(index)
            return row * SIDE + column
        if not 0 <= index < len(self.values):
            raise IndexError(index)
        return index

    def __getitem__(self, index: int | tuple[int, int]) -> int:
        place = self._place(index)
        self.log.reads.setdefault((self.name, place), set()).add(self.log.iteration)
        return self.values[place]

    def __setitem__(self, index: int | tuple[int, int], value: int) -> None:
        place = self._place(index)
        self.log.writes.setdefault((self.name, place), set()).add(self.log.iteration)
        self.values[place] = value


#: Values of n, w, h and k that loops run with.
SCALARS = ((9, 4, 5, 3), (12, 2, 3, 1), (7, 5, 6, 2))


def run(text: str, seed: int, shuffle: int = 0, scalars: tuple[int, ...] = SCALARS[0]) -> tuple[Any, Log] | None:
    """Result and arrays, and the log; None where the loop leaves an array. `shuffle` 0 is the order of the text."""
    log = Log()
    choose = random.Random(shuffle)

    def order(trips: range) -> Iterator[int]:
        numbers = list(trips)
        if shuffle:
            choose.shuffle(numbers)
        for number in numbers:
            log.iteration = number
            yield number

    lines = text.splitlines()
    lines[0] = f"def f({', '.join([*ARRAYS, *'gpnwhk'])}):"
    lines[3] = lines[3].replace("in range(", "in order(range(").removesuffix(":") + "):"
    space: dict[str, Any] = {"order": order}
    exec(HELPERS.replace("@ig.func\n", ""), space)
    exec("\n".join(lines), space)
    data = random.Random(seed)
    arrays = {name: Logged(name, (data.randint(-3, 9) for _ in range(SIZE)), log) for name in ARRAYS}
    arrays["g"] = Logged("g", (data.randint(-3, 9) for _ in range(SIDE * SIDE)), log)
    index = Logged("p", (data.randint(0, 9) for _ in range(SIZE)), log)
    try:
        result = space["f"](*arrays.values(), index, *scalars)
    except (IndexError, UnboundLocalError):
        return None
    return (result, [a.values for a in arrays.values()]), log


def arguments(seed: int) -> dict[str, Any]:
    """What the typed function takes, as NumPy arrays."""
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {name: random.integers(-3, 9, SIZE) for name in ARRAYS}
    found["g"] = random.integers(-3, 9, (SIDE, SIDE))
    return found | {"p": random.integers(0, 9, SIZE), **dict(zip("nwhk", SCALARS[0], strict=True))}


def typed(text: str, seed: int) -> FunctionType:
    """The function to decorate."""
    return function(text, f"random loop {seed}", HEAD + DIMS + HELPERS)


@dataclass
class Judged:
    text: str
    function: FunctionType
    analysis: Analysis | None

    @property
    def accepted(self) -> bool:
        return self.analysis is not None and not self.analysis.refusals


def judged(seed: int) -> Judged:
    """A random loop with its verdict; no analysis where the language refuses it."""
    text = loop_text(seed)
    made = typed(text, seed)
    offloaded = ig.offload(made)
    try:
        specialisation = next(check_specialisations(offloaded.definition, {}))
        return Judged(text, made, analyse(offloaded.definition, specialisation, Captures()))
    except ig.KernelRefused:
        return Judged(text, made, None)


def fault(seed: int, loop: Judged) -> str | None:
    """What is wrong with accepting the loop, or None: an order that changes the outcome, or two iterations at one
    element."""
    if loop.analysis is None:
        return None
    accepted = loop.analysis.verdict.loops[0].accepted
    assert accepted is not None
    free = [w.array for w in accepted.written.values() if w.kind == "scatter"]
    for scalars in SCALARS:
        expected = run(loop.text, seed, 0, scalars)
        if expected is None:
            continue
        conflicts = expected[1].conflicts(free)
        if conflicts:
            return f"two iterations meet at {conflicts[0]}, for n, w, h, k = {scalars}"
        for attempt in range(2):
            found = run(loop.text, seed, attempt + 1, scalars)
            if found is None or found[0] != expected[0]:
                return f"order {attempt} gives another result, for n, w, h, k = {scalars}"
    return None


def meets(seed: int, loop: Judged) -> bool:
    """Whether two iterations of a loop touch one element, or another order changes the outcome, for some scalars."""
    for scalars in SCALARS:
        expected = run(loop.text, seed, 0, scalars)
        if expected is None:
            continue
        other = run(loop.text, seed, 1, scalars)
        if expected[1].conflicts(()) or other is None or other[0] != expected[0]:
            return True
    return False
