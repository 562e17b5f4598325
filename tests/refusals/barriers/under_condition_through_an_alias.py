import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=256)
def under_alias(flags: In[i32, N], y: InOut[f32, N]) -> None:
    t = ig.lid()
    chosen = flags[t] > 0 if t < flags.shape[0] else False
    if chosen:
        ig.barrier()  # refuse: IG301
