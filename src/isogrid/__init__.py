"""isogrid: portable GPU kernels in typed Python."""
