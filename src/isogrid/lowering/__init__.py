"""From kernel IR to device IR: what the language means, in machine operations."""
