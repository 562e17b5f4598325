"""Random functions of several loops: the quick call, the ordinary call and the interpreter give and raise the same.

`ISOGRID_RANDOM_CHAINS=200` makes it a campaign.
"""

import os
import random
import re
import warnings
from typing import Any

import pytest

import isogrid as ig
from tests.offload import generator
from tests.offload.written import called, same

COUNT = int(os.environ.get("ISOGRID_RANDOM_CHAINS", "3"))
#: Values of n, w, h and k, some of which no array has room for.
SCALARS = (*generator.SCALARS, (0, 4, 5, 3), (30, 4, 5, 3), (9, 4, 5, 0), (9, 40, 5, 3), (-2, 4, 5, 3))


def text_of(seed: int) -> str:
    """Two or three accepted loops in one function, with reductions of their own and perhaps scalars around them."""
    choose = random.Random(seed)
    before, body, results = list[str](), list[str](), list[str]()
    wanted = choose.choice([2, 2, 3])
    while len(body) < wanted:
        number = choose.randrange(10**6)
        if not generator.judged(number).accepted:
            continue
        loop = "\n".join(generator.loop_text(number).splitlines()[3:-1])
        for name, start in (("s", 0), ("m", 7)):
            if re.search(rf"\b{name}\b", loop):
                own = f"{name}{len(body)}x"
                loop = re.sub(rf"\b{name}\b", own, loop)
                before.append(f"    {own} = {start}")
                results.append(own)
        body.append(loop)
    if results and choose.random() < 0.4:
        body.append(f"    z = {results[0]} * 3 - {choose.choice('nwhk')}")
        results.append("z")
    if choose.random() < 0.4:
        before.append(f"    e = n * {choose.choice('wk')} + 1")
        results.append("e")
    types = ", ".join(["i64"] * len(results))
    returns = f"tuple[{types}]" if len(results) > 1 else types or "None"
    head = re.sub(r"->.*", f"-> {returns}:", generator.loop_text(seed).splitlines()[0])
    end = [f"    return {', '.join(results)}"] if results else []
    return "\n".join([head, *before, *body, *end]) + "\n"


@pytest.mark.parametrize("seed", [*range(COUNT), 8, 29, 36])
def test_the_quick_call_is_the_ordinary_call(seed: int) -> None:
    text = text_of(seed)
    f: Any = ig.offload(generator.typed(text, seed)).on("cpu")
    names = [p.name for p in f.definition.parameters]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        for large in (0, 2**62):
            for scalars in (*SCALARS, SCALARS[0]):
                given = generator.arguments(seed) | dict(zip("nwhk", scalars, strict=True))
                given["a"] += large
                expected = called(lambda **values: f._call(*(values[n] for n in names)), given)
                assert same(called(lambda **values: f(*(values[n] for n in names)), given), expected), text
                if scalars == SCALARS[0]:
                    assert same(called(f.reference, given), expected), text
