"""From a kernel value to the checks that optimisation keeps."""

from typing import Any

from isogrid.analysis.facts import LaunchFacts
from isogrid.frontend.build import build
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.verify import verify
from isogrid.passes.remove_proved_checks import kept_checks
from isogrid.pipeline import optimise


def built(kernel: Any, **specialisation: Any) -> k.Kernel:
    """Kernel IR as the front end makes it, tunables at their defaults."""
    definition = kernel.definition
    constants = tuple((tunable.name, tunable.values[0]) for tunable in definition.tunables)
    return build(definition, Specialisation(constants=constants, **specialisation))


def kept(kernel: Any, small: bool = True, disabled: frozenset[str] = frozenset()) -> list[str]:
    """What is still checked after all passes: the operator or array, once for each place."""
    optimised = optimise(built(kernel), disabled, LaunchFacts(small), {})
    verify(optimised, "optimise")
    return [_text(node) for node in kept_checks(optimised)]


def _text(node: k.Node) -> str:
    match node:
        case k.Load() | k.Store():
            return node.array
        case k.Atomic():
            return f"{node.op} {node.array}"
        case k.Binary() | k.Unary() | k.Collective():
            return node.op
        case k.Cast():
            return node.type.value
        case k.For():
            return "step"
        case _:
            raise AssertionError(node)
