"""AXI4 and AXI4-Lite, a stream per channel."""
