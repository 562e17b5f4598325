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
    "IG504": CodePage(
        title="The target cannot compute this function exactly; use another function, or another device",
        explanation=(
            "Elementary functions are computed in f32 with a fused multiply-add and, where that does not decide, in\n"
            "f64. For targets without 64-bit floats (capability `f64`) or whose multiply-add may round twice\n"
            "(capability `fma`) there are builds in sums of two and three f32 of exp, exp2, log, log2, sin, cos, tanh\n"
            "and rsqrt of f32, with the same bits. The other functions are refused there, and `ig.fma` itself where\n"
            'it may round twice. `k.on("cpu").options(cpu={"without": "f64,fma"})` shows on a CPU what such a device\n'
            "computes and refuses."
        ),
        example_bad="y[i] = math.erf(x[i])         # on a target without f64",
        example_good="y[i] = math.tanh(x[i])        # computed in f32 alone there",
    ),
}
