"""Verilog of the chip and of systems, and the folder that is delivered with it."""
