"""What is on a board beside the FPGA, and the cells inside it, as simulation models."""
