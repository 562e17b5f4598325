"""What launches and code share: dividers give the quotient of every number below 2^31."""

import random

from isogrid.backends.cuda.layout import divider


def test_dividers() -> None:
    chosen, most = random.Random(1), (1 << 31) - 1
    counts = [1, 2, 3, 5, 7, 641, 65535, 65536, 65537, most - 1, most, *(1 << n for n in range(31))]
    counts += [chosen.randint(1, 1 << chosen.randint(1, 31)) for _ in range(2000)]
    for count in counts:
        packed = divider(min(count, most))
        count = min(count, most)
        factor, shift = packed & 0xFFFFFFFF, packed >> 32
        whole = most // count * count
        for number in (0, 1, count - 1, count, whole - 1, whole, most, chosen.randint(0, most)):
            number = max(0, min(number, most))
            assert (2 * number * factor >> 32) >> shift == number // count, (number, count)
