"""What the host sees: registers, the state of a run, the interrupt, performance counters."""
