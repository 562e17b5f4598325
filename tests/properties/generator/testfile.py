"""A difference as a test that stands alone: the kernel, its arguments bit by bit, and the comparison."""

from pathlib import Path
from typing import Any

import numpy as np

from .program import Program
from .reduce import Finding

_TEST = """

def launched(device: str, number: int) -> tuple[str, dict[str, Any]]:
    given = arguments()[number]
    try:
        {kernel}.on(device)(**given)
    except ig.Trap as trap:
        return f"{{type(trap).__name__}}: {{trap}}", given
    return "", given


def test_devices_agree() -> None:
    for number in range(len(arguments())):
        words, want = launched("interp", number)
        found_words, found = launched("{device}", number)
        assert found_words == words
        for name, value in want.items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(found[name], value)
                if value.dtype.kind not in "iub":
                    known = ~np.isnan(value)
                    np.testing.assert_array_equal(np.signbit(found[name][known]), np.signbit(value[known]))
"""


def write_test(folder: Path, finding: Finding, program: Program) -> Path:
    """Write the test into the folder; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_seed_{finding.seed}_{finding.device.replace(':', '_')}.py"
    path.write_text(text_of_test(finding, program))
    return path


def text_of_test(finding: Finding, program: Program) -> str:
    """The test as text."""
    told = finding.text.replace("\\", "/").replace('"""', "'''").splitlines()[:6]
    head = f'"""Found by `isogrid fuzz --seed {finding.seed}` on {finding.device}: {chr(10).join(told)}\n"""\n\n'
    source = program.source.replace("from typing import Literal, TypeVar", "from typing import Any, Literal, TypeVar")
    kernel = "random_kernel"
    if program.disable:
        source += f"\n\noptimised = random_kernel.options(disable={program.disable!r})\n"
        kernel = "optimised"
    launches = ",\n".join(
        "        {\n"
        + "".join(f"            {name!r}: {_value(value)},\n" for name, value in given.items())
        + "        }"
        for given in program.launches
    )
    if "ml_dtypes" in launches:
        source = source.replace("import numpy as np\n", "import ml_dtypes\nimport numpy as np\n", 1)
    lists = f"\n\ndef arguments() -> list[dict[str, Any]]:\n    return [\n{launches},\n    ]\n"
    return head + source + lists + _TEST.format(kernel=kernel, device=finding.device)


def _value(value: Any) -> str:
    """Python text of an argument; floats of arrays by their bits, as decimals say nothing of a NaN."""
    if not isinstance(value, np.ndarray):
        text = repr(value)
        return f"float({text!r})" if text in ("inf", "-inf", "nan") else text
    array = np.ascontiguousarray(value)
    if array.dtype.kind not in "iub":
        bits = array.view(f"u{array.dtype.itemsize}")
        return f"np.array({bits.ravel().tolist()}, np.{bits.dtype}).view({_dtype(array.dtype)}).reshape({array.shape})"
    kind = "bool_" if array.dtype.kind == "b" else str(array.dtype)
    return f"np.array({array.ravel().tolist()}, np.{kind}).reshape({array.shape})"


def _dtype(dtype: "np.dtype[Any]") -> str:
    """Python text of a float dtype; NumPy has bf16 from a package that says its name to it."""
    return f"np.{dtype}" if dtype.kind == "f" else "ml_dtypes.bfloat16"
