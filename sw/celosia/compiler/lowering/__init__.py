"""From a canonical graph to work on tensors (`celosia.compiler.lowered`).

`scope.py` knows where the values of a graph are, and puts units of work in order; `clusters.py`
makes clusters of groups, `lower.py` the work of other units. Afterwards `coalesce.py` leaves
copies out, `turned.py` has products leave transposes that later ones want, and `order.py` puts
what is short before the longest product, and products beside long vector work.
"""

from celosia.compiler.lowering.lower import Lowered, lower

__all__ = ["Lowered", "lower"]
