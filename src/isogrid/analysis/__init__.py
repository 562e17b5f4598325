"""What is known of a kernel: ranges, conditions, uniformity, effects. Nothing here changes a kernel."""
