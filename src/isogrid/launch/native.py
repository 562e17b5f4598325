"""The hook for a device's native launch stub: the whole of an ordinary call in machine code."""

from collections.abc import Callable
from typing import Any, Final

from isogrid.frontend.definition import Definition, ScalarDeclaration, Specialisation
from isogrid.ir import kernel as k
from isogrid.launch.options import Options
from isogrid.runtimes.protocol import Runtime
from isogrid.support.records import dataclass


class _Unusual:
    def __repr__(self) -> str:
        return "UNUSUAL"


#: What a native callable returns, nothing having changed, for a call that the slow path must judge.
UNUSUAL: Final = _Unusual()


@dataclass(frozen=True, slots=True)
class NativePlan:
    """What a stub must know. It takes positional arguments in the order of `definition.parameters`; an array that the
    specialisation counts as absent must be None."""

    definition: Definition
    specialisation: Specialisation
    options: dict[str, Any]
    unusual: Any = UNUSUAL
    most_units: int | None = None


def native_callable(
    runtime: Runtime,
    artifact: Any,
    program: k.Kernel,
    definition: Definition,
    spec: Specialisation,
    options: Options,
    most_units: int | None = None,
) -> Any:
    """A callable that launches as the slow path would, or returns `UNUSUAL`; None where the device has none. On the
    host it may leave launches of more than `most_units` to the slow path."""
    make = getattr(runtime, "native_launch", None)
    if make is None or definition.kind is None or not _arrays_decide(definition):
        return None
    return make(artifact, program, NativePlan(definition, spec, options.values(), most_units=most_units))


def whole_callable(runtime: Runtime, native: Callable[..., Any], slow: Callable[..., None]) -> Callable[..., None]:
    """`native`, then `slow` for what it finds unusual; on some devices one builtin, without a Python frame."""
    make = getattr(runtime, "whole_call", None)
    if make is not None:
        return make(native, slow, UNUSUAL)

    def call(*arguments: Any, **keywords: Any) -> None:
        if keywords or native(*arguments) is not None:
            slow(*arguments, **keywords)

    return call


def _arrays_decide(definition: Definition) -> bool:
    """Whether arrays alone settle the specialisation: a scalar of a type variable that no array has would take part."""
    in_arrays = {p.element for p in definition.parameters if not isinstance(p, ScalarDeclaration)}
    return all(generic in in_arrays for generic in definition.generics)
