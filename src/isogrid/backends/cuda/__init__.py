"""The `cuda` device: NVIDIA GPUs through their driver alone."""
