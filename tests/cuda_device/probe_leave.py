import linecache

import numpy as np

import isogrid as ig

SRC = open(__file__.replace("probe_leave", "probe_leave_kernel")).read()


def make(block):
    text = SRC.replace("BLOCK", str(block)).replace("LAST", str(block - 2))
    name = f"<probe{block}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    ns = {"__name__": "probe"}
    exec(compile(text, name, "exec"), ns)
    return ns["k"]


for block in (8, 32, 64, 256):
    k = make(block)
    for bad in (block - 1, block - 2, None):
        x = np.zeros(block * 3, np.int32)
        if bad is not None:
            x[bad] = 9
        out = []
        for dev in ("interp", "cuda"):
            try:
                k.on(dev)(3, x, np.zeros_like(x))
                out.append("none")
            except ig.Trap as t:
                out.append(str(t).splitlines()[0] + " " + str(t).splitlines()[-1])
        print(block, bad, out[0] == out[1], out)
