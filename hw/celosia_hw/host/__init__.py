"""The host interface: control and status registers behind AXI4-Lite."""
