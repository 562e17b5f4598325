"""The hook for a device's native launch stub: the whole of an ordinary call in machine code."""

from collections.abc import Callable
from typing import Any, Final

from isogrid.frontend.definition import Definition, ScalarDeclaration, Specialisation
from isogrid.ir import kernel as k
from isogrid.launch.devices import Choice
from isogrid.launch.options import Options
from isogrid.launch.packed import packed
from isogrid.launch.usual import OpenForm, Usual, UsualForm
from isogrid.runtimes.protocol import Runtime
from isogrid.support.records import dataclass


class _Unusual:
    def __repr__(self) -> str:
        return "UNUSUAL"


#: What a native callable returns, nothing having changed, for a call that the slow path must judge.
UNUSUAL: Final = _Unusual()
#: Most native callables of one kernel value in one place: a call may ask all of them, and each takes some 2 KiB.
_MOST_IN_PLACE: Final = 64


@dataclass(frozen=True, slots=True)
class NativePlan:
    """What a stub must know. It takes positional arguments in the order of `definition.parameters`; an array that the
    specialisation counts as absent must be None."""

    definition: Definition
    specialisation: Specialisation
    options: dict[str, Any]
    unusual: Any = UNUSUAL
    most_units: int | None = None
    open_extents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InPlace:
    """What launches an artifact on a device: the native callable, and the same with the slow path behind it where calls
    may go by that. `form` is the geometry that a launch gives, None where the decorator gives all; `on_host` says that
    it takes arrays of NumPy, `binds` that the device has callables of its own for values with every argument bound."""

    artifact: Any
    device: str
    form: OpenForm | None
    native: Callable[..., Any]
    whole: Callable[..., None] | None
    on_host: bool
    binds: bool = False


class NativeCalls:
    """The native callables of one kernel value by where they may be used: where one device is chosen while an `ig.use`
    block is open, or (None) while none is; those used last first.

    Each takes only what it was made for, so calls with other types or sizes try these before they take the slow path.
    None is made twice while it is here. To forget them a value takes a new one of these."""

    def __init__(self) -> None:
        self.by_place: dict[Choice | None, tuple[InPlace, ...]] = {}

    def has(self, place: Choice | None, artifact: Any, form: OpenForm | None) -> bool:
        return any(one.artifact is artifact and one.form == form for one in self.by_place.get(place, ()))

    def put_first(self, place: Choice | None, one: InPlace) -> None:
        others = tuple(other for other in self.by_place.get(place, ()) if other is not one)
        self.by_place[place] = (one, *others[: _MOST_IN_PLACE - 1])

    def first(self, place: Choice | None, form: OpenForm | None) -> InPlace | None:
        """The one of this form that was used last."""
        for one in self.by_place.get(place, ()):
            if one.form == form:
                return one
        return None

    def take(
        self,
        place: Choice | None,
        usual: Usual,
        refused: object = None,
        form: OpenForm | None = None,
        extents: tuple[int, ...] = (),
    ) -> InPlace | None:
        """Launch by the first that takes the arguments, if one does; `refused` is the callable that has not."""
        for one in self.by_place.get(place, ()):
            if (
                one.form != form
                or usual.holder not in (None, one.device)
                or (refused is not None and one.whole is refused)
            ):
                continue
            if one.native(*usual.arguments, *extents) is None:
                self.put_first(place, one)
                return one
        return None

    def take_packed(
        self,
        place: Choice | None,
        kernel: UsualForm,
        usual: Usual,
        form: OpenForm | None = None,
        extents: tuple[int, ...] = (),
    ) -> bool:
        """The same with strided arrays packed, where there are any."""
        if not any(one.on_host and one.form == form for one in self.by_place.get(place, ())):
            return False
        copies = packed(kernel.arrays, usual.arguments)
        if copies is None:
            return False
        words = Usual(copies.arguments, changed=True, holder=usual.holder)
        if self.take(place, words, None, form, extents) is None:
            return False
        copies.put_back()
        return True


def native_callable(
    runtime: Runtime,
    artifact: Any,
    program: k.Kernel,
    definition: Definition,
    spec: Specialisation,
    options: Options,
    most_units: int | None = None,
    open_extents: tuple[str, ...] = (),
) -> Any:
    """A callable that launches as the slow path would, or returns `UNUSUAL`; None where the device has none. On the
    host it may leave launches of more than `most_units` to the slow path. It takes extents that the launch gives behind
    the arguments."""
    make = getattr(runtime, "native_launch", None)
    if make is None or (definition.kind is None and not open_extents) or not _arrays_decide(definition):
        return None
    plan = NativePlan(definition, spec, options.values(), most_units=most_units, open_extents=open_extents)
    return make(artifact, program, plan)


def is_on_host(runtime: Runtime) -> bool:
    """Whether the device takes arrays of NumPy where they are."""
    memory: Any = getattr(runtime, "memory", None)
    return memory is not None and memory.is_host


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
