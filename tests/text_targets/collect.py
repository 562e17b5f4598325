"""Run test functions of other suites with a text target as the device, and compare all launches afterwards."""

import itertools
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from isogrid.launch import backends
from tests.conformance import support

from .executor import Collector, Language, Launch, Unit, compile_units, run_launch

Array = np.ndarray[Any, Any]


def enter(monkeypatch: pytest.MonkeyPatch, collector: Collector) -> Collector:
    """Make the collector a device by its name, for one test."""
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setitem(backends.RUNTIMES, collector.name, (Collector.__module__, Collector.__name__))
    monkeypatch.setitem(backends._MADE, collector.name, collector)  # pyright: ignore[reportPrivateUsage]
    return collector


def agree_by(collector: Collector) -> Callable[..., tuple[str, list[Array]]]:
    """What stands for `support.agree`: the interpreter's answer now, the comparison later."""

    def agree(kernel: Any, device: str, *arguments: Any, **geometry: Any) -> tuple[str, list[Array]]:
        return support.launch(kernel, collector.name, arguments, **geometry)

    return agree


def troubles(collector: Collector) -> list[str]:
    """Compile, run and compare every launch in every language; what is wrong, as texts."""
    found: list[str] = []
    for language in collector.languages:
        compile_units(language, collector.units[language.name])
        for launch in collector.launches:
            unit = launch.units.get(language.name)
            if unit is not None and (trouble := _trouble(language, unit, launch)):
                found.append(f"{language.name} {launch.title}: {trouble}\n{unit.printed.text}")
    return found


def _trouble(language: Language, unit: Unit, launch: Launch) -> str:
    try:
        found = run_launch(language, unit, launch)
    except AssertionError as error:
        return str(error)
    if language.records and found.trap != launch.trap:
        return f"trap\n  want {launch.trap!r}\n  have {found.trap!r}"
    if not language.records:
        complaint = _key_trouble(unit, launch, found.key, found.trap)
        if complaint:
            return complaint
    if launch.trap:
        return ""
    for name, good in launch.want.items():
        have = found.arrays[name]
        a, b = support.bits(good), support.bits(have)
        if not np.array_equal(a, b):
            at = np.nonzero(a != b)
            return f"{name} differs at {[w[:4].tolist() for w in at]}: want {good[at][:4]!r}, have {have[at][:4]!r}"
    return ""


def _key_trouble(unit: Unit, launch: Launch, key: int | None, total: str) -> str:
    """A target without a record says which thread or group trapped first; a total is found as elsewhere."""
    if total:
        return "" if total == launch.trap else f"want {launch.trap!r}, have {total!r}"
    if (key is not None) != (launch.trap != ""):
        return f"want {launch.trap!r}, have key {key}"
    named = re.search(r", thread (\(?[\d, ]+)", launch.trap)
    if key is None or named is None:
        return ""
    kernel, bound = unit.kernel, launch.bound
    thread = [int(n) for n in re.findall(r"\d+", named.group(1))]
    extents = bound.threads(kernel.geometry, kernel.grouped)
    if kernel.grouped:
        thread = [t // b for t, b in zip(thread, kernel.geometry.block, strict=True)]
        extents = bound.groups(kernel.geometry)
    want = 0
    for at, extent in zip(thread, extents, strict=True):
        want = want * extent + at
    return "" if key == want else f"want {want} for {launch.trap!r}, have key {key}"


def cases(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Every parametrised call of a module's tests that take a device."""
    for name, function in vars(module).items():
        if (
            not name.startswith("test_")
            or "device" not in function.__code__.co_varnames[: function.__code__.co_argcount]
        ):
            continue
        choices: list[list[dict[str, Any]]] = []
        for mark in getattr(function, "pytestmark", []):
            if mark.name == "parametrize":
                listed = mark.args[0].split(",") if isinstance(mark.args[0], str) else list(mark.args[0])
                choices.append([_named([n.strip() for n in listed], value) for value in mark.args[1]])
        for number, combination in enumerate(itertools.product(*choices)):
            yield f"{name}[{number}]", function, {k: v for part in combination for k, v in part.items()}


def _named(names: list[str], value: Any) -> dict[str, Any]:
    if hasattr(value, "values") and hasattr(value, "marks"):
        value = value.values
    elif len(names) == 1:
        value = (value,)
    return dict(zip(names, value, strict=True))
