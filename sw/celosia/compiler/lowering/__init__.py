"""From a canonical graph to work on tensors (`celosia.compiler.lowered`).

`scope.py` knows where the values of a graph are, and puts units of work in order; `clusters.py`
makes clusters of groups, `lower.py` the work of other units; afterwards `coalesce.py` leaves copies
out, and `turned.py` has products leave transposes that later ones want.
"""

from celosia.compiler.lowering.lower import Lowered, lower

__all__ = ["Lowered", "lower"]
