"""Random kernels made of the index arithmetic that kernels are full of: rings, mirrors, partners, permutations of a
row, strides, choices, scans, helpers with several returns; under guards, in loops of several kinds."""

import random
from dataclasses import dataclass, field

HEAD = """
from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32, u32
from isogrid.dims import H, N, W


class N2(ig.Dim, equals=N * 2):
    '''Twice N.'''


class HW(ig.Dim, equals=H * W):
    '''Cells of a grid.'''


@ig.func
def partner(i, n):
    if i % 2 == 0:
        return i + 1
    return i - 1


@ig.func
def wrapped(i, n):
    if i < 0:
        return i + n
    if i >= n:
        return i - n
    return i


"""
REST = "h: In[i32, H], w: In[i32, W], p: In[i32, Literal[4]], m: i32, c: i32"

#: Decorator, arrays, what a thread knows first, and (array, name of the own place, extent) for each place.
KINDS = (
    (
        "grid=N, block=4",
        "x: In[i32, N], y: InOut[i32, N], z: InOut[i32, N2], e: InOut[i32, Literal[8]]",
        ("i = ig.gid()",),
        (("y", "i", "N"), ("y", "i", "N"), ("z", "i", "N"), ("e", "i", "8")),
    ),
    (
        "grid=HW, block=4",
        "y: InOut[i32, HW]",
        ("i = ig.gid()", "r, q = i // W, i % W", "g = r * W + q"),
        (("y", "i", "HW"), ("y", "g", "HW"), ("y", "r", "H"), ("y", "q", "W")),
    ),
    (
        "groups=1, block=8",
        "y: InOut[i32, Literal[24]]",
        ("s = ig.shared(i32, 24)", "i = ig.lid()"),
        (("s", "i", "8"), ("s", "i", "8"), ("y", "i", "8")),
    ),
    (
        "grid=N, block=8",
        "y: InOut[i32, N], z: InOut[i32, N2]",
        ("s = ig.shared(i32, 24)", "t = ig.lid()", "i = ig.gid()"),
        (("s", "t", "8"), ("s", "t", "8"), ("y", "i", "N"), ("z", "i", "N")),
    ),
)
PLACES = (
    *("{i}", "{i}", "{i}", "{n} - 1 - {i}", "({i} + {k}) % {n}", "({k} - {i}) % {n}", "({i} + {s}) % {n}", "2 * {i}"),
    *("2 * {i} + 1", "{i} ^ {k}", "{i} ^ {s}", "{i} + {k}", "{i} - {s}", "{i} // 4 * 4 + (3 - {i} % 4)", "{i} * {s}"),
    *("{i} // 2 * 2 + 1 - {i} % 2", "{i} % 4 * 2 + {i} // 4", "{i} + {i} // 4", "({i} + 1 if {i} < {n} - 1 else 0)"),
    *("({i} - 1 if {i} > 0 else {n} - 1)", "wrapped({i} + {s}, {n})", "partner({i}, {n})", "{i} * ({s} + 1)"),
    *("{i} + 8 * {s}", "{i} * 4 + {k}", "({i} * 3) % 8", "{i} * ({i} + 1) // 2", "{i} * ({i} + 1) // 2 + {s}"),
    *("abs({i} - {n} + 1)", "(2 * {i} if {i} < {n} // 2 else 2 * {i} - {n} + 1)", "({i} << 1) + ({i} >> 2)"),
    *("({i} & 3) + ({i} & 4)", "({i} | 4) - 4", "{i} // ({s} + 1) * ({s} + 1) + {i} % ({s} + 1)", "{i} + W", "{i} - W"),
    *("{i} // ({s} + 1) * 2 * ({s} + 1) + {i} % ({s} + 1)", "int(u32({i}) * u32({k}))", "min({i} + 1, {n} - 1)"),
    *(
        "max({i} - 1, 0)",
        "{i} // 2",
        "{i} % 4",
        "ig.select({i} < {s}, {i} + {k}, {i})",
        "({s} + {i} if {i} % 2 == 0 else {i})",
    ),
)
GUARDS = (
    *("{i} < {s}", "{i} < {n} // 2", "{i} % 2 == c", "{i} % (2 * {s} + 2) == 0", "({i} ^ {s}) > {i}", "{i} == {k}"),
    *(
        "{i} >= {s}",
        "{i} + {s} < {n}",
        "({i} & {s}) == 0",
        "2 * {i} + 1 < {n}",
        "{i} > 0 and {i} < {n} - 1",
        "{i} != {s}",
    ),
    *("{i} % 4 != {k}", "({i} + {s}) % 2 == 0", "{s} <= {i} and {i} < 2 * {s}", "not ({i} < {s} or {i} > {k})"),
    *("{i} // 4 == {k}", "m > 0 and {i} % (m + 1) == 0"),
)
COUNTED = (
    "3",
    "m",
    "1, m",
    "m, 0, -1",
    "0, 8, m + 1",
    "c, 4, 2",
    "3, -1, -1",
    "{i}, {i} + 2",
    "4 * {i}, 4 * {i} + 4",
    "{i}, {n}, 8",
)
REQUIRED = ("m > 0", "m >= 2", "c >= 0 and c < 2", "m % 2 == 0", "m == c + 1", "ig.distinct(p)", "ig.is_sorted(p)")


@dataclass
class Idioms:
    rng: random.Random
    #: Locals of a thread, and numbers that all threads share.
    own: list[str] = field(default_factory=list)
    common: list[str] = field(default_factory=lambda: ["m", "1", "2", "4"])
    names: int = 0

    def fresh(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def filled(self, forms: tuple[str, ...], i: str, n: str) -> str:
        if self.own and self.rng.random() < 0.25:
            i = self.rng.choice(self.own)
        return self.rng.choice(forms).format(i=i, n=n, k=self.rng.randrange(5), s=self.rng.choice(self.common))

    def cell(self, places: tuple[tuple[str, str, str], ...]) -> tuple[str, str]:
        """An element, and the condition that it exists."""
        array, i, n = self.rng.choice(places)
        at = self.filled(PLACES, i, n)
        return f"{array}[{at}]", f"0 <= {at} < {n}"

    def access(self, indent: str, places: tuple[tuple[str, str, str], ...]) -> list[str]:
        cell, exists = self.cell(places)
        same = tuple(p for p in places if cell.startswith(p[0] + "["))
        other, other_exists = self.cell(same if self.rng.random() < 0.6 else places)
        lines: list[str] = []
        for condition in (self.filled(GUARDS, *self.rng.choice(places)[1:]), exists, other_exists):
            if self.rng.random() < 0.35:
                lines.append(f"{indent}if {condition}:")
                indent += "    "
        swap = f"t0, t1 = {cell}, {other}\n{indent}{cell} = t1\n{indent}{other} = t0"
        stores = (
            f"{cell} = {other} + 1",
            f"{cell} = {other}",
            f"{cell} = i32({self.rng.choice(self.common)})",
            f"{cell} += 1",
            swap,
        )
        return [*lines, indent + self.rng.choice(stores)]

    def block(self, indent: str, depth: int, places: tuple[tuple[str, str, str], ...], grouped: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
            chosen = self.rng.random()
            if grouped and chosen < 0.3:
                lines.append(f"{indent}ig.barrier()")
            elif grouped and chosen < 0.36:
                lines += self.counted(indent, places)
            elif depth and chosen < 0.55:
                lines += self.loop(indent, depth, places, grouped)
            elif chosen < 0.65:
                name = self.fresh()
                lines.append(f"{indent}{name} = {self.filled(PLACES, *self.rng.choice(places)[1:])}")
                self.own.append(name)
            else:
                lines += self.access(indent, places)
        return lines

    def counted(self, indent: str, places: tuple[tuple[str, str, str], ...]) -> list[str]:
        """A place from a scan, used by those that it counts, or by others."""
        array, i, n = places[0]
        condition, name = self.filled(GUARDS, i, n), self.fresh()
        kept = self.rng.choice((condition, condition, f"not ({condition})", self.filled(GUARDS, i, n)))
        at = self.rng.choice((name, name, f"{i} - {name}", f"{name} + 1", f"2 * {name}"))
        end = self.rng.choice((")", ", exclusive=True)"))
        return [
            f"{indent}{name} = int(ig.group_scan(i32({condition}){end})",
            f"{indent}if ({kept}) and 0 <= {at} < 8:",
            f"{indent}    {array}[{at}] = 1",
        ]

    def loop(self, indent: str, depth: int, places: tuple[tuple[str, str, str], ...], grouped: bool) -> list[str]:
        inside, name = indent + "    ", self.fresh()
        own, common = len(self.own), len(self.common)
        _, i, n = self.rng.choice(places)
        chosen = self.rng.random()
        tail: list[str] = []
        if chosen < 0.5:
            trips = self.rng.choice(COUNTED)
            head = [f"{indent}for {name} in range({trips.format(i=i, n=n)}):"]
            private = "{i}" in trips
            (self.own if private else self.common).append(name)
        else:
            private = chosen > 0.8
            start = i if private else self.rng.choice(("1", "2", "m"))
            head = [
                f"{indent}{name} = {start}",
                f"{indent}while {name} < {self.rng.choice((n if private else '8', '16'))}:",
            ]
            tail = [f"{inside}{name} {'+= 8' if private else self.rng.choice(('*= 2', '+= 1', '<<= 1'))}"]
            if not private:
                head.insert(1, f"{indent}{name} = max({name}, 1)")
            (self.own if private else self.common).append(name)
        body = self.block(inside, depth - 1, places, grouped and not private)
        del self.own[own:], self.common[common:]
        return [*head, *body, *tail]


def kernel_text(seed: str) -> str:
    """A module with the kernel `made`."""
    idioms = Idioms(random.Random(seed))
    geometry, arrays, first, places = idioms.rng.choice(KINDS)
    required = [f"ig.require({idioms.rng.choice(REQUIRED)})"] if idioms.rng.random() < 0.4 else []
    grouped = "s = ig.shared(i32, 24)" in first
    body = idioms.block("    ", idioms.rng.choice((1, 2)), places, grouped)
    lines = [*("    " + line for line in (*required, *first)), *body]
    return HEAD + f"@ig.kernel({geometry})\ndef made({arrays}, {REST}) -> None:\n" + "\n".join(lines) + "\n"
