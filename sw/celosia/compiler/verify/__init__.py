"""IR verifiers: what every level below the graph must be, as rules that run between its passes.

The graph has `celosia.graph.check`. What a rule finds is a bug of the compiler, not of a program:
they run where the environment has CELOSIA_CHECK=1, as in the tests of the compiler, and cost
nothing elsewhere.

============== =================================================================
`works`        `celosia.compiler.lowered`: after lowering and each of its passes
`homes`        the same, when every tensor has a place
`code`         the vector IR of a cluster: after selection
`blocks`       operations with rows and addresses: after emission
`nodes`        operations and loops: that they do what the blocks did
`instructions` the program
============== =================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from celosia.compiler.errors import IllFormed

__all__ = ["enabled", "refuse"]


def enabled() -> bool:
    """Whether the environment asks for checks between passes."""
    return os.environ.get("CELOSIA_CHECK", "") not in ("", "0")


def refuse(level: str, problems: Iterable[str]) -> None:
    """Raise `IllFormed` if there are problems, each of them a line."""
    found = list(dict.fromkeys(problems))
    if found:
        raise IllFormed("\n  ".join((f"{level} is not well formed:", *found)))
