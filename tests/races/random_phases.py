"""Random kernels of one group that synchronise after each step, in loops, branches and with buffers that change roles;
then one barrier is taken away, weakened or put under a condition."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

HEAD = """
from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32


@ig.kernel(groups=1, block=8, warp=4)
def made(
    x: InOut[i32, Literal[8]], y: InOut[i32, Literal[8]], d: In[i32, Literal[4]], m: i32, c: i32, flag: bool
) -> None:
    s = ig.shared(i32, 24)
    l = ig.lid()
    v = i32(0)
"""

OWN = ("l", "l", "l", "7 - l", "l ^ 1", "(l + 1) % 8", "(l + 3) % 8")
OTHERS = ("l", "l ^ 1", "l ^ 4", "7 - l", "(l + 1) % 8", "(l + 7) % 8", "l // 2", "0", "max(l - 1, 0)", "l % 4")
OWN_OF_WARP = ("l", "l", "l ^ 1", "l // 4 * 4 + 3 - l % 4")
OTHERS_OF_WARP = ("l", "l ^ 1", "l ^ 2", "l ^ 3", "l // 4 * 4", "l // 4 * 4 + (l + 1) % 4")
GUARDS = ("l < 4", "l % 2 == 0", "l == 0", "l > 0", "l < m")
BARRIER = "ig.barrier()"
WARP_BARRIER = "ig.warp_barrier()"
TRIPS = ("m", "m", "3", "4", "2", "20", "d[0]")


@dataclass
class Phases:
    """`offsets` are where buffers begin, `counters` the loops around."""

    rng: random.Random
    offsets: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    names: int = 0
    #: Whether threads only meet those of their warp.
    by_warps: bool = False

    @property
    def barrier(self) -> str:
        return WARP_BARRIER if self.by_warps else BARRIER

    @property
    def own(self) -> str:
        return self.rng.choice(OWN_OF_WARP if self.by_warps else OWN)

    @property
    def others(self) -> str:
        return self.rng.choice(OTHERS_OF_WARP if self.by_warps else OTHERS)

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def common(self) -> str:
        """A condition that the whole group decides alike."""
        found = ["flag", "m > 1", "c == 1", "d[0] > 1", "m % 2 == 0", "d[m % 4] > 0"]
        for k in self.counters:
            found += [f"{k} % 2 == 0", f"{k} > 0", f"{k} == m", f"d[{k} % 4] > 0", f"{k} == 1"]
        return self.rng.choice(found)

    def cell(self, place: str) -> str:
        offset = self.rng.choice(["0", "0", "0", "8", *(o for o in self.offsets for _ in range(3))])
        return f"s[{offset} + {place}]"

    def step(self, indent: str) -> list[str]:
        chosen = self.rng.random()
        if chosen < 0.3:
            return [f"{indent}{self.cell(self.own)} = {self.rng.choice(('1', 'v', 'i32(l)'))}"]
        if chosen < 0.6:
            return [f"{indent}v = {self.cell(self.others)}"]
        if chosen < 0.72:
            inner = self.rng.choice((f"{self.cell(self.own)} = v", f"v = {self.cell(self.others)}"))
            return [f"{indent}if {self.rng.choice(GUARDS)}:", f"{indent}    {inner}"]
        if chosen < 0.8:
            return [f"{indent}{self.rng.choice('xxy')}[{self.own}] = v"]
        if chosen < 0.9:
            return [f"{indent}v = {self.rng.choice('xxy')}[{self.others}]"]
        return [f"{indent}v = ig.group_sum(v)"]

    def block(self, indent: str, depth: int, loop: str, count: int) -> list[str]:
        """Steps, each mostly behind a barrier; `loop` is the kind of loop around, or empty."""
        lines: list[str] = []
        inside = indent + "    "
        for _ in range(count):
            chosen = self.rng.random()
            if depth and chosen < 0.3:
                lines += self.loop(indent, depth)
            elif depth and chosen < 0.42:
                lines += [
                    f"{indent}if {self.common()}:",
                    *self.block(inside, depth - 1, loop, self.rng.randrange(1, 4)),
                ]
                if self.rng.random() < 0.6:
                    lines += [f"{indent}else:", *self.block(inside, depth - 1, loop, self.rng.randrange(1, 4))]
            elif loop and chosen < 0.5:
                lines += [indent + self.barrier] if self.rng.random() < 0.5 else []
                leave = self.rng.choice(("break", "continue")) if loop == "for" else "break"
                lines += [f"{indent}if {self.common()}:", inside + leave]
            else:
                lines += self.step(indent)
                lines += [indent + self.barrier] if self.rng.random() < 0.8 else []
        return lines

    def loop(self, indent: str, depth: int) -> list[str]:
        k, inside, known = self.fresh("k"), indent + "    ", len(self.offsets)
        self.counters.append(k)
        kind, head, tail = self.rng.choice(LOOPS)(self, k)
        body = self.block(inside, depth - 1, kind, self.rng.randrange(1, 4))
        self.counters.pop()
        del self.offsets[known:]
        end = [inside + line for line in tail]
        whole = body + end if self.rng.random() < 0.85 else end + body
        return [*(indent + line for line in head), *whole]


#: The kind of a loop, its head, and what ends each trip.
Loop = tuple[str, list[str], list[str]]


def _by_parity(p: Phases, k: str) -> Loop:
    p.offsets += [f"8 * ({k} % 2)", f"8 * (({k} + 1) % 2)", f"8 * ({k} % 3)"]
    return "for", [f"for {k} in range({p.rng.choice((*TRIPS, '1, m'))}):"], []


def _by_half(p: Phases, k: str) -> Loop:
    half = p.fresh("a")
    p.offsets += [f"8 * {half}", f"8 * (1 - {half})"]
    head = [f"{half} = {p.rng.choice('001')}", f"for {k} in range({p.rng.choice(TRIPS)}):"]
    return "for", head, [f"{half} = {p.rng.choice((f'1 - {half}', f'{half} ^ 1'))}"]


def _by_roles(p: Phases, k: str) -> Loop:
    a, b = p.fresh("a"), p.fresh("b")
    p.offsets += [a, b, a, b]
    return "for", [f"{a}, {b} = 0, 8", f"for {k} in range({p.rng.choice(TRIPS)}):"], [f"{a}, {b} = {b}, {a}"]


def _downwards(p: Phases, k: str) -> Loop:
    head = [f"{k} = {p.rng.choice('48m')}", f"while {k} > 0:"]
    return "while", head, [f"{k} {p.rng.choice(('//= 2', '-= 1', '>>= 1'))}"]


def _upwards(p: Phases, k: str) -> Loop:
    head = [f"{k} = 1", f"while {k} < {p.rng.choice('84m')}:"]
    return "while", head, [f"{k} {p.rng.choice(('*= 2', '+= 1', '<<= 1'))}"]


LOOPS: tuple[Callable[[Phases, str], Loop], ...] = (_by_parity, _by_half, _by_roles, _downwards, _upwards)


def kernel_text(seed: str) -> str:
    """A module with the kernel `made`."""
    p = Phases(random.Random(seed))
    p.by_warps = p.rng.random() < 0.25
    lines = p.block("    ", p.rng.choice((1, 2, 2)), "", p.rng.randrange(1, 5))
    barriers = [at for at, line in enumerate(lines) if line.strip() == p.barrier]
    if barriers and p.rng.random() < 0.65:
        at = p.rng.choice(barriers)
        indent = lines[at].removesuffix(p.barrier)
        lines[at] = indent + _weaker(p, indent)
    return HEAD + "\n".join(lines) + "\n"


def _weaker(p: Phases, indent: str) -> str:
    """What stands in the place of a barrier."""
    by_warp = p.rng.choice(("for _ in range(ig.warp_id()):", "for _ in range(1 - l // 4):", "if l < 4:"))
    by_group = p.rng.choice((f"if {p.common()}:", f"for _ in range({p.rng.choice(('m', 'd[1]', 'm // 2'))}):"))
    nested = f"\n{indent}    "
    if p.by_warps:
        return p.rng.choice(("pass", by_warp + nested + WARP_BARRIER, by_group + nested + WARP_BARRIER))
    return p.rng.choice(("pass", "pass", WARP_BARRIER, by_group + nested + BARRIER))
