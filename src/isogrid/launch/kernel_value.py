"""`Kernel`: the immutable, picklable, thread-safe value that `@ig.kernel` makes, and the decorator."""

import functools
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from isogrid.diagnostics.report import Report
from isogrid.frontend.define import define
from isogrid.frontend.definition import Definition, ScalarDeclaration
from isogrid.frontend.geometry import constant_value, expression_text
from isogrid.launch import dispatch
from isogrid.launch.backends import load_compiler

from isogrid.launch.devices import SCOPES, Choice, Device, choose, device as device_named, place_of  # isort: skip
from isogrid.launch.errors import (
    DeviceError,
    DeviceWarning,
    LaunchError,
    LaunchTypeError,
    OptionError,
    OptionWarning,
    RequirementError,
)
from isogrid.launch.geometry import Given
from isogrid.launch.native import InPlace, NativeCalls, is_on_host, whole_callable
from isogrid.launch.options import NO_OPTIONS, Options, tell_of_changes
from isogrid.launch.order import Orders
from isogrid.launch.specialise import check_specialisations, tunable_values
from isogrid.launch.usual import OpenForm, UsualForm, open_form, usual_form
from isogrid.runtimes.protocol import Runtime
from isogrid.support.direct_call import DirectlyCalled, calls_directly, put_call
from isogrid.support.errors import KernelRefused, KnownLimit
from isogrid.support.remembered import remembered
from isogrid.support.shown import nearest
from isogrid.traps import Trap

if TYPE_CHECKING:
    from isogrid.launch.pickling import Settings

_OPEN: Final = Given()


#: Errors about the author's kernel or call: their tracebacks end at the author's line and one of ours.
OF_THE_AUTHOR: Final = (
    KernelRefused,
    KnownLimit,
    LaunchError,
    RequirementError,
    OptionError,
    DeviceError,
    Trap,
    OptionWarning,  # where warnings are errors
    DeviceWarning,
)


def _for_the_author(error: Exception) -> Exception:
    return error.with_traceback(None)


class Kernel(DirectlyCalled):
    """A kernel with its options and device. Calling it launches it; `on`, `options` and `bind` give new values."""

    # Python calls what the slot `__call__` of the value holds: `_call`, or a device's builtin, with no Python frame.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    if TYPE_CHECKING:

        def __call__(self, *arguments: Any, **keywords: Any) -> None:
            """Launch on these arguments and return when the launch is done."""

    __isogrid_kernel__ = True

    definition: Definition
    compiled: dispatch.Compiled
    explicit_options: Options
    tunables: Mapping[str, int]
    device: Device | None
    fixed: Mapping[str, Any]
    usual: UsualForm
    #: The value whose native callables this one uses: itself, or the same with nothing bound.
    unbound: "Kernel"
    own_natives: NativeCalls
    orders: Orders
    #: As long as the number of calls, up to two, of a value with every argument bound.
    called: list[bool]

    def __init__(
        self,
        definition: Definition,
        compiled: dispatch.Compiled,
        explicit_options: Options = NO_OPTIONS,
        tunables: Mapping[str, int] | None = None,
        device: Device | None = None,
        fixed: Mapping[str, Any] | None = None,
        unbound: "Kernel | None" = None,
    ) -> None:
        put = functools.partial(object.__setattr__, self)
        functools.update_wrapper(self, definition.function)
        put("definition", definition)
        put("compiled", compiled)
        put("explicit_options", explicit_options)
        put("tunables", dict(tunables or {}))
        put("device", device)
        put("fixed", dict(fixed or {}))
        put_call(self, self._call)
        put("own_natives", NativeCalls())
        put("called", [])
        put("unbound", unbound or self)
        put("usual", unbound.usual if unbound is not None else usual_form(definition))
        put("orders", Orders(definition, self.usual, self.fixed))
        self._check_block()
        tell_of_changes(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):  # functools.update_wrapper
            object.__setattr__(self, name, value)
            return
        raise AttributeError(f"a kernel is immutable; .options(), .on() and .bind() give new ones ({name!r} was set)")

    def __delattr__(self, name: str) -> None:
        if name.startswith("__"):  # what unittest.mock does before it puts a name back
            object.__delattr__(self, name)
            return
        raise AttributeError(f"a kernel is immutable ({name!r} was deleted)")

    def __getitem__(self, launch: object) -> NoReturn:
        """What `k[grid, block](...)` of CUDA and Numba is here."""
        raise LaunchTypeError(
            f"a kernel is launched without brackets: {self.definition.name}(...); grid= or groups= and block= are "
            "arguments of @ig.kernel, or of .launch(...) where the decorator leaves them open"
        )

    __iter__ = None

    def __copy__(self) -> "Kernel":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Kernel":
        return self

    @property
    def natives(self) -> NativeCalls:
        """The native callables that calls of this value may go by."""
        return self.unbound.own_natives

    def _call(self, *arguments: Any, **keywords: Any) -> None:
        """A call with no native callable, or one that it found unusual."""
        try:
            if keywords or len(arguments) != len(self.usual.defaults):
                if self._wants_its_own():
                    dispatch.launch(self, arguments, keywords, _OPEN)
                    return
                if self._taken_in_order(arguments, keywords):
                    return
            self._launch(arguments, keywords)
        except OF_THE_AUTHOR as error:
            raise _for_the_author(error) from None

    def _wants_its_own(self) -> bool:
        """Whether this is the second call of a value with every argument bound, which may get a callable of its own
        that skips every check. The first goes without: many such values are called once."""
        if len(self.fixed) < len(self.definition.parameters) or len(self.called) > 1:
            return False
        one = self.natives.first(place_of(self.device), None)
        if one is None or not one.binds:
            return False
        self.called.append(True)
        return len(self.called) == 2

    def _taken_in_order(
        self,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        form: OpenForm | None = None,
        extents: tuple[int, ...] = (),
    ) -> bool:
        """Launch by the native callable that was used last, if it takes the arguments just as they are."""
        one = self.natives.first(place_of(self.device), form)
        if one is None:
            return False
        arranged = self.orders.arranged(arguments, keywords)
        return arranged is not None and one.native(*arranged, *extents) is None

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        natives = self.natives
        if natives.by_place:
            usual = self.usual.arranged(self.fixed, arguments, keywords)
            if usual is not None:
                place = place_of(self.device)
                taken = natives.take(place, usual, None if usual.changed else self.__call__)
                if taken is not None:
                    if not usual.changed:
                        self._put_in_place(natives, taken.whole)
                    return
                if natives.take_packed(place, self.usual, usual):
                    return
        dispatch.launch(self, arguments, keywords, _OPEN)

    def launch(
        self,
        *arguments: Any,
        grid: Any = None,
        groups: Any = None,
        block: Any = None,
        device: "str | Device | None" = None,
        stream: Any = None,
        wait: bool = True,
        **keywords: Any,
    ) -> None:
        """Launch, filling in what the decorator left open: `grid` or `groups`, `block`, and the device.

        `stream` queues it in a stream of the device. `wait=False` lets a launch on another library's arrays return
        before it is known whether it trapped.
        """
        try:
            if device is None and stream is None and wait:
                if grid is None and groups is None and block is None:
                    self.__call__(*arguments, **keywords)
                    return
                form, extents = open_form(grid, groups, block)
                if form is not None and (
                    self._taken_in_order(arguments, keywords, form, extents)
                    or self._taken_open(form, extents, arguments, keywords)
                ):
                    return
            given = Given(grid, groups, block)
            chosen = None if device is None else device_named(device)
            if chosen is not None and stream is None and wait:
                self.on(chosen).launch(*arguments, grid=grid, groups=groups, block=block, **keywords)
                return
            dispatch.launch(self, arguments, keywords, given, chosen, stream, wait)
        except OF_THE_AUTHOR as error:
            raise _for_the_author(error) from None

    def _taken_open(
        self, form: OpenForm, extents: tuple[int, ...], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> bool:
        """Launch natively with geometry that the call gives, if there is a callable for its form."""
        natives = self.natives
        if not natives.by_place:
            return False
        usual = self.usual.arranged(self.fixed, arguments, keywords)
        if usual is None:
            return False
        place = place_of(self.device)
        if natives.take(place, usual, None, form, extents) is not None:
            return True
        return natives.take_packed(place, self.usual, usual, form, extents)

    def on(self, device: "str | Device") -> "Kernel":
        """This kernel for one device, which then refuses what it cannot do exactly."""
        return self._with(device=device_named(device))

    def options(self, **options: Any) -> "Kernel":
        """This kernel with more options: portable keys, groups of backends (`cpu={...}`) and tunables by name."""
        from isogrid.launch.tunable_options import separated

        checked, tunables = separated(self.definition, options)
        return self._with(explicit_options=checked.over(self.explicit_options), tunables=dict(self.tunables) | tunables)

    def bind(self, *arguments: Any, **keywords: Any) -> "Kernel":
        """This kernel with some arguments given; a call then takes the others in order."""
        names = [p.name for p in self.definition.parameters]
        free = [n for n in names if n not in self.fixed]
        if len(arguments) > len(free):
            raise LaunchTypeError(f"{self.definition.name}.bind() takes {len(free)} arguments, not {len(arguments)}")
        bound = dict(zip(free, arguments, strict=False))
        for key, value in keywords.items():
            if key not in names or key in bound or key in self.fixed:
                what = "has no parameter" if key not in names else "already has argument"
                raise LaunchTypeError(f"{self.definition.name}() {what} `{key}`")
            bound[key] = value
        return self._with(fixed=dict(self.fixed) | bound)

    def check(self) -> list[Report]:
        """Check the body for every member of every generic; all findings, sorted by place. Empty means accepted."""
        load_compiler()
        from isogrid.frontend.build import build
        from isogrid.pipeline import check_kernel

        found: dict[tuple[Any, ...], Report] = {}
        for specialisation in check_specialisations(self.definition, self.tunables):
            with self.compiled.lock:
                try:
                    program = build(self.definition, specialisation, self.compiled.captures)
                    reports = check_kernel(program, fastmath=bool(self.explicit_options.get("fastmath")))
                except KernelRefused as refusal:
                    reports = list(refusal.reports)
            for report in reports:
                found.setdefault((report.code, report.title, report.primary.span), report)
        return sorted(found.values(), key=lambda r: (r.primary.span.line, r.primary.span.column, r.code))

    @property
    def constants(self) -> dict[str, str]:
        """Constants that the body has read so far, each with its value as text. They are read once and kept."""
        return dict(self.compiled.captures.listed())

    @property
    def option_values(self) -> dict[str, Any]:
        """The options in force: this kernel's over those of its device over the process defaults, and its tunables."""
        chosen = choose(self.device).device
        return dispatch.effective_options(self.explicit_options, chosen).values() | self._tunable_values()

    def max_group_size(self, device: "str | Device | None" = None) -> int:
        """Most threads that one group of this kernel may have on the device."""
        chosen = choose(self.device).device if device is None else device_named(device)
        return dispatch.effective_options(self.explicit_options, chosen).most_threads

    def __repr__(self) -> str:
        definition = self.definition
        parts = [f"{definition.name}({', '.join(map(_parameter_text, definition.parameters))})"]
        if definition.kind is not None and definition.extents is not None:
            parts.append(f"{definition.kind}={_tuple_text(definition.extents)}")
        if definition.block is not None:
            parts.append(f"block={_tuple_text(definition.block)}")
        if self.device is not None:
            parts.append(f"on {self.device.name}")
        parts += [f"{key}={value!r}" for key, value in self.explicit_options.values().items()]
        parts += [f"{key}={value}" for key, value in sorted(self.tunables.items())]
        parts += [f"{name} bound" for name in self.fixed]
        return f"<isogrid kernel {' '.join(parts)}>"

    def install(
        self,
        natives: NativeCalls,
        native: Callable[..., Any],
        choice: Choice,
        runtime: Runtime,
        artifact: Any,
        form: OpenForm | None,
    ) -> None:
        """Let calls try `native` first: always, or where the same device is chosen while an `ig.use` block is open. One
        for a `form` of geometry serves launches that give such. `natives` are those that the launch began with."""
        whole = None if form is not None else whole_callable(runtime, native, self.unbound._call)
        with SCOPES.lock:
            binds = hasattr(runtime, "bound_launch")
            one = InPlace(artifact, runtime.name, form, native, whole, is_on_host(runtime), binds)
            natives.put_first(place_of(self.device, choice), one)
            if not self.fixed:
                self._put_in_place(natives, whole)

    def _put_in_place(self, natives: NativeCalls, whole: Callable[..., None] | None) -> None:
        """Let calls go by `whole`, unless a block is open or these natives were forgotten while the launch ran."""
        with SCOPES.lock:
            if whole is not None and natives is self.natives and (self.device is not None or not SCOPES.open):
                put_call(self, whole)

    def install_bound(
        self, natives: NativeCalls, complete: Callable[[Callable[..., None]], Callable[..., None]]
    ) -> None:
        """Let calls of this value, whose arguments are all bound, try what `complete` makes first."""
        self._put_in_place(natives, complete(self._call))

    def ambient_changed(self, defaults: bool) -> None:
        """Forget native callables: process defaults changed, or the first `ig.use` block opened. Launches that run now
        put theirs to those that are dropped here."""
        with SCOPES.lock:
            if defaults:
                object.__setattr__(self, "own_natives", NativeCalls())
            if defaults or self.device is None:
                put_call(self, self._call)
                self.called.clear()

    def is_served(self, choice: Choice, artifact: Any, form: OpenForm | None) -> bool:
        """Whether there is a native callable of this artifact and form: what went by it needs no other."""
        return self.natives.has(place_of(self.device, choice), artifact, form)

    def __reduce__(self) -> Any:
        from isogrid.launch.pickling import Settings, reduced

        tunables = tuple(sorted(self.tunables.items()))
        return reduced(self, Settings(self.explicit_options, tunables, self.device, tuple(self.fixed.items())))

    def with_settings(self, settings: "Settings") -> "Kernel":
        """This kernel with the settings of a pickle."""
        return self._with(
            explicit_options=settings.options,
            tunables=dict(settings.tunables),
            device=settings.device,
            fixed=dict(settings.fixed),
        )

    def _with(self, **changes: Any) -> "Kernel":
        fields: dict[str, Any] = {
            "explicit_options": self.explicit_options,
            "tunables": self.tunables,
            "device": self.device,
            "fixed": self.fixed,
        }
        fields |= changes
        if fields["fixed"]:
            others = {key: value for key, value in changes.items() if key != "fixed"}
            unbound = self.unbound._with(**others, fixed={}) if others else self.unbound
            return Kernel(self.definition, self.compiled, **fields, unbound=unbound)
        # `k.on("cpu")(x)` in a loop finds what the rounds before have made ready.
        key = (fields["explicit_options"], tuple(sorted(fields["tunables"].items())), fields["device"])
        return remembered(self.compiled.values, key, lambda: Kernel(self.definition, self.compiled, **fields))

    # --- options --------------------------------------------------------------------------------------------------

    def _tunable_values(self) -> dict[str, int]:
        return tunable_values(self.definition, self.tunables)

    def _check_block(self) -> None:
        """A block that is known and larger than allowed is refused when the kernel value is made."""
        if self.definition.block is None:
            return
        constants = {t.name: t.values[0] for t in self.definition.tunables} | dict(self.tunables)
        block = [constant_value(extent, constants) for extent in self.definition.block]
        threads = 1
        for extent in block:
            if extent is None:
                return
            threads *= extent
        options = self.explicit_options if self.device is None else self.explicit_options.over(self.device.carried)
        if threads > options.most_threads:
            text = str(block[0]) if len(block) == 1 else str(tuple(block))
            bound = options.get("max_threads")
            allowed = f"max_threads={bound}" if bound is not None else "every device"
            raise OptionError(
                f"{self.definition.name}(): block={text} has {threads} threads, and {allowed} "
                f"allows {options.most_threads}"
            )


calls_directly(Kernel)


def kernel(
    function: Any = None,
    /,
    *,
    grid: Any = None,
    groups: Any = None,
    block: Any = None,
    warp: int = 32,
    races: Any = None,
    deterministic: bool = True,
    **unknown: Any,
) -> Callable[[Callable[..., None]], Kernel]:
    """Decorate a typed function as a kernel. Signature and options are judged now, the body at first use."""
    if function is not None:
        raise TypeError("@ig.kernel is written with parentheses: @ig.kernel(grid=N) or @ig.kernel()")
    for key in unknown:
        close = nearest(key, ["grid", "groups", "block", "warp", "races", "deterministic"])
        hint = f"; did you mean `{close}`?" if close else "; options are set with .options(...)"
        raise OptionError(f"@ig.kernel has no argument `{key}`{hint}")
    scope = sys._getframe(1).f_locals  # pyright: ignore[reportPrivateUsage]

    def decorate(function: Callable[..., None]) -> Kernel:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@ig.kernel decorates a plain function, not {function!r}")
        try:
            definition = define(
                function,
                grid=grid,
                groups=groups,
                block=block,
                warp=warp,
                races=races,
                deterministic=deterministic,
                scope=scope,
            )
            return Kernel(definition, dispatch.Compiled())
        except OF_THE_AUTHOR as error:
            raise _for_the_author(error) from None

    return decorate


def _parameter_text(parameter: Any) -> str:
    if isinstance(parameter, ScalarDeclaration):
        kind = parameter.type
        return f"{parameter.name}: {getattr(kind, 'value', None) or getattr(kind, 'name', '')}"
    element = parameter.element
    extents = ", ".join(expression_text(extent) for extent in parameter.shape)
    name = getattr(element, "value", None) or element.name
    return f"{parameter.name}: {parameter.access.value}[{name}, {extents}]" + (" | None" if parameter.optional else "")


def _tuple_text(extents: tuple[Any, ...]) -> str:
    texts = [expression_text(extent) for extent in extents]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
