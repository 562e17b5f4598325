"""Which machine the figures come from."""

import os
import platform
from pathlib import Path


def processor() -> str:
    """The processor's name as the system gives it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def describe() -> dict[str, str | int]:
    """Processor, vector extensions, cores and versions, for the JSON and the heading."""
    import llvmlite
    import numba
    import numpy

    features = _llvm_features()
    return {
        "processor": processor(),
        "llvm_name": features[0],
        "vectors": features[1],
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": f"{platform.system()} {platform.release()}",
    }


def _llvm_features() -> tuple[str, str]:
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    vectors = next((name for name in ("avx512f", "avx2", "avx", "sse2", "neon") if found.get(name)), "scalar")
    return binding.get_host_cpu_name(), vectors
