"""Pages of the codes IG301 to IG304 (barriers and warps) and IG401 to IG409 (what always fails)."""

from isogrid.diagnostics.pages import CodePage

_GROUPS = "@ig.kernel(groups=1, block=256)\ndef k(y: InOut[f32, N]) -> None:\n"
_GRID = "@ig.kernel(grid=N)\ndef k(y: InOut[i32, N]) -> None:\n    i = ig.gid()\n"

PAGES: dict[str, CodePage] = {
    "IG301": CodePage(
        title="A barrier stands under a condition that differs between threads; move it out of the `if`",
        explanation=(
            "A barrier, and every group operation, waits for all threads of its group. Under a condition that some of\n"
            "them decide differently the group waits for threads that never come. A value is the same for the whole\n"
            "group if it is made of sizes, scalars, group ids, constants, results of `group_any` and its like, and\n"
            "elements loaded at such an index from an array without atomics in this kernel. `gid` and `lid` are not.\n"
            "A warp operation needs the same of its warp: `warp_id`, `ballot` and `warp_any` are the same for a warp,\n"
            "`lane_id` is not."
        ),
        example_bad=_GROUPS + "    if ig.lid() < 32:\n        ig.barrier()\n",
        example_good=_GROUPS + "    if ig.lid() < 32:\n        y[ig.lid()] = 0.0\n    ig.barrier()\n",
    ),
    "IG302": CodePage(
        title="A barrier comes after a `return`, `break` or `continue` that only some threads take; guard the work",
        explanation=(
            "Threads that have left do not come to a later barrier, and the others wait for them. Put the work of the\n"
            "threads that go on under an `if`, and the barrier after it, where every thread passes."
        ),
        example_bad=(
            _GROUPS + "    i = ig.gid()\n    if i >= y.shape[0]:\n        return\n    y[i] = 1.0\n    ig.barrier()\n"
        ),
        example_good=_GROUPS + "    i = ig.gid()\n    if i < y.shape[0]:\n        y[i] = 1.0\n    ig.barrier()\n",
    ),
    "IG303": CodePage(
        title="A barrier stands in a loop whose number of trips differs between threads; give all the same trips",
        explanation=(
            "Threads that leave the loop earlier miss the barriers of the later trips. Loop up to a bound that is the\n"
            "same for the whole group, and guard the work inside, or ask `ig.group_any(...)` whether to go on."
        ),
        example_bad=_GROUPS + "    for k in range(ig.lid()):\n        ig.barrier()\n",
        example_good=(
            _GROUPS + "    for k in range(256):\n        if k < ig.lid():\n            y[ig.lid()] += 1.0\n"
            "        ig.barrier()\n"
        ),
    ),
    "IG304": CodePage(
        title="The block is not a whole number of warps; use a multiple of the warp width",
        explanation=(
            "Every thread of a warp takes part in its operations, and warps are counted off the linear `lid`. In a\n"
            "block of 48 threads the second warp of 32 would lack 16. Round the block up and guard the work of the\n"
            "threads too many, or choose a narrower warp with `warp=`: 4, 8, 16, 32 or 64."
        ),
        example_bad=(
            "@ig.kernel(groups=1, block=48)\ndef k(y: InOut[i32, N]) -> None:\n"
            "    y[ig.lid()] = ig.warp_sum(y[ig.lid()])\n"
        ),
        example_good=(
            "@ig.kernel(groups=1, block=64)\ndef k(y: InOut[i32, N]) -> None:\n"
            "    y[ig.lid()] = ig.warp_sum(y[ig.lid()])\n"
        ),
    ),
    "IG401": CodePage(
        title="A subscript is never in range; use an index from 0 to the extent minus 1",
        explanation=(
            "Whatever the launch, every thread that reaches this subscript stops with a `KernelIndexError`: the index\n"
            "is below 0 or at least the extent. Negative subscripts do not count from the end."
        ),
        example_bad=_GRID + "    y[len(y) + i] = 1\n",
        example_good=_GRID + "    y[len(y) - 1 - i] = 1\n",
    ),
    "IG402": CodePage(
        title="The result of an operation never fits its type; compute in a wider type or in a w-type",
        explanation=(
            "Integers are exact: a result outside the type is a `KernelOverflowError`. Here it is outside in every\n"
            "thread that gets there. `i64` holds more, `w32` and `w64` wrap."
        ),
        example_bad=_GRID + "    y[i] = i32(2147483647) + i32(1)\n",
        example_good=_GRID + "    y[i] = 2147483647\n",
    ),
    "IG403": CodePage(
        title="An integer division by zero; divide by something else",
        explanation="`//` and `%` of integers by 0 raise `KernelZeroDivisionError` in every thread that gets there.",
        example_bad=_GRID + "    y[i] = y[i] // 0\n",
        example_good=_GRID + "    y[i] = y[i] // 2\n",
    ),
    "IG404": CodePage(
        title="A shift amount is never in range; shift by 0 up to the width minus 1",
        explanation="A type of n bits is shifted by 0 to n-1; anything else raises `KernelValueError`.",
        example_bad=_GRID + "    y[i] = y[i] >> 32\n",
        example_good=_GRID + "    y[i] = y[i] >> 31\n",
    ),
    "IG405": CodePage(
        title="The exponent of an integer power is negative; use an exponent of 0 or more",
        explanation="An integer to a negative power is no integer: `KernelValueError` in every thread that gets there.",
        example_bad=_GRID + "    y[i] = y[i] ** -1\n",
        example_good=_GRID + "    y[i] = y[i] ** 2\n",
    ),
    "IG406": CodePage(
        title="A converted value never fits; convert one that the type holds, or saturate",
        explanation="A written conversion keeps the value or raises `KernelValueError`. Here the value never fits.",
        example_bad=_GRID + "    y[i] = i32(u32(4294967295))\n",
        example_good=_GRID + "    y[i] = ig.saturate(i32, u32(4294967295))\n",
    ),
    "IG407": CodePage(
        title="A stored value never fits the element type; store one that fits, or saturate",
        explanation="A store into a narrower integer keeps the value or raises `KernelOverflowError`.",
        example_bad=_GRID + "    y[i] = i + 5000000000\n",
        example_good=_GRID + "    y[i] = ig.saturate(i32, i + 5000000000)\n",
    ),
    "IG408": CodePage(
        title="A loop has a step of 0; give it another step",
        explanation="`range(a, b, 0)` has no meaning: `KernelValueError` in every thread that gets there.",
        example_bad=_GRID + "    step = 0\n    for k in range(0, 10, step):\n        y[i] = 1\n",
        example_good=_GRID + "    step = 1\n    for k in range(0, 10, step):\n        y[i] = 1\n",
    ),
    "IG409": CodePage(
        title="Preconditions contradict each other; what is proved under them is vacuous",
        explanation=(
            "No launch with a thread meets all `ig.require` lines of the kernel, so every such launch is refused and\n"
            "nothing that is proved of it means anything. Sizes count too: an array's extent is not negative, and a\n"
            "launch without a thread needs no proof."
        ),
        example_bad=_GRID.replace("    i = ", "    ig.require(N > 8)\n    ig.require(N < 4)\n    i = ")
        + "    y[i] = 1\n",
        example_good=_GRID.replace("    i = ", "    ig.require(N > 8)\n    i = ") + "    y[i] = 1\n",
    ),
}
