"""OpenCL C as text; a runtime comes later."""
