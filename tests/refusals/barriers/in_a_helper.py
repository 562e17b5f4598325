import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.func
def meet(go):
    if go:
        ig.barrier()  # refuse: IG301


@ig.kernel(groups=1, block=256)
def in_a_helper(y: InOut[f32, N]) -> None:
    meet(ig.lid() == 0)
