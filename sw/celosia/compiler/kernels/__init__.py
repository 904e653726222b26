"""Mathematical functions as vector code.

A function is written once, on terms (`celosia.compiler.kernels.terms`), and noted in a table
(`celosia.compiler.kernels.table`); the compiler writes its instructions where an operation of a
graph is (`celosia.compiler.selection`).
"""
