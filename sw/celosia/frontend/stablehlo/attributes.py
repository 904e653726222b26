"""Attributes of MLIR as plain Python values."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.frontend.errors import Unsupported
from celosia.graph import DType, TensorType

__all__ = ["array_of", "element_of", "ints_of", "is_small", "name_of", "tensor_type"]

_ELEMENTS = {"i1": DType.BOOL, "i8": DType.I8, "ui8": DType.U8, "i16": DType.I16,
             "ui16": DType.U16, "i32": DType.I32, "ui32": DType.U32, "i64": DType.I64,
             "ui64": DType.U64, "f16": DType.F16, "bf16": DType.BF16, "f32": DType.F32,
             "f64": DType.F64, "complex<f32>": DType.C64}
#: What the graph has integers of 8 bits for: see `celosia.frontend.stablehlo.small`.
_SMALL = {"i2": DType.I8, "i4": DType.I8} | dict.fromkeys((
    "ui2", "ui4", "f4E2M1FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ",
    "f8E5M2", "f8E5M2FNUZ"), DType.U8)
#: What orders effects; no elements stand for it.
_TOKEN = "!stablehlo.token"
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(.*)>$")


def tensor_type(type: Any) -> TensorType:
    """Return a type of MLIR.

    Raises
    ------
    Unsupported
        If it is no tensor, its shape is not fixed, or its elements have no counterpart.
    """
    text = str(type)
    if text == _TOKEN:
        return TensorType(DType.BOOL, (0,))  # as JAX hands them over
    match = _TENSOR.match(text)
    if match is None:
        raise Unsupported(f"type must be a tensor, not {text}")
    extents, element = match[1].split("x")[:-1], match[2]
    if "?" in extents:
        raise Unsupported(f"shape must be known before the program runs, not {text}")
    known = _ELEMENTS | _SMALL
    if element not in known:
        names = ", ".join(name for name, dtype in known.items() if dtype is not DType.F64)
        raise Unsupported(f"element type must be one of {names}, not {element}")
    return TensorType(known[element], tuple(map(int, extents)))


def element_of(type: Any) -> str:
    """Return what MLIR calls the elements of a tensor; "" of another type."""
    match = _TENSOR.match(str(type))
    return "" if match is None else match[2]


def is_small(type: Any) -> bool:
    """Whether the graph has integers of 8 bits for elements that are none."""
    return element_of(type) in _SMALL


def ints_of(attribute: Any) -> tuple[int, ...]:
    """Return a list of integers or bools, in whichever attribute it comes, row-major."""
    from jaxlib.mlir import ir
    if isinstance(attribute, ir.DenseElementsAttr):
        return tuple(int(value) for value in np.array(attribute).reshape(-1))
    return tuple(int(getattr(value, "value", value)) for value in attribute)


def name_of(attribute: Any) -> str:
    """Return the word in an attribute of one word: "GT" of ``#stablehlo<comparison GT>``."""
    return str(attribute).rstrip(">").split()[-1]


def array_of(attribute: Any) -> NDArray[Any]:
    """Return the value of a constant.

    Raises
    ------
    Unsupported
        If its type has no counterpart.
    """
    from jaxlib.mlir import ir
    type = tensor_type(attribute.type)
    if not isinstance(attribute, ir.DenseElementsAttr):
        raise Unsupported(f"constant must hold its elements, not {str(attribute)[:40]}")
    element = element_of(attribute.type)
    if type.dtype is DType.BF16:
        return _of_text(attribute, type, np.dtype(ml_dtypes.bfloat16))
    if element in _SMALL:
        if not element.startswith("f"):
            return _of_text(attribute, type, type.dtype.numpy)
        name = element.replace("E", "_e", 1).replace("f", "float", 1).lower()
        return _of_text(attribute, type, np.dtype(getattr(ml_dtypes, name))).view(np.uint8)
    if type.dtype is DType.BOOL and attribute.is_splat:
        # Bindings of jaxlib 0.8 hand out what lies behind the one byte.
        return np.full(type.shape, str(attribute.get_splat_value()) == "true")
    # A copy, because the attribute owns its memory.
    return np.array(attribute).astype(type.dtype.numpy).reshape(type.shape)


def _of_text(attribute: Any, type: TensorType, dtype: np.dtype) -> NDArray[Any]:
    # The bindings cannot hand out these; their text is exact: decimal, or bits in hexadecimal.
    text = attribute.get_splat_value() if attribute.is_splat else attribute
    elements = re.sub(r"\s*:[^:\"]*$", "", str(text)).removeprefix("dense<").removesuffix(">")
    if elements.startswith('"'):
        data = bytes.fromhex(elements.strip('"')[2:])
        return np.frombuffer(data, dtype).reshape(type.shape)
    words = re.findall(r"[^\[\],\s]+", elements)
    values = [_element(word, dtype) for word in words]
    if attribute.is_splat:
        values *= type.size
    return np.array(values, dtype).reshape(type.shape)


def _element(word: str, dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        return int(word)
    if word.startswith("0x"):
        return np.array(int(word, 16), f"u{dtype.itemsize}").view(dtype)[()]
    return np.float32(word).astype(dtype)
