"""Operations that run other graphs."""

from __future__ import annotations

from celosia.graph.attributes import INT, Attribute
from celosia.graph.operations.shape import require_dims
from celosia.graph.spec import Call, Signature, Trait, define, require, same
from celosia.graph.types import DType, TensorType

__all__: list[str] = []


def _list(types: tuple[TensorType, ...]) -> str:
    return f"({', '.join(map(str, types))})"


def _region(name: str, found: Signature, params: tuple[TensorType, ...],
            results: tuple[TensorType, ...]) -> None:
    require(found.params == params,
            f"region {name} must take {_list(params)}, not {_list(found.params)}")
    require(found.results == results,
            f"region {name} must return {_list(results)}, not {_list(found.results)}")


@define("while", "values...", "cond body", traits=Trait.CONTROL)
def _while(call: Call) -> tuple[TensorType, ...]:
    """As long as cond(values) holds, values = body(values); returns them. A value that the body
    returns as it came is an invariant of the loop.
    """
    cond, body = call.regions
    _region("cond", cond, call.operands, (TensorType(DType.BOOL),))
    _region("body", body, call.operands, call.operands)
    return call.operands


@define("case", "index values...", "branch branch...", traits=Trait.CONTROL)
def _case(call: Call) -> tuple[TensorType, ...]:
    """`branch[index](values)`; the last branch where there is none of that index."""
    index, values = call.operands[0], call.operands[1:]
    require(index == TensorType(DType.I32), f"index must be i32[], not {index}")
    results = call.regions[0].results
    for i, branch in enumerate(call.regions):
        _region(f"branch {i}", branch, values, results)
    return results


@define("sort_by", "x xs...", "less", dim=Attribute(INT), traits=Trait.CONTROL | Trait.DYNAMIC)
def _sort_by(call: Call) -> tuple[TensorType, ...]:
    """The operands reordered together along `dim`: less(elements of one place, of another) says
    whether the first come before. Elements of which it says so in neither order stay in order.
    Of a `less` that is no order the result is a permutation, always the same one.
    """
    same("shapes", [x.shape for x in call.operands])
    require_dims("dim", [call["dim"]], call.operands[0].rank)
    scalars = tuple(TensorType(x.dtype) for x in call.operands)
    _region("less", call.regions[0], scalars * 2, (TensorType(DType.BOOL),))
    return call.operands


@define("barrier", "values...", traits=Trait.VIEW | Trait.IN_ORDER | Trait.UNCHANGED)
def _barrier(call: Call) -> tuple[TensorType, ...]:
    """The values as they came; passes must not see through it: it keeps rematerialised
    computations from being merged with the first ones.
    """
    return call.operands
