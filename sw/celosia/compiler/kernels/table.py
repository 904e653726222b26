"""Which function on tiles an elementwise operation of `celosia.graph` is."""

from __future__ import annotations

from collections.abc import Callable

from celosia.compiler.kernels.terms import Term

__all__ = ["FUNCTIONS", "Function", "computes"]

Function = Callable[..., Term]
#: By operation. The modules that have functions fill it.
FUNCTIONS: dict[str, Function] = {}


def computes(op: str) -> Callable[[Function], Function]:
    """Enter the decorated function as what computes an operation on fp32."""
    def enter(function: Function) -> Function:
        assert op not in FUNCTIONS, op
        FUNCTIONS[op] = function
        return function

    return enter
