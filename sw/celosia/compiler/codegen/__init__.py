"""Instructions before they are a program: operations, their order, loops, registers.

The compiler makes code for the chip of these.
"""
