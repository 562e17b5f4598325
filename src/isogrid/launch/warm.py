"""What every first launch needs, imported with the package: a cached kernel then starts within 30 ms of the import.

The compiler itself (bodies, passes, lowering, emitters) stays out: a launch from the disk cache never runs it.
"""

from importlib import import_module
from typing import Final

MODULES: Final = (
    "llvmlite.binding",
    "isogrid.dims",
    "isogrid.frontend.captures",
    "isogrid.frontend.define",
    "isogrid.launch.kernel_value",
    "isogrid.launch.dispatch",
    "isogrid.launch.native",
    "isogrid.launch.stored",
    "isogrid.backends.cpu.runtime",
    "isogrid.backends.cpu.stub",
)

for name in MODULES:
    import_module(name)
