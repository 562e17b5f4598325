"""Speed against Numba, and latencies; `isogrid bench` runs it."""
