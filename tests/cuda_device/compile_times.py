"""What the first launch of each kernel of the gallery costs without any cache: a table, 1 if a bar is missed."""

import os
import sys

os.environ.setdefault("CUDA_CACHE_DISABLE", "1")

from benchmarks.cuda import cold, latency


def main() -> int:
    for (example, kernel), seconds in sorted(cold.first_launches().items(), key=lambda found: -found[1]):
        print(f"{1e3 * seconds:8.1f} ms  {example}: {kernel}")
    found = cold.largest()
    print(latency.line(found))
    return 0 if found.met else 1


if __name__ == "__main__":
    sys.exit(main())
