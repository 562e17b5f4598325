"""Plain loops that become kernels: `ig.offload`. (The folder is not called `offload`: `isogrid.offload` is the
decorator, and a submodule of that name would take its place.)"""
