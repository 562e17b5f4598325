"""`ig.offload`: the decorator, and the immutable value that it makes."""

import functools
import os
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import field
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, cast

from isogrid.diagnostics.report import Report, Severity
from isogrid.frontend.captures import Captures
from isogrid.frontend.define import define
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.launch.arguments import match_arguments, type_arguments
from isogrid.launch.bind import bind_arrays
from isogrid.launch.devices import SCOPES, Choice, Device, choose, place_of
from isogrid.launch.devices import device as device_named
from isogrid.launch.dispatch import choice_for, effective_options
from isogrid.launch.errors import OptionError
from isogrid.launch.kernel_value import OF_THE_AUTHOR
from isogrid.launch.native import whole_callable
from isogrid.launch.options import NO_OPTIONS, Options, tell_of_changes
from isogrid.launch.packed import packed
from isogrid.launch.pickling import Settings, reduced
from isogrid.launch.specialise import check_specialisations, tunable_values
from isogrid.launch.stored import SourceMemory
from isogrid.launch.tunable_options import separated
from isogrid.launch.usual import UsualForm, usual_form
from isogrid.offloading.analysis import Analysis, analyse
from isogrid.offloading.call import Call
from isogrid.offloading.chain import chained_call
from isogrid.offloading.execute import Executor
from isogrid.offloading.finding import OffloadWarning, Refusal
from isogrid.offloading.placement import is_far
from isogrid.offloading.quick import gathering_call, quick_call
from isogrid.offloading.requirements import check_requirements
from isogrid.offloading.sequence import sequential_call
from isogrid.support.direct_call import DirectlyCalled, calls_directly, put_call
from isogrid.support.errors import KernelRefused
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass
from isogrid.support.remembered import remembered
from isogrid.support.shown import nearest

#: The device that interprets, and so defines what every other one gives.
REFERENCE: Final = "interp"
#: Most quick callables of one value, each for other types, constants or options.
_MOST_QUICK: Final = 16


@dataclass(slots=True)
class Shared:
    """What the values of one offloaded function share, each made once, under one lock; `values` are those themselves,
    by their settings."""

    captures: Captures = field(default_factory=Captures)
    analyses: dict[Specialisation, Analysis] = field(default_factory=dict[Specialisation, Analysis])
    executors: dict[tuple[Any, ...], Executor] = field(default_factory=dict[tuple[Any, ...], Executor])
    warned: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]])
    memory: SourceMemory = field(default_factory=SourceMemory)
    values: dict[Any, "Offloaded"] = field(default_factory=dict[Any, "Offloaded"])
    lock: Any = field(default_factory=new_lock)


@dataclass(slots=True)
class _Quick:
    """The quick callable of an executor, if there is one, and how many kernels it was made from: only more of them may
    give another."""

    place: Choice | None
    executor: Executor
    kernels: int
    call: Callable[..., Any] | None = None


class Offloaded(DirectlyCalled):
    """A function whose loops run as kernels where a proof allows it. `on` and `options` give new values."""

    __slots__ = ("__call__", "__dict__", "__weakref__")

    if TYPE_CHECKING:

        def __call__(self, *arguments: Any, **keywords: Any) -> Any:
            """Run the function and return its scalars."""

    __isogrid_offloaded__ = True

    definition: Definition
    shared: Shared
    explicit_options: Options
    device: Device | None
    require: bool
    tunables: Mapping[str, int]
    #: Quick callables by where they may be used: where one device is chosen while an `ig.use` block is open, or (None)
    #: while none is. To forget them a value takes a new dict: calls that run now put theirs into the one they know.
    quick: dict[Choice | None, tuple["_Quick", ...]]
    usual: UsualForm

    def __init__(
        self,
        definition: Definition,
        shared: Shared,
        explicit_options: Options = NO_OPTIONS,
        device: Device | None = None,
        require: bool = False,
        tunables: Mapping[str, int] = types.MappingProxyType({}),
    ) -> None:
        put = functools.partial(object.__setattr__, self)
        functools.update_wrapper(self, definition.function)
        put("definition", definition)
        put("shared", shared)
        put("explicit_options", explicit_options)
        put("device", device)
        put("require", require)
        put("tunables", tunables)
        put("quick", {})
        put("usual", usual_form(definition))
        put_call(self, self._call)
        tell_of_changes(cast(Any, self))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):  # functools.update_wrapper
            object.__setattr__(self, name, value)
            return
        raise AttributeError(f"an offloaded function is immutable; .options() and .on() give new ones ({name!r})")

    def __copy__(self) -> "Offloaded":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Offloaded":
        return self

    def __reduce__(self) -> Any:
        return reduced(self, Settings(self.explicit_options, tuple(sorted(self.tunables.items())), self.device, ()))

    def with_settings(self, settings: Settings) -> "Offloaded":
        """This function with the settings of a pickle."""
        return self._with(explicit_options=settings.options, device=settings.device, tunables=dict(settings.tunables))

    def __repr__(self) -> str:
        names = ", ".join(parameter.name for parameter in self.definition.parameters)
        where = "" if self.device is None else f" on {self.device.name}"
        where += "".join(f" {key}={value}" for key, value in sorted(self.tunables.items()))
        return f"<isogrid offloaded function {self.definition.name}({names}){where}>"

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, *arguments: Any, **keywords: Any) -> Any:
        """A call with no quick callable in place, or one that those in place did not take."""
        try:
            return self._called(arguments, keywords)
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None

    def _called(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        if self.quick:
            usual = self.usual.arranged({}, arguments, keywords)
            if usual is not None and usual.holder is None:
                if usual.changed:
                    return self.__call__(*usual.arguments)
                copies = packed(self.usual.arrays, usual.arguments)
                if copies is not None:
                    result = self.__call__(*copies.arguments)
                    copies.put_back()
                    return result
                place = place_of(self.device)
                for quick in self.quick.get(place, ()) if place is not None else ():
                    if quick.call is not None:
                        return quick.call(*arguments)
        return self._run(arguments, keywords, self.device)

    def reference(self, *arguments: Any, **keywords: Any) -> Any:
        """Interpret the same rules; agrees with every device in every bit."""
        try:
            return self._run(arguments, keywords, device_named(REFERENCE))
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None

    def python(self, *arguments: Any, **keywords: Any) -> Any:
        """The undecorated function; agrees up to the order of reductions, overflow and NaN in `min` and `max`."""
        from isogrid.offloading.plain import run_plain

        return run_plain(self.definition, arguments, keywords, tunable_values(self.definition, self.tunables))

    def _run(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], device: Device | None) -> Any:
        definition, quick = self.definition, self.quick
        choice = choice_for(device, (*arguments, *keywords.values()))
        options = effective_options(self.explicit_options, choice.device)
        values = match_arguments(definition, {}, arguments, keywords)
        typed = type_arguments(definition, values, choice.device.name)
        constants = tunable_values(definition, self.tunables)
        dims = bind_arrays(definition, typed, constants)
        settled = dict(constants) | {name: dims[name] for name in definition.constant_dims if name in dims}
        specialisation = Specialisation(
            types=tuple((generic.name, typed.types[generic.name]) for generic in definition.generics),
            constants=tuple(sorted(settled.items())),
            absent=typed.absent,
        )
        analysis = self._analysis(specialisation)
        check_requirements(definition, analysis.built.kernel, typed, dims)
        executor = self._executor(analysis, specialisation, choice, options)
        results = Call(executor, [values[p.name] for p in definition.parameters], typed, dims).run()
        if device is self.device:
            self._install(executor, choice, quick)
        return _returned(analysis, results)

    def _analysis(self, specialisation: Specialisation) -> Analysis:
        shared = self.shared
        analysis = shared.analyses.get(specialisation)
        if analysis is None:
            with shared.lock:
                analysis = shared.analyses.get(specialisation)
                if analysis is None:
                    analysis = analyse(self.definition, specialisation, shared.captures)
                    shared.analyses[specialisation] = analysis
        if analysis.refusals and self.require:
            raise KernelRefused([refusal.report(Severity.ERROR) for refusal in analysis.refusals])
        for refusal in analysis.refusals:
            self._warn(refusal)
        return analysis

    def _warn(self, refusal: Refusal) -> None:
        """Once per loop, at the loop's own line, so that filters by module and line apply."""
        key = (refusal.loop, refusal.counter)
        with self.shared.lock:
            if key in self.shared.warned:
                return
            self.shared.warned.add(key)
        place = refusal.loop
        module = cast(FunctionType, self.definition.function).__module__
        warnings.warn_explicit(refusal.text, OffloadWarning, place.file, place.line, module=module)

    def _executor(
        self, analysis: Analysis, specialisation: Specialisation, choice: Choice, options: Options
    ) -> Executor:
        """`options` are all that are in force: values that differ in where theirs come from share an executor."""
        key = (specialisation, choice, options)
        executor = self.shared.executors.get(key)
        if executor is None:
            with self.shared.lock:
                executor = self.shared.executors.setdefault(
                    key,
                    Executor(
                        self.definition,
                        analysis.built.kernel,
                        analysis.plan,
                        specialisation,
                        options,
                        self.tunables,
                        choice.device if choice.named else None,
                        choice.device.name,
                        self.shared.memory,
                        self.shared.captures,
                    ),
                )
        return executor

    def _install(self, executor: Executor, choice: Choice, quick: dict[Choice | None, tuple[_Quick, ...]]) -> None:
        """Let calls go by the quick callable of what has just run, and by those of other types before it."""
        if os.environ.get("ISOGRID_TRACE", "0") not in ("", "0"):
            return
        place = place_of(self.device, choice)
        quicks = quick.get(place, ())
        known = next((one for one in quicks if one.executor is executor), None)
        if known is None or known.kernels != len(executor.kernels):
            fresh = _Quick(place, executor, len(executor.kernels))
            fresh.call = self._quick_call(executor, functools.partial(self._behind, fresh))
            others = tuple(one for one in quicks if one.executor is not executor)
            quicks = quick[place] = (*others[1 - _MOST_QUICK :], fresh)
        first = next((one.call for one in quicks if one.call is not None), self._call)
        with SCOPES.lock:
            if place is None and quick is self.quick and (self.device is not None or not SCOPES.open):
                put_call(self, first)

    def _behind(self, quick: _Quick, *arguments: Any, **keywords: Any) -> Any:
        """What a quick callable does not take, nothing having changed: those behind it may, or the ordinary call."""
        try:
            if not keywords:
                known = self.quick.get(quick.place, ())
                at = next((number for number, other in enumerate(known) if other is quick), len(known))
                for other in known[at + 1 :]:
                    if other.call is not None:
                        return other.call(*arguments)
            if quick.place is None:
                return self._called(arguments, keywords)
            return self._run(arguments, keywords, self.device)
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None

    def _quick_call(self, executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
        native = executor.native()
        if executor.gathers():
            return gathering_call(executor, native and native[0], slow)
        if native is not None:
            return whole_callable(native[1], native[0], slow)
        call = quick_call(executor, slow)
        if call is None and not is_far(executor.where):
            call = chained_call(executor, slow) or sequential_call(executor, slow)
        return call

    def ambient_changed(self, defaults: bool) -> None:
        """Forget native callables: process defaults changed, or the first `ig.use` block opened."""
        with SCOPES.lock:
            if defaults:
                object.__setattr__(self, "quick", {})
            if defaults or self.device is None:
                put_call(self, self._call)

    # --- other values and what is known ------------------------------------------------------------------------------

    def on(self, device: "str | Device") -> "Offloaded":
        """This function for one device."""
        return self._with(device=device_named(device))

    def options(self, **options: Any) -> "Offloaded":
        """This function with more options, which all its kernels get, and with values for tunables by name."""
        checked, tunables = separated(self.definition, options)
        return self._with(explicit_options=checked.over(self.explicit_options), tunables=dict(self.tunables) | tunables)

    def check(self) -> list[Report]:
        """Every finding for every member of every generic: warnings about loops that run in sequence, and errors."""
        found: dict[tuple[Any, ...], Report] = {}
        for specialisation in check_specialisations(self.definition, self.tunables):
            try:
                analysis = analyse(self.definition, specialisation, self.shared.captures)
                severity = Severity.ERROR if self.require else Severity.WARNING
                reports = [refusal.report(severity) for refusal in analysis.refusals]
            except KernelRefused as refusal:
                reports = list(refusal.reports)
            for report in reports:
                found.setdefault((report.code, report.title, report.primary.span), report)
        return list(found.values())

    @property
    def option_values(self) -> dict[str, Any]:
        """The options in force."""
        return effective_options(self.explicit_options, choose(self.device).device).values()

    def _with(self, **changes: Any) -> "Offloaded":
        fields: dict[str, Any] = {
            "explicit_options": self.explicit_options,
            "device": self.device,
            "require": self.require,
            "tunables": self.tunables,
        }
        fields |= changes
        key = (fields["explicit_options"], tuple(sorted(fields["tunables"].items())), fields["device"])
        return remembered(self.shared.values, key, lambda: Offloaded(self.definition, self.shared, **fields))


calls_directly(Offloaded)


def _returned(analysis: Analysis, results: tuple[Any, ...]) -> Any:
    """Scalars as Python's own numbers; f32 and f64 are floats to a type checker, and every f32 is one exactly."""
    plain = tuple(v if isinstance(v, bool | int) else float(v) for v in results)
    if analysis.plan.returns_tuple:
        return plain
    return plain[0] if plain else None


def offload(function: Any = None, /, *, parallel: str = "warn", **unknown: Any) -> Any:
    """Decorate a typed function whose loops run as kernels where a proof allows it. Written `@ig.offload`, or
    `@ig.offload(parallel="require")`, which turns every refusal into an error."""
    for key in unknown:
        close = nearest(key, ["parallel"])
        hint = f"; did you mean `{close}`?" if close else "; options are set with .options(...)"
        raise OptionError(f"@ig.offload has no argument `{key}`{hint}")
    if parallel not in ("warn", "require"):
        raise OptionError(f'`parallel` is "warn" or "require", not {parallel!r}')
    scope = sys._getframe(1).f_locals  # pyright: ignore[reportPrivateUsage]

    def decorate(function: Callable[..., Any]) -> Offloaded:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@ig.offload decorates a plain function, not {function!r}")
        try:
            definition = define(function, grid=1, block=1, deterministic=False, offloaded=True, scope=scope)
            return Offloaded(definition, Shared(), require=parallel == "require")
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None

    return decorate if function is None else decorate(function)
