"""What a compiled variant assumes about its launch; the launcher checks it, else picks another variant."""

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """`small`: every dimension, every extent of the launch, the number of threads, the number of elements of every
    array and the magnitude of every integer scalar argument are below 2^31."""

    small: bool = True
