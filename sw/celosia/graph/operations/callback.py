"""Functions of the host that a program calls."""

from __future__ import annotations

from typing import Any

from celosia.graph.attributes import INT, Attribute, AttributeKind
from celosia.graph.spec import Call, Trait, define, having, require
from celosia.graph.types import DType, TensorType

__all__ = ["CALLS", "TICKET"]

#: What a call takes and gives for the order of calls.
TICKET = TensorType(DType.I32)


def _types(value: Any) -> tuple[TensorType, ...]:
    if isinstance(value, str):
        value = map(TensorType.parse, value.split())
    types = tuple(value)
    if not all(isinstance(type, TensorType) for type in types):
        raise TypeError
    return types


TYPES = AttributeKind("types between spaces", "string", _types,
                      lambda value: '"' + " ".join(map(str, value)) + '"')


@define("callback", "after values...", number=Attribute(INT), results=Attribute(TYPES, ()),
        device=Attribute(INT, -1), traits=Trait.CALL)
def _callback(call: Call) -> tuple[TensorType, ...]:
    """Calls the function of the host of that `number` (`celosia.graph.calls`) with the values;
    returns `after`, and what the function returns. A call that is given another one's first result
    comes after it. With a `device` that one alone calls, and the others have zeros.
    """
    require(call.operands[0] == TICKET, f"after must be {TICKET}, not {call.operands[0]}")
    require(call["number"] >= 0, f"number must not be negative, not {call['number']}")
    return (TICKET, *call["results"])


#: What the host does because the program says so.
CALLS = having(Trait.CALL)
