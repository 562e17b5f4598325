"""The option group of NVIDIA devices: its keys, which values they take, and those that give up exact floats."""

import re
from collections.abc import Mapping
from typing import Any, Final

#: Keys and the types of their values.
BACKEND_OPTIONS: Final[Mapping[str, type]] = {
    "max_registers": int,
    "min_blocks_per_sm": int,
    "codegen": str,
    "arch": str,
    "ftz": bool,
    "fast_division": bool,
    "contract": bool,
}
#: Keys that change float results; they need `fastmath=True`.
INEXACT_OPTIONS: Final = ("ftz", "fast_division", "contract")
#: Other words for those, as compilers and libraries call them.
OTHER_WORDS: Final[Mapping[str, str]] = {
    "flush_to_zero": "ftz",
    "flush_denormals": "ftz",
    "denormals": "ftz",
    "nvptx_f32ftz": "ftz",
    "prec_div": "fast_division",
    "prec_sqrt": "fast_division",
    "precise_division": "fast_division",
    "approximate_division": "fast_division",
    "fast_sqrt": "fast_division",
    "fmad": "contract",
    "fma": "contract",
    "fp_contract": "contract",
    "contraction": "contract",
    "use_fast_math": "contract",
    "fast_math": "contract",
    "fastmath": "contract",
}
_LIMITS: Final = {"max_registers": (8, 255), "min_blocks_per_sm": (1, 32)}


def judge_option(key: str, value: Any) -> str | None:
    """What is wrong with the value of a key that has the right type, None if nothing is."""
    limits = _LIMITS.get(key)
    if limits is not None and not limits[0] <= value <= limits[1]:
        return f"is {limits[0]} to {limits[1]}, not {value}"
    if key == "codegen" and value not in ("llvm", "nvrtc"):
        return f"is 'llvm' or 'nvrtc', not {value!r}"
    if key == "arch" and not re.fullmatch(r"sm_\d{2,3}", value):
        return f"names an architecture such as 'sm_90', not {value!r}"
    return None


def nvrtc_flags(options: Mapping[str, Any], *, exact: bool) -> list[str]:
    """Flags of NVRTC for these options. The text is exact with none; `exact` kernels never get an inexact one."""
    group: Mapping[str, Any] = options.get("cuda", {})
    flags: list[str] = []
    if "max_registers" in group:
        flags.append(f"--maxrregcount={group['max_registers']}")
    if options.get("fastmath") and not exact:
        if group.get("ftz"):
            flags.append("--ftz=true")
        if group.get("fast_division"):
            flags += ["--prec-div=false", "--prec-sqrt=false"]
    return flags
