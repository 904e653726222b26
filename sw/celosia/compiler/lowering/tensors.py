"""The tensors of a program, while it is being lowered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.words import WORD_MASK
from celosia.compiler.lowered import Access, Tensor, storage
from celosia.compiler.views import View
from celosia.graph import DType, TensorType

__all__ = ["Tensors", "word_of"]


def word_of(value: Any, dtype: DType) -> int:
    """Return the word that an accumulator holds for a number of some type."""
    if dtype.is_float:
        return int(np.float32(value).view(np.uint32))
    if dtype is DType.BOOL:
        return WORD_MASK if value else 0
    return int(value) & WORD_MASK


class Tensors:
    """Makes tensors, and constants once for equal contents.

    Attributes
    ----------
    made
        All of them, in order.
    constants
        The contents of some, as they lie in external memory.
    """

    def __init__(self, config: TpuConfig):
        self.config = config
        self.made: list[Tensor] = []
        self.constants: dict[Tensor, NDArray] = {}
        self._known: dict[tuple, Tensor] = {}
        self._count: dict[str, int] = {}

    def new(self, type: TensorType, name: str) -> Tensor:
        """Return a new tensor; its name becomes one of its own."""
        count = self._count[name] = self._count.get(name, 0) + 1
        tensor = Tensor(name if count == 1 else f"{name}.{count}", type.shape, type.dtype,
                        storage(self.config, type.dtype))
        self.made.append(tensor)
        return tensor

    def constant(self, array: NDArray) -> Tensor:
        """Return the tensor that holds an array."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            dtype = DType.of(array.dtype)
            tensor = self._known[key] = self.new(TensorType(dtype, array.shape), "constant")
            self.constants[tensor] = array
        return self._known[key]


def whole(tensor: Tensor) -> Access:
    """Return the access to all of a tensor in order."""
    return Access(tensor, View.contiguous(tensor.shape))
