"""From a canonical graph to work on tensors (`celosia.compiler.lowered`).

`scope.py` knows where the values of a graph are, and puts units of work in order; `clusters.py`
makes clusters of groups, `moves.py` and `control.py` the other units; `coalesce.py` leaves copies
out afterwards.
"""

from celosia.compiler.lowering.lower import Lowered, lower

__all__ = ["Lowered", "lower"]
