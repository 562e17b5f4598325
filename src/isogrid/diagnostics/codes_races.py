"""Pages of the race codes, IG2xx."""

from typing import Final

from isogrid.diagnostics.pages import CodePage

PAGES: Final = {
    "IG201": CodePage(
        title="Two threads touch the same element and nothing orders them",
        explanation=(
            "At least one of the two accesses writes, and they are not both the same atomic. Threads of one group are "
            "ordered by `ig.barrier()` only, threads of different groups by nothing before the end of the launch. The "
            "report shows two threads, the values that bring them together, the element, and both places. Give each "
            "thread elements of its own, put a barrier between the two accesses where every thread of the group "
            "reaches it, use an atomic update, or split the work in two launches."
        ),
        example_bad=(
            "@ig.kernel(groups=1, block=256)\n"
            "def shift(x: InOut[i32, Literal[256]]) -> None:\n"
            "    tile = ig.shared(i32, 256)\n"
            "    i = ig.lid()\n"
            "    tile[i] = x[i]\n"
            "    x[i] = tile[(i + 1) % 256]\n"
        ),
        example_good=(
            "@ig.kernel(groups=1, block=256)\n"
            "def shift(x: InOut[i32, Literal[256]]) -> None:\n"
            "    tile = ig.shared(i32, 256)\n"
            "    i = ig.lid()\n"
            "    tile[i] = x[i]\n"
            "    ig.barrier()\n"
            "    x[i] = tile[(i + 1) % 256]\n"
        ),
    ),
    "IG202": CodePage(
        title="Cannot show that two threads never touch the same element",
        explanation=(
            "The indices of the two accesses involve a value about which nothing is known, such as an index loaded "
            "from an array that the kernel itself fills, so neither a proof nor a counterexample was found. That is no "
            "claim that the kernel is wrong. Where only a condition is beyond the proof, a possible meeting shows what "
            "happens if it holds. Index by the thread's own coordinates, state the missing fact with "
            "`ig.require(...)`, use an atomic update, or let the accesses be checked while the kernel runs with "
            '`races="check"`.'
        ),
        example_bad=(
            "@ig.kernel(groups=1, block=256)\n"
            "def shuffle(x: In[i32, Literal[256]], y: Out[i32, Literal[256]]) -> None:\n"
            "    place = ig.shared(i32, 256)\n"
            "    i = ig.lid()\n"
            "    place[i] = x[i]\n"
            "    ig.barrier()\n"
            "    y[place[i]] = 1\n"
        ),
        example_good=(
            "@ig.kernel(groups=1, block=256)\n"
            "def shuffle(x: In[i32, Literal[256]], y: Out[i32, Literal[256]]) -> None:\n"
            "    place = ig.shared(i32, 256)\n"
            "    i = ig.lid()\n"
            "    place[i] = x[i]\n"
            "    ig.barrier()\n"
            "    y[i] = place[255 - i]\n"
        ),
    ),
    "IG203": CodePage(
        title="The race proof is larger than its fixed budget",
        explanation=(
            "The proof counts its steps, never time, so that the verdict is the same on every machine. This kernel "
            "needs more steps than the budget allows. Split the kernel, shorten unrolled loops, or let the accesses "
            'be checked while the kernel runs with `races="check"`.'
        ),
        example_bad="",
        example_good="",
    ),
}
