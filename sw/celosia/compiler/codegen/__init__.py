"""Instructions before they are a program: operations, their order, loops, registers.

Whatever makes code for the chip (the compiler, `celosia.ops`, `celosia.train`) makes it of these.
"""
