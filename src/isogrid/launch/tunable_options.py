"""What `.options(...)` of a kernel or an offloaded function is given: options, and values of tunables by name."""

from collections.abc import Mapping
from types import FunctionType
from typing import Any, cast

from isogrid.frontend.definition import Definition
from isogrid.launch.errors import OptionError
from isogrid.launch.options import PORTABLE, Options, checked_options, unknown_option
from isogrid.support.shown import nearest


def reached(definition: Definition) -> dict[str, tuple[int, ...]]:
    """The values of every tunable that the signature, the body or a helper reaches."""
    from isogrid.frontend.constants import reached_tunables

    known = {t.name: t.values for t in definition.tunables}
    found = reached_tunables(cast(FunctionType, definition.function))
    return known | {t.name: t.values for t in found if t.name is not None}


def separated(definition: Definition, options: Mapping[str, Any]) -> tuple[Options, dict[str, int]]:
    """Options and tunables, checked; a portable option wins over a tunable of its name. Raises `OptionError`."""
    tunables: dict[str, int] = {}
    rest: dict[str, Any] = {}
    known = reached(definition) if set(options) - set(PORTABLE) else {}
    for key, value in options.items():
        if key in known and key not in PORTABLE:
            tunables[key] = _chosen(definition, key, known[key], value)
        else:
            rest[key] = value
    try:
        return checked_options(rest), tunables
    except OptionError:
        for key in rest:
            if key not in PORTABLE and nearest(key, known):
                raise unknown_option(key, known) from None
        raise


def _chosen(definition: Definition, name: str, values: tuple[int, ...], value: Any) -> int:
    if type(value) is not int or value not in values:
        listed = ", ".join(map(str, values))
        raise OptionError(f"tunable `{name}` of {definition.name} is one of {listed}, not {value!r}")
    return value
