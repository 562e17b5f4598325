"""Options of a kernel: portable keys and one group per backend, checked when they are written, merged at a launch.

An explicit option wins over one that the device carries, that over the process default. The merged options are part of
every compile key.
"""

import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from isogrid.frontend.geometry import parts_of
from isogrid.launch.backends import PLANNED, RUNTIMES, family, option_types, runtime_attribute
from isogrid.launch.errors import OptionError
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass
from isogrid.support.shown import nearest

#: The page about options that give up exact floats.
INEXACT_CODE: Final = "IG503"
#: Most threads of a group on any device.
MAXIMUM_GROUP: Final = 1024

#: The portable keys with their contracts.
PORTABLE: Final = {
    "fastmath": "hint: float results of this kernel need not be bit-equal everywhere",
    "always_inline": "hint: inline every helper",
    "max_threads": "requirement: no launch has more threads per group",
    "unroll": "hint: automatic unrolling on or off",
    "disable": "names of passes that are switched off",
}
#: What the contract names and this version has not, with what holds instead.
_NOT_YET: Final = {"on_trap": "arrays are put back after every trap, as `explain` counts"}
HINTS: Final = ("fastmath", "always_inline", "unroll")


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options as sorted pairs; a backend's group is itself a tuple of sorted pairs. Hashable and picklable."""

    items: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, key: str) -> Any:
        return dict(self.items)[key]

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of a key, `otherwise` if it is not set."""
        return dict(self.items).get(key, otherwise)

    def over(self, weaker: "Options") -> "Options":
        """These options, with those of `weaker` where these say nothing; groups are merged key by key."""
        merged = dict(weaker.items)
        for key, value in self.items:
            if key in merged and key not in PORTABLE:
                value = tuple(sorted((dict(merged[key]) | dict(value)).items()))
            merged[key] = value
        return Options(tuple(sorted(merged.items())))

    def for_backend(self, name: str) -> "Options":
        """Without the groups of other backends, which do not reach this one."""
        return Options(tuple((k, v) for k, v in self.items if k in PORTABLE or k == family(name)))

    def values(self) -> dict[str, Any]:
        """As a plain dict, groups as dicts."""
        return {k: v if k in PORTABLE else dict(v) for k, v in self.items}

    @property
    def most_threads(self) -> int:
        """The largest group that `max_threads` allows."""
        bound = self.get("max_threads")
        if bound is None:
            return MAXIMUM_GROUP
        return bound if isinstance(bound, int) else _product(bound)


#: Says nothing.
NO_OPTIONS: Final = Options()


def checked_options(given: Mapping[str, Any], pass_names: Callable[[], Iterable[str]] | None = None) -> Options:
    """Judge option keys and values; raises `OptionError`."""
    checked: dict[str, Any] = {}
    for key, value in given.items():
        match key:
            case "fastmath" | "always_inline" | "unroll":
                if not isinstance(value, bool):
                    raise OptionError(f"option `{key}` is True or False, not {value!r}")
                checked[key] = value
            case "max_threads":
                checked[key] = _max_threads(value)
            case "disable":
                checked[key] = _disabled(value, pass_names or known_passes)
            case _ if key in RUNTIMES or key in PLANNED:
                checked[key] = _group(key, value)
            case _:
                raise unknown_option(key)
    return Options(tuple(sorted(checked.items())))


def unknown_option(key: str, tunables: Iterable[str] = ()) -> OptionError:
    """The error for a key that nothing knows, with a suggestion."""
    if key in _NOT_YET:
        return OptionError(f"there is no option `{key}` yet: a later version brings it; {_NOT_YET[key]}")
    known = [*PORTABLE, *RUNTIMES, *PLANNED, *tunables]
    for name in RUNTIMES:
        if key in option_types(name):
            return OptionError(f"`{key}` is an option of {name} alone: write {name}={{{key!r}: ...}}")
    close = nearest(key, known)
    if close:
        return OptionError(f"there is no option `{key}`; did you mean `{close}`?")
    return OptionError(f"there is no option `{key}`; the portable ones are {', '.join(PORTABLE)}")


def known_passes() -> tuple[str, ...]:
    """Names of the passes that `disable` may switch off: those of the pipeline and those of backends."""
    from isogrid import pipeline

    names = dict.fromkeys(name for name, _ in pipeline.PASSES)
    for backend in RUNTIMES:
        names |= dict.fromkeys(runtime_attribute(backend, "pass_names", ()))
    return tuple(names)


def switched_off_by_environment() -> frozenset[str]:
    """Passes that `ISOGRID_DISABLE=unroll,vectorise` switches off."""
    text = os.environ.get("ISOGRID_DISABLE", "")
    if not text:
        return frozenset()
    try:
        return _disabled(text, known_passes)
    except OptionError as fault:
        raise OptionError(f"ISOGRID_DISABLE={text}: {fault}") from None


# --- process defaults ------------------------------------------------------------------------------------------------


class _Process:
    """Defaults of this process. Whoever keeps something that depends on them registers to be told of a change."""

    def __init__(self) -> None:
        self.options = Options()
        self.lock = new_lock()
        #: By the number of each. Whoever lists them does it in one step: a finaliser may add one at any other time.
        self.listeners: dict[int, weakref.ref[Any]] = {}

    def told(self) -> list[Any]:
        """Who is to be told now."""
        found = [reference() for reference in list(self.listeners.values())]
        return [listener for listener in found if listener is not None]


_PROCESS: Final = _Process()


def default_options(**options: Any) -> dict[str, Any]:
    """Set process defaults (None unsets a key) and return those now in force."""
    removed = {key for key, value in options.items() if value is None}
    for key in removed:
        if key not in PORTABLE and key not in RUNTIMES and key not in PLANNED:
            raise unknown_option(key)
    new = checked_options({key: value for key, value in options.items() if key not in removed})
    with _PROCESS.lock:
        kept = Options(tuple((k, v) for k, v in _PROCESS.options.items if k not in removed))
        _PROCESS.options = new.over(kept)
    forget_native_callables()
    return _PROCESS.options.values()


def process_options() -> Options:
    """The present process defaults."""
    return _PROCESS.options


def tell_of_changes(listener: Any) -> None:
    """Call `listener.ambient_changed(...)` when process defaults or open scopes change, for as long as it lives."""
    listeners, number = _PROCESS.listeners, id(listener)
    listeners[number] = weakref.ref(listener, lambda _: listeners.pop(number, None))


def forget_native_callables() -> None:
    """Let every kernel take the slow path until it has found a native callable anew."""
    for listener in _PROCESS.told():
        listener.ambient_changed(defaults=True)


def tell_of_scope() -> None:
    """The first `ig.use` block of this process has opened."""
    for listener in _PROCESS.told():
        listener.ambient_changed(defaults=False)


# --- values ----------------------------------------------------------------------------------------------------------


def _max_threads(value: Any) -> int | tuple[int, ...]:
    parts = parts_of(value)
    numbers = tuple(part for part in parts if type(part) is int)
    if not 1 <= len(parts) <= 3 or len(numbers) != len(parts):
        raise OptionError(f"option `max_threads` is an integer or a tuple of up to 3, not {value!r}")
    if any(number < 1 for number in numbers) or not 1 <= _product(numbers) <= MAXIMUM_GROUP:
        raise OptionError(f"option `max_threads` allows 1 to {MAXIMUM_GROUP} threads per group, not {value!r}")
    return numbers if isinstance(value, tuple | list) else numbers[0]


def _disabled(value: Any, pass_names: Callable[[], Iterable[str]]) -> frozenset[str]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, Iterable) or not all(isinstance(part, str) for part in cast(Iterable[Any], value)):
        raise OptionError(f"option `disable` is a list of pass names, not {value!r}")
    names = frozenset(cast(Iterable[str], value))
    known = tuple(pass_names())
    for name in sorted(names):
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean `{close}`?" if close else f"the passes are {', '.join(known)}"
            raise OptionError(f"there is no pass `{name}` to disable; {hint}")
    return names


def _group(backend: str, value: Any) -> tuple[tuple[str, Any], ...]:
    if not isinstance(value, Mapping):
        raise OptionError(f"the options of {backend} are a dict, e.g. {backend}={{...}}, not {value!r}")
    group = cast(Mapping[str, Any], value)
    if backend in PLANNED:
        return tuple(sorted((str(k), v) for k, v in group.items()))
    types = option_types(backend)
    words: Mapping[str, str] = runtime_attribute(backend, "other_words", {})
    judge: Callable[[str, Any], str | None] = runtime_attribute(backend, "judge_option", _anything)
    for key, setting in group.items():
        plain = str(key).lstrip("-").replace("-", "_").lower()
        if key not in types and plain in words:
            raise OptionError(
                f"{backend} has no option `{key}`; it calls that `{words[plain]}`, which needs fastmath=True "
                f"({INEXACT_CODE}), since float results then differ between devices"
            )
        if key not in types:
            close = nearest(str(key), [*types, *PORTABLE])
            if close and close in PORTABLE:
                hint = f"`{close}` is portable and stands outside the group"
            elif close:
                hint = f"did you mean `{close}`?"
            else:
                hint = f"it has {', '.join(types)}" if types else "it has none of its own"
            raise OptionError(f"{backend} has no option `{key}`; {hint}")
        if not isinstance(setting, types[key]) or (isinstance(setting, bool) and types[key] is int):
            raise OptionError(f"option `{key}` of {backend} is {type_text(types[key])}, not {setting!r}")
        fault = judge(str(key), setting)
        if fault is not None:
            raise OptionError(f"option `{key}` of {backend} {fault}")
    return tuple(sorted(group.items()))


def _anything(key: str, value: Any) -> str | None:
    """Takes every value of the right type."""
    return None


def check_exactness(options: Options) -> None:
    """Refuse options of a backend that change float results, unless `fastmath=True` says that they may."""
    if options.get("fastmath"):
        return
    for backend, group in options.items:
        if backend not in RUNTIMES:
            continue
        for key in runtime_attribute(backend, "inexact_options", ()):
            if dict(group).get(key):
                raise OptionError(
                    f"option `{key}` of {backend} changes float results, so it needs fastmath=True "
                    f"({INEXACT_CODE}): write k.options(fastmath=True, {backend}={{{key!r}: True}})"
                )


def type_text(kind: Any) -> str:
    """`int or str` for the type or types of an option's values."""
    return " or ".join(getattr(k, "__name__", repr(k)) for k in parts_of(kind))


def _product(values: Iterable[int]) -> int:
    result = 1
    for value in values:
        result *= value
    return result
