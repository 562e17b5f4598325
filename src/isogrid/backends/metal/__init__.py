"""Metal as text; a runtime comes later."""
