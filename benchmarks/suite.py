"""Which gallery kernels belong to which class of the speed target, and the bar of each class against Numba."""

from typing import Final

#: Class -> least ratio (Numba's time over isogrid's), None where the target names no bar for the class alone.
BARS: Final[dict[str, float | None]] = {
    "streaming": 0.95,
    "inner loop": 8.0,
    "divergent": 8.0,
    "block reduction": 3.5,
    "tiled matmul": 2.0,
    "gather": 1.0,
    "other": None,
}
#: The least geometric mean of all ratios.
MEAN_BAR: Final = 2.0

#: Example name -> class, in gallery order.
CLASSES: Final[dict[str, str]] = {
    "saxpy": "streaming",
    "triad": "streaming",
    "transpose": "other",
    "matmul_naive": "inner loop",
    "matmul_tiled": "tiled matmul",
    "reduce_sum": "block reduction",
    "reduce_max": "block reduction",
    "dot": "block reduction",
    "scan": "other",
    "histogram": "other",
    "stencil": "streaming",
    "convolution": "other",
    "life": "streaming",
    "nbody": "inner loop",
    "mandelbrot": "divergent",
    "bitonic": "other",
    "spmv": "gather",
    "floyd_warshall": "streaming",
    "fft": "other",
    "monte_carlo": "inner loop",
    "gauss_seidel": "other",
    "photo": "other",
}
