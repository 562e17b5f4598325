"""`import isogrid` takes at most 100 ms beyond NumPy: what it must not load, which no clock on a busy machine can say.

`benchmarks/latency.py` measures the time itself.
"""

import json
import subprocess
import sys

#: Modules that only something rare needs, with why each would be missed at no first launch.
LATE = {
    "difflib": "proposes a name where one is misspelt",
    "heapq": "of difflib",
    "_hashlib": "loads OpenSSL, 3 ms, for a hash that the interpreter has itself",
    "signal": "makes three enumerations; its functions are wanted, and `_signal` has them",
    "json": "of reports on the command line",
    "isogrid.pipeline": "the compiler, which a kernel from the disk cache never runs",
    "isogrid.frontend.build": "the same",
    "isogrid.offloading.function": "of offloaded functions",
}

SCRIPT = """
import json, sys
import numpy
there = set(sys.modules)
import isogrid
print(json.dumps(sorted(set(sys.modules) - there)))
"""


def _imported() -> set[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_imports_llvmlite_and_nothing_that_few_need() -> None:
    found = _imported()
    assert "llvmlite.binding" in found
    assert sorted(found & LATE.keys()) == []


def test_the_folder_of_the_compiler_is_not_read() -> None:
    """Its stamp takes a look at every source file, 4 ms: the first kernel that is looked up asks for it."""
    script = """
import os, sys
read = []
sys.addaudithook(lambda event, arguments: read.append(str(arguments[0])) if event == "os.scandir" else None)
import isogrid
print(len([folder for folder in read if "isogrid" in folder]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
