"""The compilers that a CUDA programmer's text meets: NVRTC to PTX, ptxas to machine code. No GPU is needed."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from isogrid.backends.cuda.nvrtc import compile_nvrtc

#: Texts that go through the compiler together.
TOGETHER = 60


def ptx_of(texts: Sequence[str], arch: str = "compute_80") -> list[str]:
    """PTX of texts with default flags, many at a time, each in a namespace of its own."""
    found: list[str] = []
    for first in range(0, len(texts), TOGETHER):
        free = [text.replace('extern "C" ', "") for text in texts[first : first + TOGETHER]]
        parts = [f"namespace n{number} {{\n{text}\n}}" for number, text in enumerate(free)]
        found.append(compile_nvrtc("\n".join(parts), arch).rstrip(b"\0").decode())
    return found


def assemble(ptx: str, arch: str = "sm_80") -> None:
    """Raises AssertionError with the words of ptxas where it refuses the text."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_text(ptx)
        command = [ptxas(), f"--gpu-name={arch}", "--opt-level=0", str(source), "-o", str(source.with_suffix(".cubin"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]


def ptxas() -> str:
    """The assembler of the pip package, or that of an installed toolkit."""
    for folder in sys.path:
        for path in sorted((Path(folder) / "nvidia").glob("**/bin/ptxas")):
            return str(path)
    found = shutil.which("ptxas")
    assert found is not None, "ptxas is not installed: pip install nvidia-cuda-nvcc"
    return found


def rounds_exactly(text: str) -> bool:
    """Whether nothing in a text asks for a fused product, so that none may be in its code."""
    return re.search(r"__fmaf?_rn|\bfmodf?\(", text) is None


def inexact_instructions(ptx: str) -> list[str]:
    """Instructions that a strict text without fused products never becomes."""
    return re.findall(
        r"^\s+(?:@%p\d+ )?((?:fma|mad)\.\S*f\d\d|\S+\.ftz\.\S+|\S+\.approx\.\S+|(?:add|sub)\.f\d\d)", ptx, re.M
    )
