import isogrid as ig
from isogrid import In, InOut, bf16, f16
from isogrid.dims import M, N


@ig.kernel(grid=N)
def one_half(x: In[f16, N], y: InOut[bf16, M]) -> None:
    i = ig.gid()
    if x[i] > 1.5:
        y[0] = bf16(x[i])  # refuse: IG201


@ig.kernel(groups=M, block=64)
def mirrored(x: In[bf16, M, 64], y: InOut[f16, M, 64]) -> None:
    t = ig.shared(bf16, 64)
    i = ig.lid()
    t[i] = bf16(x[ig.group_id(), i])
    y[ig.group_id(), i] = f16(t[63 - i])  # refuse: IG201
