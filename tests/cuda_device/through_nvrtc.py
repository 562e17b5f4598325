"""The gallery, random kernels and conformance through CUDA C and NVRTC in place of LLVM's PTX."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

from tests.cuda_device import gallery
from tests.properties.generator.choices import Choices
from tests.properties.generator.execute import run
from tests.properties.generator.program import program


def one(seed: int) -> tuple[int, str]:
    import isogrid as ig

    ig.default_options(cuda={"codegen": "nvrtc"})
    return seed, run(program(Choices(seed)), f"random kernel {seed}", ("interp", "cuda")).trouble


def the_gallery() -> int:
    """How many kernels of the gallery differ."""
    import isogrid as ig

    ig.default_options(cuda={"codegen": "nvrtc"})
    return gallery.main()


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    context = multiprocessing.get_context("spawn")
    troubles = 0
    with ProcessPoolExecutor(min(15, os.cpu_count() or 1), mp_context=context) as pool:
        for seed, trouble in pool.map(one, range(1, count + 1), chunksize=10):
            if trouble:
                troubles += 1
                print(f"seed {seed}: {trouble[:500]}", flush=True)
        troubles += pool.submit(the_gallery).result()
    print(f"{count} random kernels and the gallery, {troubles} troubles", flush=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.cuda_device.nvrtc_plugin", "tests/conformance", "-q"]
    code = subprocess.run([*command, "-n", "12", "--maxfail=10", "--tb=short"]).returncode
    return int(bool(troubles)) | code


if __name__ == "__main__":
    sys.exit(main())
