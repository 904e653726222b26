"""Many elements become one, by a reducer with a name."""

from __future__ import annotations

from celosia.graph.attributes import INTS, PAIRS, Attribute, enum
from celosia.graph.operations.contract import window_extent
from celosia.graph.operations.elementwise import BITWISE
from celosia.graph.operations.shape import require_dims, require_rank
from celosia.graph.spec import OPS, Call, Trait, define, having, require, same
from celosia.graph.types import DType, TensorType

__all__ = ["ARG_REDUCERS", "REDUCERS", "require_reducible"]

#: Reducers of one value: the binary operations of the same name.
REDUCERS = tuple(sorted(having(Trait.COMMUTATIVE), key=[*OPS].index))
_OF_FLOATS = having(Trait.FLOAT)
#: Reducers of a value and its index: the greatest or least value, a NaN before any other, and of
#: equal ones that with the least index.
ARG_REDUCERS = ("argmax", "argmin")


def require_reducible(reducer: str, dtype: DType) -> None:
    """Raise `ValueError` unless a reducer takes elements of a type."""
    if reducer in BITWISE:
        require(not dtype.is_float, f"operand of reducer {reducer} must not be a float")
    elif reducer in _OF_FLOATS:
        require(dtype.is_float, f"operand of reducer {reducer} must be a float")
    else:
        require(dtype is not DType.BOOL, f"operand of reducer {reducer} must not be bool")


@define("reduce", "x initial", dims=Attribute(INTS), reducer=Attribute(enum(*REDUCERS)),
        traits=Trait.REDUCTION)
def _reduce(call: Call) -> TensorType:
    """The elements along `dims` and the scalar `initial` as one, in any order. A bf16 sum or
    product is made in fp32 and rounded once.
    """
    x, initial = call.operands
    require(initial == TensorType(x.dtype), f"initial must be {x.dtype}[], not {initial}")
    require_dims("dims", call["dims"], x.rank)
    require_reducible(call["reducer"], x.dtype)
    return TensorType(x.dtype, tuple(extent for dim, extent in enumerate(x.shape)
                                     if dim not in call["dims"]))


@define("arg_reduce", "x index initial initial_index", dims=Attribute(INTS),
        reducer=Attribute(enum(*ARG_REDUCERS)), traits=Trait.REDUCTION | Trait.ORDERING)
def _arg_reduce(call: Call) -> tuple[TensorType, TensorType]:
    """The greatest or least value along `dims` and the entry of `index` beside it; a NaN goes
    before any other, and of equal values the one with the least index.
    """
    x, index, initial, initial_index = call.operands
    same("shapes of x and index", [x.shape, index.shape])
    require(index.dtype.is_integer, f"index must be of integers, not {index}")
    require(x.dtype is not DType.BOOL, f"x must be numbers, not {x}")
    for name, scalar, of in (("initial", initial, x), ("initial_index", initial_index, index)):
        require(scalar == TensorType(of.dtype), f"{name} must be {of.dtype}[], not {scalar}")
    require_dims("dims", call["dims"], x.rank)
    shape = tuple(extent for dim, extent in enumerate(x.shape) if dim not in call["dims"])
    return TensorType(x.dtype, shape), TensorType(index.dtype, shape)


@define("reduce_window", "x initial", reducer=Attribute(enum(*REDUCERS)), window=Attribute(INTS),
        stride=Attribute(INTS), padding=Attribute(PAIRS), x_dilation=Attribute(INTS),
        window_dilation=Attribute(INTS), traits=Trait.REDUCTION)
def _reduce_window(call: Call) -> TensorType:
    """Each window of x, padded and dilated with `initial`, as one, in any order (as `reduce`)."""
    x, initial = call.operands
    require(initial == TensorType(x.dtype), f"initial must be {x.dtype}[], not {initial}")
    require_reducible(call["reducer"], x.dtype)
    require_rank(call, x.rank, "window", "stride", "padding", "x_dilation", "window_dilation")
    for name in ("window", "stride", "x_dilation", "window_dilation"):
        require(all(value > 0 for value in call[name]),
                f"{name} must be positive, not {list(call[name])}")
    return TensorType(x.dtype, tuple(map(
        window_extent, x.shape, call["padding"], call["x_dilation"], call["window"],
        call["window_dilation"], call["stride"])))


@define("select_and_scatter", "x updates initial", select=Attribute(enum("ge", "le")),
        scatter=Attribute(enum(*REDUCERS), "add"), window=Attribute(INTS),
        stride=Attribute(INTS), padding=Attribute(PAIRS),
        traits=Trait.MOVEMENT | Trait.DYNAMIC | Trait.ORDERING)
def _select_and_scatter(call: Call) -> TensorType:
    """`initial` everywhere, and each update scattered to the element that `select` picks in its
    window of x: the first greatest (ge) or least (le), after a NaN whatever comes next.
    """
    x, updates, initial = call.operands
    require(initial == TensorType(x.dtype), f"initial must be {x.dtype}[], not {initial}")
    require_reducible(call["scatter"], x.dtype)
    require_rank(call, x.rank, "window", "stride", "padding")
    for name in ("window", "stride"):
        require(all(value > 0 for value in call[name]),
                f"{name} must be positive, not {list(call[name])}")
    ones = (1,) * x.rank
    wanted = TensorType(x.dtype, tuple(map(window_extent, x.shape, call["padding"], ones,
                                           call["window"], ones, call["stride"])))
    require(updates == wanted, f"updates must be {wanted}, not {updates}")
    return x
