"""Calls of functions of the host, and the order that they keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

__all__ = ["CALLBACK", "callback", "has_effects", "ticket"]

#: The custom call that `celosia.pjrt.callbacks` writes; its configuration is the function's number.
CALLBACK = "celosia_callback"


def ticket(here: Here) -> Value:
    """Return what the next call with effects takes from the one before it, in this region.

    Operations of a graph have no order but that of their data; so it is data.
    """
    region = here.frame.region
    if region.ticket is None:
        region.ticket = here.constant(np.array(0, np.int32))
    return region.ticket


def has_effects(op: Any) -> bool:
    """Whether an operation is a call that has effects."""
    attributes = op.attributes
    return (op.name == "stablehlo.custom_call"
            and attributes["call_target_name"].value == CALLBACK
            and "has_side_effect" in attributes and attributes["has_side_effect"].value)


def callback(here: Here) -> Sequence[Value]:
    """Return the results of the custom call at hand."""
    effects = has_effects(here.op)
    after = ticket(here) if effects else here.constant(np.array(0, np.int32))
    # Where values are whole arrays, one device has the host do it; else each has.
    following, *results = here.node(
        "callback", after, *here.operands, number=int(here["backend_config"].value),
        results=tuple(here.types), device=-1 if here.whole is None else 0)
    if effects:
        here.frame.region.ticket = following
    return results


@translates("stablehlo.create_token", "stablehlo.after_all")
def _token(here: Here) -> Value:
    """Return nothing: tickets keep the order, with tokens and without."""
    return here.constant(np.zeros(here.type.shape, here.type.dtype.numpy))
