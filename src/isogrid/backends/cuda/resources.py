"""What a kernel takes of a GPU, as the driver says: registers, memory, how many groups a processor holds at once."""

from collections.abc import Mapping
from typing import Any

from isogrid.backends.cuda.loader import compile_variant, load
from isogrid.backends.cuda.machine import Machine
from isogrid.ir import kernel as k


def resource_rows(kernel: k.Kernel, options: Mapping[str, Any], machine: Machine, number: int) -> list[tuple[str, str]]:
    """Name and value of each fact, for the variant that usual launches take."""
    machine.enter(number)
    driver = machine.driver
    variant = compile_variant(kernel, options, machine, number, small=True, aligned=True)
    loaded = load(driver, variant, number)
    module = variant.module
    blocks = driver.resident_blocks(loaded.run, module.block, module.dynamic_shared)
    most = driver.device_attribute("threads_per_processor", number)
    threads = blocks * module.block
    static = driver.function_attribute("shared_bytes", loaded.run)
    return [
        ("registers", f"{driver.function_attribute('registers', loaded.run)} a thread"),
        ("local memory", f"{driver.function_attribute('local_bytes', loaded.run)} bytes a thread (arrays and spills)"),
        ("shared memory", f"{static + module.dynamic_shared} bytes a block"),
        ("block", f"{module.block} threads, which cover {' x '.join(map(str, module.tile))} of the launch"),
        ("occupancy", f"{blocks} blocks on a processor, {100 * threads // most} % of its {most} threads"),
        ("traps", "copies of what it writes, put back behind it" if loaded.can_trap else "none: nothing is copied"),
        ("code", f"{len(variant.image)} bytes, made in {variant.milliseconds:.1f} ms"),
        *(("note", note) for note in module.notes),
    ]
