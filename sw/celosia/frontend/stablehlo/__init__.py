"""StableHLO in any of its forms as a graph.

In the order in which an import goes: reader (text or bytes to a module), importer (functions
inlined, operation by operation), translators of each group of operations, named as the groups of
celosia.graph.operations. Programs for several devices: meshes (how arrays are cut), partition
(what is done around manual computations).
"""

from celosia.frontend.stablehlo.importer import import_spmd, import_stablehlo
from celosia.frontend.stablehlo.spmd import Spmd

__all__ = ["Spmd", "import_spmd", "import_stablehlo"]
