"""rng_bit_generator as arithmetic: Philox4x32-10 (Salmon et al., SC 2011), in XLA's layout.

The state is two words of key, then two of a counter, or four. Block i of four words of bits has
the counter + i, of 128 bits with the low word first; one of two words has the key above them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from celosia.arch.words import ceil_div
from celosia.frontend.errors import Unsupported
from celosia.frontend.narrow import product
from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, TensorType, Value

__all__ = []

_ROUNDS = 10
#: Words of the state.
_SHORT, _LONG = 4, 6
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


class _Words:
    """Arithmetic on 32-bit words of one shape."""

    def __init__(self, here: Here, type: TensorType):
        self.here, self.type = here, type
        self._splats: dict[int, Value] = {}

    def splat(self, value: int) -> Value:
        if value not in self._splats:
            self._splats[value] = self.here.splat(value, self.type)
        return self._splats[value]

    def op(self, name: str, a: Value, b: Value | int) -> Value:
        return self.here.emit(name, a, self.splat(b) if isinstance(b, int) else b)

    def sum(self, number: Sequence[Value], more: Value) -> list[Value]:
        """Return the sum of a number of several words, low ones first, and one word."""
        total = []
        for word in number:
            total.append(self.op("add", word, more))
            more = self.carry(total[-1], word)
        return total

    def carry(self, total: Value, part: Value) -> Value:
        """Return 1 where the sum ``total``, of ``part`` and another, went over 32 bits."""
        over = self.here.emit("compare", total, part, direction="lt")
        return self.here.emit("convert", over, dtype=DType.U32)

    def product(self, a: int, x: Value) -> tuple[Value, Value]:
        """Return the high and the low word of a * x."""
        return product(self.here.emit, x, self.splat(a))


def _philox(words: _Words, counter: Sequence[Value], key: Sequence[Value]) -> list[Value]:
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        high0, low0 = words.product(_MULTIPLIERS[0], x0)
        high1, low1 = words.product(_MULTIPLIERS[1], x2)
        x0, x1 = words.op("xor", words.op("xor", high1, x1), k0), low1
        x2, x3 = words.op("xor", words.op("xor", high0, x3), k1), low0
        k0, k1 = words.op("add", k0, _KEY_STEPS[0]), words.op("add", k1, _KEY_STEPS[1])
    return [x0, x1, x2, x3]


@translates("stablehlo.rng_bit_generator")
def _rng_bit_generator(here: Here) -> Sequence[Value]:
    algorithm = name_of(here["rng_algorithm"])
    if algorithm not in ("DEFAULT", "PHILOX"):
        raise Unsupported(f"algorithm must be DEFAULT or PHILOX, not {algorithm}")
    state_type, bits_type = here.types
    if bits_type.dtype not in (DType.U32, DType.U16):
        raise Unsupported(f"bits must be ui32 or ui16, not {bits_type}")
    state = _words_of(here)
    blocks = ceil_div(bits_type.size, 4)
    words = _Words(here, TensorType(DType.U32, (blocks,)))
    count = state.type.size
    scalars = [here.emit("slice", state, start=(i,), limit=(i + 1,), stride=(1,))
               for i in range(count)]
    k0, k1, *start = (here.emit("broadcast", here.emit("reshape", each, shape=()),
                                shape=(blocks,)) for each in scalars)
    if count == _SHORT:
        start += [k0, k1]
    counter = words.sum(start, here.emit("iota", dtype=DType.U32, shape=(blocks,)))
    found = _philox(words, counter, (k0, k1))
    columns = [here.emit("reshape", each, shape=(blocks, 1)) for each in found]
    line = here.emit("reshape", here.emit("concatenate", *columns, dim=1), shape=(4 * blocks,))
    line = here.emit("slice", line, start=(0,), limit=(math.prod(bits_type.shape),), stride=(1,))

    one = _Words(here, TensorType(DType.U32, (1,)))
    after = here.emit("concatenate", *scalars[:2], *one.sum(scalars[2:], one.splat(blocks)), dim=0)
    if state_type.dtype.is_wide:
        pairs = here.emit("reshape", after, shape=(count // 2, 2))
        after = here.emit("bitcast", pairs, dtype=state_type.dtype)
    if bits_type.dtype is DType.U16:
        line = here.emit("convert", line, dtype=DType.U16)  # the low bits of each
    return after, here.emit("reshape", line, shape=bits_type.shape)


def _words_of(here: Here) -> Value:
    """Return the state as 32-bit words; where it is 64-bit, from before it became so."""
    [state] = here.operands
    count = state.type.size * state.dtype.numpy.itemsize // 4
    if count not in (_SHORT, _LONG) or state.dtype.bits < 32:
        raise Unsupported(f"state must be of 16 or 24 bytes, not {state.type}")
    if state.dtype.is_wide:
        if state.node in here.importer.constants:
            [array] = here.importer.constants.values(state.node)
            return here.constant(np.ascontiguousarray(array).view(np.uint32))
        if here.importer.narrows:
            state = here.emit("bitcast", state, dtype=DType.U32)
        else:
            # Nothing but a bitcast makes 64-bit elements that are not constant.
            [state] = state.node.operands
    return here.emit("reshape", state, shape=(count,))
