"""Pages of what a target cannot express, IG501 to IG519."""

from typing import Final

from isogrid.diagnostics.pages import CodePage

PAGES: Final[dict[str, CodePage]] = {
    "IG501": CodePage(
        title="The target has no 64-bit floats; use f32, or another device",
        explanation=(
            "Some graphics languages have no 64-bit floats, and some devices do without. A kernel that computes in\n"
            "f64 is refused there, since f32 would give other bits. The capability is called `f64`."
        ),
        example_bad="z[i] = x[i] * 0.5          # z and x are f64",
        example_good="z[i] = x[i] * 0.5          # z and x are f32",
    ),
    "IG502": CodePage(
        title="The target has no 64-bit atomics; use 32-bit elements, or another device",
        explanation=(
            "An atomic update of i64, u64, w64 or f64 elements needs a capability, `atomics_64`, that not every\n"
            "target has."
        ),
        example_bad="ig.atomic_add(total, 0, x[i])   # total is i64",
        example_good="ig.atomic_add(total, 0, x[i])   # total is i32",
    ),
    "IG503": CodePage(
        title="An option gives up exact floats; say fastmath=True beside it",
        explanation=(
            "Flushing subnormals to zero, quicker quotients and fused products change float results, so that devices\n"
            "no longer agree. Such an option of a backend counts only beside `fastmath=True`, which says that this is\n"
            "meant. Integers, checks and bounds stay exact either way."
        ),
        example_bad='k.options(gpu={"ftz": True})',
        example_good='k.options(fastmath=True, gpu={"ftz": True})',
    ),
}
