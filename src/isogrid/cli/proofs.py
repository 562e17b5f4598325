"""Which checks of a kernel are proved away and which are kept, per source line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.operations import BINARY_SIGNS
from isogrid.ir.walk import visit

if TYPE_CHECKING:
    from isogrid.launch.kernel_value import Kernel


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that may trap, and whether it is proved never to."""

    span: Span
    what: str
    proved: bool


@dataclass(frozen=True, slots=True)
class Proofs:
    """All checks of a kernel, by place; the constants that its body read."""

    checks: tuple[Check, ...]
    constants: tuple[tuple[str, str], ...]

    @property
    def kept(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.proved)


def proofs_of(kernel: "Kernel") -> Proofs:
    """Over every specialisation that `check` looks at: a check is proved if the passes remove it in all of them.

    Raises `KernelRefused` for a kernel that is not accepted.
    """
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.frontend.build import build_with_constants
    from isogrid.launch.specialise import check_specialisations
    from isogrid.pipeline import optimise

    verdicts: dict[tuple[Span, str], bool] = {}
    constants: dict[tuple[str, str], None] = {}
    for specialisation in check_specialisations(kernel.definition, kernel.tunables):
        built = build_with_constants(kernel.definition, specialisation)
        constants |= dict.fromkeys(built.constants)
        kept = set(checks_in(optimise(built.kernel, frozenset(), LaunchFacts(), {})))
        for check in checks_in(built.kernel):
            verdicts[check] = verdicts.get(check, True) and check not in kept
    checks = (Check(span, what, proved) for (span, what), proved in verdicts.items())
    return Proofs(tuple(sorted(checks, key=lambda c: (c.span.line, c.span.column, c.what))), tuple(constants))


def checks_in(kernel: k.Kernel) -> Iterator[tuple[Span, str]]:
    """Everything of a kernel that may trap, in its order."""
    for node in visit(kernel.body):
        for what in _checks_of(node):
            yield node.span, what


def _checks_of(node: k.Node) -> Iterator[str]:
    match node:
        case k.Load() | k.Store() | k.Atomic():
            yield from _indices(node.array, node.checked)
            if isinstance(node, k.Store) and node.narrow_checked:
                yield f"narrowing to {node.element.value} in `{node.array}`"
            if isinstance(node, k.Atomic) and node.op == "add" and node.total_checked and node.element.is_checked:
                yield f"total of `{node.array}`"
        case k.Binary(op, type=type, checked=True):
            yield f"`{BINARY_SIGNS.get(op, op)}` of {type.value}"
        case k.Unary(op, type=type, checked=True):
            yield f"`{'-' if op == 'neg' else op}` of {type.value}"
        case k.Cast(type=type, checked=True):
            yield f"conversion to {type.value}"
        case k.For(step_checked=True):
            yield "step of the range"
        case k.Collective(op, type=type, total_checked=True) if op in ("sum", "scan") and type.is_checked:
            yield f"total of `group_{op}`"
        case k.WarpCollective(op, type=type, total_checked=True) if op in ("sum", "scan") and type.is_checked:
            yield f"total of `warp_{op}`"
        case k.Assert():
            yield "assertion"
        case _:
            return


def _indices(array: str, checked: tuple[bool, ...]) -> Iterator[str]:
    for axis, kept in enumerate(checked):
        if kept:
            yield f"index of `{array}`" if len(checked) == 1 else f"index {axis} of `{array}`"
