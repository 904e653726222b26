"""The vector unit: D lanes of 32 bits, a row a cycle."""
