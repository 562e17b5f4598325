"""The option group of the CPU: `without` makes it a device that lacks something, to see what such a one computes."""

from collections.abc import Mapping
from typing import Any, Final

from isogrid.ir.lacking import NOTHING, Lacking

#: Keys and the types of their values.
BACKEND_OPTIONS: Final[Mapping[str, type]] = {"without": str}
_WHY: Final = {
    "f64": "the option `without` takes 64-bit floats away",
    "fma": "the option `without` takes the fused multiply-add away",
}


def judge_option(key: str, value: Any) -> str | None:
    """What is wrong with the value of a key that has the right type, None if nothing is."""
    unknown = [word for word in _words(value) if word not in _WHY]
    return f"names capabilities, such as 'f64' or 'f64,fma', not {value!r}" if unknown else None


def lacking_of(options: Mapping[str, Any]) -> Lacking:
    """What a kernel with these options does without: functions come from other builds or are refused, as f64 is."""
    group: Mapping[str, Any] = options.get("cpu", {})
    words = _words(group.get("without", ""))
    return Lacking("this CPU", {word: _WHY[word] for word in words}) if words else NOTHING


def _words(value: str) -> list[str]:
    return [word for part in value.split(",") if (word := part.strip())]
