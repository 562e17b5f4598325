"""Make a failing kernel small: drop and lower choices as long as it still fails the same way."""

from collections.abc import Callable, Sequence


def shrink(choices: Sequence[int], fails: Callable[[list[int]], bool], budget: int = 400) -> list[int]:
    """The smallest list found that still fails, trying spans from long to short, then lower values."""
    best = list(choices)
    tries = 0

    def attempt(candidate: list[int]) -> bool:
        nonlocal best, tries
        if candidate == best or tries >= budget:
            return False
        tries += 1
        if not fails(candidate):
            return False
        best = candidate
        return True

    size = len(best) // 2
    while size and tries < budget:
        at = 0
        while at < len(best) and tries < budget:
            if not (attempt(best[:at] + best[at + size :]) or attempt(best[:at] + [0] * size + best[at + size :])):
                at += size
        size //= 2
    for at in range(len(best)):
        while at < len(best) and best[at] and tries < budget:
            if not attempt([*best[:at], best[at] // 2, *best[at + 1 :]]):
                break
    return best
