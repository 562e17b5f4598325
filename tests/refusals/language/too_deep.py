import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def too_deep(x: In[f32, N], y: Out[f32, N]) -> None:  # refuse: IG158
    i = ig.gid()
    y[i] = (
        x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
        + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i] + x[i]
    )


def below(called):
    @ig.func
    def helper(v):
        return called(v)  # refuse: IG158

    return helper


@ig.func
def deepest(v):
    return v


helpers = [deepest]
for _ in range(70):
    helpers.append(below(helpers[-1]))
outermost = helpers[-1]


@ig.kernel(grid=N)
def too_many_helpers(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = outermost(x[i])
