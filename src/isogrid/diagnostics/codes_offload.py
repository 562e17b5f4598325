"""Page of the warning about loops that run in sequence, IG8070."""

from typing import Final

from isogrid.diagnostics.pages import CodePage

PAGES: Final = {
    "IG8070": CodePage(
        title="A loop of an offloaded function runs in sequence",
        explanation=(
            "`@ig.offload` runs a loop as a kernel only where it can prove that its iterations do not depend on each "
            "other. The text names the line that stops the proof and what stands there, then what to change. The "
            "results are those of the loop as written either way; only the speed differs. Rules: a counted loop with "
            "a constant step (R1), no early exit (R2), writes that no two iterations share, or reductions (R3), reads "
            "of written arrays only where the iteration writes (R4), no effects in what is called (R5), no barriers, "
            "group memory or output (R6); and a function of scalar statements, then loops, then one return. The "
            'warning is an `ig.OffloadWarning`; `@ig.offload(parallel="require")` makes it an error.'
        ),
        example_bad=(
            "@ig.offload\n"
            "def smooth(x: InOut[f32, N]) -> None:\n"
            "    for i in range(1, len(x)):\n"
            "        x[i] = (x[i] + x[i - 1]) / 2.0\n"
        ),
        example_good=(
            "@ig.offload\n"
            "def smooth(x: In[f32, N], y: Out[f32, N]) -> None:\n"
            "    for i in range(1, len(x)):\n"
            "        y[i] = (x[i] + x[i - 1]) / 2.0\n"
        ),
    ),
}
