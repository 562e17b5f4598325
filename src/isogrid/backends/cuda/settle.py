"""The entry `settle` in CUDA C: which of the sums that left their type did not come back.

One block looks through the events of the watch. They are few, since a wrap is rare: each is compared with all others.
The first array, then the lowest element wins.
"""

from isogrid.backends.cuda.layout import SETTLE_THREADS, SITE_TOO_MANY, TOTAL_KEY, WATCH_DENSE, watched
from isogrid.ir import device as d

#: An element's number stands in the low bits of a rank.
_ELEMENT_BITS = 48


def settle_text(kernel: d.Kernel) -> str:
    """The text of the entry, for a kernel that has a watch."""
    sites = watched(kernel)
    places = [(number, sites[p.name]) for number, p in enumerate(kernel.parameters) if p.name in sites]
    site = str(places[-1][1])
    for number, other in reversed(places[:-1]):
        site = f"array == {number} ? {other} : {site}"
    return f"""\
// Finds the first sum that is out of its type for good, if no thread has trapped.
extern "C" __global__ void __launch_bounds__({SETTLE_THREADS})
settle(volatile u64* record, volatile u64* watch)
{{
    const bool trapped = record[0] != ~(u64)0;
    const u64 count = watch[0];
    if (count == 0) return;
    if (watch[1] == (u64)0x{WATCH_DENSE:x}) {{
        // Every element has a count, which goes back to zero for the next launch.
        for (u64 i = watch[2] + threadIdx.x; i < watch[{2 + len(kernel.parameters)}]; i += {SETTLE_THREADS}) {{
            if (watch[i] == 0) continue;
            watch[i] = 0;
            u64 array = 0;
            while (watch[3 + array] <= i) ++array;
            if (!trapped) atomicMin((u64*)&record[3], array << {_ELEMENT_BITS} | (i - watch[2 + array]));
        }}
        __syncthreads();
        watch[0] = 0;
    }}
    if (trapped) return;
    if (watch[1] != (u64)0x{WATCH_DENSE:x} && count > watch[1]) {{
        if (threadIdx.x == 0) {{
            record[1] = (u64)0x{SITE_TOO_MANY:x};
            record[0] = (u64)0x{TOTAL_KEY:x};
        }}
        return;
    }}
    for (u64 i = threadIdx.x; watch[1] != (u64)0x{WATCH_DENSE:x} && i < count; i += {SETTLE_THREADS}) {{
        const u64 array = watch[2 + 2 * i] >> 1;
        const u64 element = watch[3 + 2 * i];
        int times = 0;
        for (u64 j = 0; j < count; ++j) {{
            const u64 event = watch[2 + 2 * j];
            if (event >> 1 == array && watch[3 + 2 * j] == element) times += (event & 1) != 0 ? -1 : 1;
        }}
        if (times != 0) atomicMin((u64*)&record[3], array << {_ELEMENT_BITS} | element);
    }}
    __syncthreads();
    const u64 lowest = record[3];
    if (threadIdx.x == 0 && lowest != ~(u64)0) {{
        const u64 array = lowest >> {_ELEMENT_BITS};
        record[1] = {site};
        record[4] = lowest & (u64)0x{(1 << _ELEMENT_BITS) - 1:x};
        record[0] = (u64)0x{TOTAL_KEY:x};
    }}
}}
"""
