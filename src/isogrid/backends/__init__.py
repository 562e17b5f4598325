"""One folder per device; none imports another."""
