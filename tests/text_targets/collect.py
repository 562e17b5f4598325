"""Run test functions of other suites with a text target as the device, and compare all launches afterwards."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from isogrid.launch import backends
from isogrid.support.errors import KernelRefused, KnownLimit
from tests.conformance import support

from .executor import Collector, Launch, Pending, compile_units, run_launch

Array = np.ndarray[Any, Any]


@dataclass
class Expected:
    """What the interpreter said about a launch, and what the test was called. Arrays go by name, or in order."""

    title: str
    text: str
    arrays: list[Array] | dict[str, Array]


@dataclass
class Session:
    """One device under test: launches are noted together with what is expected of them."""

    device: str
    collector: Collector
    title: str = ""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    interpreter: Callable[..., Any] = support.launch

    def agree(self, kernel: Any, device: str, *arguments: Any, **geometry: Any) -> tuple[str, list[Array]]:
        """Stands for `support.agree`: the interpreter's answer now, the comparison later."""
        text, want = support.launch(kernel, "interp", arguments, **geometry)
        self.note(kernel, arguments, Expected(self.title, text, want), **geometry)
        return text, want

    def note(self, kernel: Any, arguments: tuple[Any, ...], expected: Expected, **geometry: Any) -> None:
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        before = len(self.collector.launches)
        try:
            kernel.launch(*copies, device=self.device, **geometry)
        except Pending:
            self.collector.launches[-1].want = expected
        except (KnownLimit, KernelRefused) as refusal:
            self.refused[self.title] = str(refusal)
        assert len(self.collector.launches) <= before + 1

    def troubles(self) -> list[str]:
        """Compile, run and compare everything; what is wrong, as texts."""
        language = self.collector.language
        compile_units(language, list(self.collector.units.values()))
        return [trouble for launch in self.collector.launches if (trouble := self._trouble(launch))]

    def _trouble(self, launch: Launch) -> str:
        language, want = self.collector.language, launch.want
        try:
            found = run_launch(language, launch)
        except AssertionError as error:
            return f"{want.title}: {error}"
        if language.records and found.trap != want.text:
            return f"{want.title}: trap\n  want {want.text!r}\n  have {found.trap!r}\n{launch.unit.printed.text}"
        if not language.records and (found.key is not None or found.trap != "") != (want.text != ""):
            return f"{want.title}: {want.text!r}, but key {found.key} {found.trap}\n{launch.unit.printed.text}"
        if want.text:
            return ""
        arrays = want.arrays if isinstance(want.arrays, dict) else dict(zip(found.arrays, want.arrays, strict=True))
        for name, good in arrays.items():
            have = found.arrays[name]
            a, b = support.bits(good), support.bits(have)
            if not np.array_equal(a, b):
                at = np.nonzero(a != b)
                return (
                    f"{want.title}: {name} differs at {[w[:4].tolist() for w in at]}: "
                    f"{good[at][:4]!r} expected, {have[at][:4]!r} found\n{launch.unit.printed.text}"
                )
        return ""


def cases(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Every parametrised call of a module's tests that take a device."""
    for name, function in vars(module).items():
        if (
            not name.startswith("test_")
            or "device" not in function.__code__.co_varnames[: function.__code__.co_argcount]
        ):
            continue
        marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
        choices: list[list[dict[str, Any]]] = []
        for mark in marks:
            names = mark.args[0].split(",") if isinstance(mark.args[0], str) else list(mark.args[0])
            names = [n.strip() for n in names]
            choices.append([_named(names, value) for value in mark.args[1]])
        for number, combination in enumerate(itertools.product(*choices)):
            yield f"{name}[{number}]", function, {k: v for part in combination for k, v in part.items()}


def _named(names: list[str], value: Any) -> dict[str, Any]:
    values = (
        value.values
        if hasattr(value, "values") and hasattr(value, "marks")
        else (value if len(names) > 1 else (value,))
    )
    return dict(zip(names, values, strict=True))


def open_session(monkeypatch: pytest.MonkeyPatch, device: str, collector: type[Collector]) -> Session:
    """Enter the device and give its session."""
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setitem(backends.RUNTIMES, device, (collector.__module__, collector.__name__))
    made = collector()
    monkeypatch.setitem(backends._MADE, device, made)  # pyright: ignore[reportPrivateUsage]
    return Session(device, made)
