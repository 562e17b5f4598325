"""Everything that needs a GPU, in one command with a short table at the end: `python -m tests.cuda_device.first_run`.

Parts are given by name; without names all of them run. Each has a time limit; one that fails does not stop the next.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKERS = str(min(12, os.cpu_count() or 1))

#: Tests of offloaded functions that run on a device.
OFFLOAD = [
    f"tests/offload/test_{name}.py"
    for name in ("calls", "examples", "loops", "tree", "on_a_gpu", "stored", "bad_input")
]

#: Part, seconds, command. Tests run on the real driver; `cuda` is the device under test.
PARTS: dict[str, tuple[int, list[str]]] = {
    "arrays": (120, [sys.executable, "-m", "pytest", "tests/arrays", "-q", "-x", "--no-header"]),
    "conformance": (240, [sys.executable, "-m", "pytest", "tests/conformance", "-q", "-n", WORKERS, "--maxfail=20"]),
    "gallery": (240, [sys.executable, "-m", "tests.cuda_device.gallery"]),
    "elementary_f64": (120, [sys.executable, "-m", "tests.cuda_device.elementary_f64"]),
    "quotients": (90, [sys.executable, "-m", "tests.cuda_device.quotients"]),
    "maps": (120, [sys.executable, "-m", "tests.cuda_device.maps"]),
    "stored_floats": (90, [sys.executable, "-m", "tests.cuda_device.stored_floats"]),
    "torch": (90, [sys.executable, "-m", "tests.cuda_device.torch_arrays"]),
    "timings": (120, [sys.executable, "-m", "tests.cuda_device.timings"]),
    "host_slices": (90, [sys.executable, "-m", "tests.cuda_device.host_slices"]),
    "graphs": (90, [sys.executable, "-m", "tests.cuda_device.graphs"]),
    "loops": (180, [sys.executable, "-m", "tests.cuda_device.loops"]),
    "offload": (240, [sys.executable, "-m", "tests.cuda_device.offload"]),
    "offload_tests": (
        240,
        [sys.executable, "-m", "pytest", *OFFLOAD, "-q", "-n", WORKERS, "--maxfail=20"],
    ),
    "nvrtc": (180, [sys.executable, "-m", "tests.cuda_device.through_nvrtc"]),
    "disputed": (
        60,
        [sys.executable, "-m", "pytest", "tests/conformance", "-vv", "-k", "later"],
    ),
    "random": (240, [sys.executable, "-m", "tests.cuda_device.random_kernels"]),
}


def main(names: list[str]) -> int:
    out = Path(os.environ.get("OUT", "/tmp"))
    environment = os.environ | {
        "ISOGRID_TEST_DEVICES": "cuda",
        "ISOGRID_CONFORMANCE_DEVICES": "cuda",
        "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(ROOT / "src"), str(ROOT)]),
    }
    rows: list[str] = []
    for name in names or list(PARTS):
        limit, command = PARTS[name]
        started = time.perf_counter()
        log = out / f"{name}.log"
        with log.open("w") as file:
            try:
                code = subprocess.run(
                    command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, timeout=limit
                ).returncode
                verdict = "ok" if code == 0 else f"FAILED ({code})"
            except subprocess.TimeoutExpired:
                verdict = f"TIMED OUT after {limit} s"
        text = log.read_text().splitlines()
        print(f"--- {name}", *text[-(12 if verdict == "ok" else 45) :], sep="\n")
        rows.append(f"{name:12} {verdict:12} {time.perf_counter() - started:6.1f} s  {text[-1] if text else ''}")
    print("=" * 100, *rows, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
