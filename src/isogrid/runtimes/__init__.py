"""What a device must answer."""
