"""The device `cpu`: device IR to LLVM IR to native code, run on all cores."""
