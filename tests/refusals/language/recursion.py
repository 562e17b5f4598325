import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.func
def factorial(n: i32) -> i32:
    if n <= 1:
        return 1
    return n * factorial(n - 1)  # refuse: IG128


@ig.func
def even(n: i32) -> i32:
    return 1 if n == 0 else odd(n - 1)


@ig.func
def odd(n: i32) -> i32:
    return 0 if n == 0 else even(n - 1)  # refuse: IG128


@ig.kernel(grid=N)
def recursion(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = f32(factorial(k[i])) + f32(even(k[i]))
