"""Random kernels on interpreter and `cuda`, spread over processes: `... [first seed] [how many]`."""

import os
import sys

from tests.properties import campaign


def main() -> int:
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    processes = min(15, os.cpu_count() or 1)
    return campaign.main(["--seeds", f"{first}:{first + count}", "--devices", "cuda", "--processes", str(processes)])


if __name__ == "__main__":
    sys.exit(main())
