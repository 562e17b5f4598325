"""One side of the offload benchmark: times what it is asked for, one request a line."""

import json
import sys
from typing import Any

from .offload import timed

if __name__ == "__main__":
    kept: dict[Any, Any] = {}
    for line in sys.stdin:
        print(json.dumps(timed(json.loads(line), kept)), flush=True)
