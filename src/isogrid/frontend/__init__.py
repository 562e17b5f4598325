"""From a decorated function to kernel IR, or to a refusal."""
