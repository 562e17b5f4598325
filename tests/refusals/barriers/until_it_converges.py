import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(groups=1, block=64)
def halve(y: InOut[f32, N]) -> None:
    i = ig.lid()
    v = y[i] if i < N else 0.0
    while v > 1.0:
        v *= 0.5
        ig.barrier()  # refuse: IG303
    if i < N:
        y[i] = v
