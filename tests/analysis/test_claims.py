"""Random index arithmetic under random guards and loops: no check is removed that some launch needs.

The interpreter runs the optimised kernel and raises `CompilerBug` where an operation without its check would trap.
"""

import linecache
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.interp.launch import run_program
from isogrid.backends.interp.program import compile_program
from isogrid.ir import kernel as k
from isogrid.ir.verify import verify
from isogrid.passes.remove_proved_checks import count_checks
from isogrid.pipeline import optimise
from isogrid.runtimes.protocol import BoundLaunch
from tests.analysis.built import built
from tests.mutation.bases import built as build_for_running
from tests.mutation.bases import kernels_in
from tests.mutation.oracle import truth


class Source:
    """One random kernel as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["i", "a", "b", "len(y)", "len(z)"]
        self.fresh = 0
        self.variables: list[str] = []

    def text(self) -> str:
        body = ["i = ig.gid()", "fuel = 40", *self.block(3, False)]
        lines = ["@ig.kernel(grid=N)", "def claims(x: In[i32, N], z: In[i32, M], y: InOut[i32, K], a: i64, b: i64):"]
        return "\n".join([*lines, *("    " + line for line in body)]) + "\n"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def expression(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.pick(*self.names, *self.names, *self.variables, str(self.random.randint(0, 9)))
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        size = self.pick("2", "3", "4", "8", "len(y)", "len(z)")
        mask = self.pick("1", "3", "7", "5")
        return self.pick(
            f"({left} + {right})", f"({left} - {right})", f"({left} * {right})", f"({left} // {size})",
            f"({left} % {size})", f"({left} >> {self.pick('1', '2', '3')})", f"({left} & {mask})",
            f"min({left}, {right})", f"max({left}, {right})", f"ig.clamp({left}, 0, {size} - 1)", f"abs({left})",
            f"({left} ^ {self.pick('1', '2', '4')})", f"({left} if {right} < {size} else {self.expression(0)})",
            f"({left} << {self.pick('0', '1', '2')})", f"({left} % {right})",
        )  # fmt: skip

    def condition(self) -> str:
        left, right = self.expression(1), self.expression(1)
        simple = f"{left} {self.pick('<', '<=', '>', '>=', '==', '!=')} {right}"
        return self.pick(simple, f"0 <= {left} < {right}", f"{simple} and {left} >= 0", f"{simple} or {right} > 3")

    def access(self) -> list[str]:
        """A store, mostly under a guard that is right, or nearly so."""
        index = self.expression(2)
        array = self.pick("y", "y", "z")
        use = f"y[{index}] = {self.pick('1', 'i32(7)')}" if array == "y" else f"t = z[{index}]"
        low = self.pick("0 <= ", "0 <= ", "0 < ", "-1 < ", "-1 <= ", "")
        high = self.pick(f"< len({array})", f"< len({array})", f"<= len({array})", f"< len({array}) - 1", "< len(x)")
        kind = self.random.random()
        if kind < 0.25:
            return [use]
        if kind < 0.75:
            return [f"if {low}{index} {high}:", "    " + use]
        return [f"p = {index}", f"if {low}p {high}:", "    " + use.replace(index, "p", 1)]

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            return self.access()
        if kind < 0.45:
            return self.assignment()
        if kind < 0.6:
            lines = [f"if {self.condition()}:", *self.indented(depth, in_loop)]
            return lines + (["else:", *self.indented(depth, in_loop)] if self.random.random() < 0.4 else [])
        if kind < 0.68:
            leave = self.pick("return", "break", "continue") if in_loop else "return"
            return [f"if {self.condition()}:", f"    {leave}"]
        return self.loop(depth)

    def assignment(self) -> list[str]:
        if self.variables and self.random.random() < 0.5:
            name = self.pick(*self.variables)
            return [f"{name} = {self.pick(f'{name} + 1', f'{name} - 2', f'{name} // 2', self.expression())}"]
        name = f"v{self.fresh}"
        self.fresh += 1
        line = f"{name} = {self.expression()} + 0 * i"
        self.variables.append(name)
        return [line]

    def loop(self, depth: int) -> list[str]:
        saved = list(self.variables), list(self.names)
        if self.variables and self.random.random() < 0.4:
            name = self.pick(*self.variables)
            step = self.pick(f"{name} += 1", f"{name} -= 1", f"{name} //= 2", f"{name} >>= 1", f"{name} += 3")
            guard = self.pick(f"{name} < {self.expression(1)}", f"{name} > 0", f"{name} <= len(y)", f"{name} >= 0")
            body = self.indented(depth, True)
            lines = [f"while {guard} and fuel > 0:", "    fuel -= 1", *body]
            lines.insert(self.random.choice([2, len(lines)]), f"    {step}")
        else:
            counter = f"j{self.fresh}"
            self.fresh += 1
            start, stop = self.expression(1), self.expression(1)
            step = self.pick("1", "1", "1", "2", "3", "-1", "-2", "b")
            stop = self.pick(stop, "len(y)", "len(z)", "4")
            self.names.append(counter)
            lines = [
                f"for {counter} in range({start}, {stop}, {step}):",
                "    fuel -= 1",
                "    if fuel < 0:",
                "        break",
            ]
            lines += self.indented(depth, True)
        self.variables, self.names = saved
        return lines

    def indented(self, depth: int, in_loop: bool) -> list[str]:
        saved = list(self.variables)
        lines = ["    " + line for line in self.block(depth - 1, in_loop)]
        self.variables = saved
        return lines


def kernel_of(seed: int) -> tuple[k.Kernel | None, str]:
    """The kernel, or None where the language refuses the random text."""
    text = Source(seed).text()
    file = f"<claims {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    from isogrid import In, InOut, i32, i64
    from isogrid.dims import K, M, N

    names: dict[str, Any] = {"ig": ig, "In": In, "InOut": InOut, "i32": i32, "i64": i64, "K": K, "M": M, "N": N}
    exec(compile(text, file, "exec"), names)
    try:
        return built(names["claims"]), text
    except ig.KernelRefused:
        return None, text


def check_seed(seed: int) -> tuple[int, int]:
    """Checks before and after; fails if a launch shows a claim to be false or a result to differ."""
    kernel, text = kernel_of(seed)
    if kernel is None:
        return 0, 0
    small = seed % 4 != 0
    optimised = optimise(kernel, frozenset(), LaunchFacts(small), {})
    verify(optimised, "optimise")
    before, after = compile_program(kernel, False), compile_program(optimised, False)
    generator = random.Random(seed)
    for _ in range(6):
        n, m, size = generator.randint(1, 6), generator.randint(1, 9), generator.randint(1, 9)
        scalars = {"a": generator.randint(-9, 12), "b": generator.choice([-3, -1, 0, 1, 2, 5])}
        if not small and generator.random() < 0.5:
            scalars["a"] = generator.choice([2**63 - 1, -(2**63), 2**62, 2**31])
        outcomes: list[Any] = []
        for program in (before, after):
            arrays = {"x": np.zeros(n, np.int32), "z": np.zeros(m, np.int32), "y": np.zeros(size, np.int32)}
            outcome = run_program(program, BoundLaunch(arrays, scalars, {"N": n, "M": m, "K": size}, (n,)))
            outcomes.append((str(outcome.trap), arrays["y"].tolist()))
        assert outcomes[0] == outcomes[1], f"{scalars} {n} {m} {size}\n{text}"
    return count_checks(kernel), count_checks(optimised)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_claims_hold(first: int) -> None:
    totals = [check_seed(seed) for seed in range(first, first + 20)]
    made, left = sum(total[0] for total in totals), sum(total[1] for total in totals)
    assert 0 < left < made, "the kernels must be such that some checks go and some stay"


@pytest.mark.parametrize("kernel", kernels_in(Path(__file__).parent / "attacks.py"), ids=lambda k: k.definition.name)
def test_no_claim_about_an_attack_is_false(kernel: Any) -> None:
    program = build_for_running(kernel)
    found = truth(program, random.Random(program.name), 40, accepted=True)
    assert not found.unsafe and not found.false_claim and found.ran, found
