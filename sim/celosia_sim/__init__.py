"""The chip as a simulation: Verilated models, memory, cocotb."""
