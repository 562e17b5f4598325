"""One generation of Life must not be written over the one that neighbours still read."""

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import H, W


@ig.kernel(grid=(H, W))
def generation(cells: InOut[i32, H, W]) -> None:
    i, j = ig.gids()
    if i > 0 and i < H - 1:
        alive = cells[i - 1, j] + cells[i + 1, j]
        cells[i, j] = 1 if alive == 1 else 0  # refuse: IG201
