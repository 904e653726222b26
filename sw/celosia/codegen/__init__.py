"""Instructions before they are a program: operations, their order, loops, registers.

Whatever makes code for the chip (`celosia.compiler`, `celosia.ops`, `celosia.kernels`,
`celosia.train`) makes it of these.
"""
