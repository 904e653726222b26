"""StableHLO in any of its forms as a graph.

In the order in which an import goes: reader (text or bytes to a module), importer (functions
inlined, operation by operation), translators of each group of operations, named as the groups of
celosia.graph.operations. Of programs for several devices meshes says how arrays are cut.
"""

from celosia.frontend.stablehlo.importer import import_stablehlo

__all__ = ["import_stablehlo"]
