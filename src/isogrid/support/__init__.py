"""Small tools without a subject of their own."""

import time
from typing import Final

#: When this process began to read the package, give or take the first few modules: nanoseconds since 1970.
BEGAN: Final = time.time_ns()
