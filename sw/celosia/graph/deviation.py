"""How far results of operations are from those in float64: by themselves, and by inheritance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from celosia.graph.build import parameter
from celosia.graph.interpreter import evaluate, interpret
from celosia.graph.interpreter.kernels import HostArray
from celosia.graph.node import Graph, Node, Value
from celosia.graph.spec import Trait, having
from celosia.graph.types import DType
from celosia.graph.wide import widened

__all__ = ["Deviation", "deviations"]

#: Operations whose results are their operands' elements, or known before the run.
_EXACT = having(Trait.LEAF) | having(Trait.VIEW) | (having(Trait.MOVEMENT) - having(Trait.ORDERING))
_REFUSED = having(Trait.CALL) | having(Trait.COLLECTIVE)


@dataclass(frozen=True)
class Deviation:
    """What one operation of a run is off, of its floats.

    Each is the largest difference of an element, as a part of the largest element that float64
    gives.

    Attributes
    ----------
    node
        The operation.
    own
        From the operation in float64 on the operands that it had.
    inherited
        Of that operation, between the operands that it had and those of a run in float64.
    total
        Of the result, from a run in float64.
    ulps
        `own` in units in the last place of the result's type, of each element.
    is_result
        Whether elements of it are results of the graph.
    is_finite
        Whether all elements that float64 gives are.
    """

    node: Node
    own: float
    inherited: float
    total: float
    ulps: float
    is_result: bool
    is_finite: bool


def deviations(graph: Graph, inputs: Sequence[Any],
               run: Callable[[Graph, Sequence[Any]], Sequence[Any]]) -> list[Deviation]:
    """Return what each operation that computes floats is off, in the order of the graph.

    What a loop or a branch does is one operation.

    Parameters
    ----------
    graph, inputs
        As of `celosia.graph.interpret`, whose errors are raised.
    run
        Returns the results of a graph for the inputs: what is looked at. It is called once, with
        the graph of which all that is computed is a result.

    Raises
    ------
    ValueError
        If the graph calls functions of the host, or other devices.
    """
    for node in graph.walk():
        if node.op in _REFUSED:
            raise ValueError(f"{node.source}: a program that is compared with float64 must not "
                             f"call functions of the host or other devices, as {node.op} does")
    shown = [node for node in graph.nodes if node.op not in _EXACT]
    wanted = [value for node in shown for value in node.results]
    arrays = [np.asarray(array) for array in inputs]
    exact = interpret(widened(graph, wanted), [_widely(array) for array in arrays])
    should = dict(zip(wanted, exact[len(graph.outputs):], strict=True))
    found = dict(zip(graph.params, arrays, strict=True))
    found.update(zip(wanted, run(graph.with_(graph.params, wanted), arrays), strict=True))
    deviated, results = [], _results(graph)
    for node in graph.nodes:
        if node.op == "parameter":
            continue
        operands = [found[value] for value in node.operands]
        if node.op in _EXACT:
            found.update(zip(node.results, evaluate(node, operands), strict=True))
        elif (deviation := _deviation(
                node, operands, found, should, node in results)) is not None:
            deviated.append(deviation)
    return deviated


def _deviation(node: Node, operands: Sequence[HostArray], found: dict[Value, HostArray],
               should: dict[Value, HostArray], is_result: bool) -> Deviation | None:
    floats = [i for i, type in enumerate(node.types) if type.dtype.is_float and type.size]
    if not floats:
        return None
    params = [parameter(value.type) for value in node.operands]
    alone = Graph(node.op, params, Node(node.op, params, node.attrs, node.regions).results)
    results = interpret(widened(alone), [_widely(each) for each in operands])
    own = inherited = total = ulps = 0.0
    is_finite = True
    for i in floats:
        value = node.results[i]
        has, itself, wants = _widely(found[value]), results[i], should[value]
        scale = float(np.max(np.abs(wants), initial=float(ml_dtypes.finfo(
            value.dtype.numpy).tiny), where=np.isfinite(wants)))
        is_finite &= bool(np.isfinite(wants).all())
        apart = _apart(has, itself)
        own = max(own, float(apart.max()) / scale)
        inherited = max(inherited, float(_apart(itself, wants).max()) / scale)
        total = max(total, float(_apart(has, wants).max()) / scale)
        ulps = max(ulps, float((apart / _ulp(itself, value.dtype)).max()))
    return Deviation(node, own, inherited, total, ulps, is_result, is_finite)


def _results(graph: Graph) -> set[Node]:
    """Return the operations whose elements are results."""
    found: set[Node] = set()
    nodes = [value.node for value in graph.outputs]
    while nodes:
        node = nodes.pop()
        if node not in found:
            found.add(node)
            nodes += [value.node for value in node.operands] if node.op in _EXACT else []
    return found


def _widely(array: HostArray) -> HostArray:
    return array.astype(np.float64) if DType.of(array.dtype).is_float else array


def _apart(a: HostArray, b: HostArray) -> HostArray:
    """Return the distances of elements: none where both are the same infinity, or no number."""
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        return np.where(same, 0.0, np.nan_to_num(np.abs(a - b), nan=np.inf, posinf=np.inf))


def _ulp(array: HostArray, dtype: DType) -> HostArray:
    info = ml_dtypes.finfo(dtype.numpy)
    size = np.maximum(np.nan_to_num(np.abs(array), nan=1.0, posinf=1.0), float(info.tiny))
    return np.exp2(np.floor(np.log2(size))) * float(info.eps)
