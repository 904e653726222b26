"""The contract of the chip: plain data from which everything else derives."""
