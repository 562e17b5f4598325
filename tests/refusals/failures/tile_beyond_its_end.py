import isogrid as ig
from isogrid import In, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=64)
def tile_beyond_its_end(x: In[f32, N]) -> None:
    tile = ig.shared(f32, 64)
    tile[ig.lid() + ig.group_size()] = x[0]  # refuse: IG401
