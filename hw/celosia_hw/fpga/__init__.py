"""From a board's Verilog to its bitstream, with open tools, and what is said about it."""
