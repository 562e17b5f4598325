"""Every statement and every order-of-evaluation rule as a small kernel; each text is one test."""

import re
from pathlib import Path

import numpy as np
import pytest

from .support import agree, kernel

CASES = re.split(r"^# --- (.+)$", (Path(__file__).parent / "statements.txt").read_text(), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize(("title", "text"), list(zip(CASES[::2], CASES[1::2], strict=True)), ids=CASES[::2])
def test_statement(title: str, text: str, device: str) -> None:
    """Kernels take (n: i32, x: In[i32, N], f: In[f32, N], y: InOut[i32, N], g: InOut[f32, N])."""
    made = kernel(text)
    random = np.random.default_rng(7)
    trapped = 0
    for size in (1, 15, 16, 17, 64, 67):
        for n in (0, 1, 3, -2):
            x = random.integers(-9, 10, size, dtype=np.int32)
            f = random.normal(0, 3, size).astype(np.float32)
            y = random.integers(-9, 10, size, dtype=np.int32)
            result, _ = agree(made, device, n, x, f, y, f[::-1].copy())
            trapped += bool(result)
    assert bool(trapped) == title.startswith("trap")
