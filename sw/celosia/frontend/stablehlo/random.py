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
        self._splats: dict[int | float, Value] = {}

    def splat(self, value: int | float) -> Value:
        """Return words that are all one number, or f32 where it is a float."""
        if value not in self._splats:
            dtype = DType.F32 if isinstance(value, float) else DType.U32
            self._splats[value] = self.here.splat(value, TensorType(dtype, self.type.shape))
        return self._splats[value]

    def op(self, name: str, a: Value, b: Value | int | float) -> Value:
        return self.here.emit(name, a, b if isinstance(b, Value) else self.splat(b))

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

    def iota(self, dim: int) -> Value:
        return self.here.emit("iota", dtype=DType.U32, shape=self.type.shape, dim=dim)

    def number(self, word: Value) -> Value:
        """Return words below 2**31 as f32."""
        word = self.here.emit("bitcast", word, dtype=DType.I32)
        return self.here.emit("convert", word, dtype=DType.F32)

    def product(self, a: int, x: Value) -> tuple[Value, Value]:
        """Return the high and the low word of a * x.

        With halves, x = 2**16 xh + xl and a likewise, and L the low word, the high one is ah xh +
        (2**16 al xh + a xl - L) / 2**32. What is divided is a multiple of 2**32 below 2**49, so f32
        says which: it is wrong by less than 1/16, with half of the bits of L.
        """
        high, low = self.op("shift_right", x, 16), self.op("multiply", x, a)
        rest = self.op("multiply", self.number(self.op("shift_right", low, 16)), -1 / 2**16)
        rest = self.op("add", rest, 0.5)
        for part, factor in ((high, (a & 0xFFFF) / 2**16), (self.op("and", x, 0xFFFF), a / 2**32)):
            rest = self.op("add", self.op("multiply", self.number(part), factor), rest)
        rest = self.here.emit("convert", rest, dtype=DType.I32)
        rest = self.here.emit("bitcast", rest, dtype=DType.U32)
        return self.op("add", self.op("multiply", high, a >> 16), rest), low


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
    dtype = bits_type.dtype
    if not dtype.is_integer:
        raise Unsupported(f"bits must be integers, not {bits_type}")
    state = _words_of(here)
    scalars = [here.emit("slice", state, start=(i,), limit=(i + 1,), stride=(1,))
               for i in range(state.type.size)]
    count = bits_type.size * max(dtype.bits // 32, 1)
    bits = _bits(here, scalars, count)

    one = _Words(here, TensorType(DType.U32, (1,)))
    blocks = one.splat(ceil_div(count, 4))
    after = here.emit("concatenate", *scalars[:2], *one.sum(scalars[2:], blocks), dim=0)
    if state_type.dtype.is_wide:
        pairs = here.emit("reshape", after, shape=(len(scalars) // 2, 2))
        after = here.emit("bitcast", pairs, dtype=state_type.dtype)
    if dtype.bits < 32:
        bits = here.emit("convert", bits, dtype=dtype)  # the low bits of each
    elif dtype.bits == 64:
        pairs = here.emit("reshape", bits, shape=(*bits_type.shape, 2))
        return after, here.emit("bitcast", pairs, dtype=dtype)
    elif dtype is not DType.U32:
        bits = here.emit("bitcast", bits, dtype=dtype)
    return after, here.emit("reshape", bits, shape=bits_type.shape)


def _bits(here: Here, scalars: Sequence[Value], count: int) -> Value:
    """Return so many words from a state."""
    blocks = ceil_div(count, 4)
    # Block 64 t + 4 i + j is at [t, j, i]: what has word k of it at [t, 4 j + k, i] need only be
    # turned, tile by tile, for the words to be in order.
    shape = (ceil_div(blocks, 64), 4, 16) if blocks > 16 else (1, 1, blocks)
    words = _Words(here, TensorType(DType.U32, shape))
    k0, k1, *start = (here.emit("broadcast", here.emit("reshape", each, shape=()), shape=shape)
                      for each in scalars)
    if len(start) == 2:
        start += [k0, k1]
    number = words.iota(2)
    if blocks > 16:
        number = words.op("add", words.op("multiply", number, 4), words.iota(1))
        number = words.op("add", words.op("multiply", words.iota(0), 64), number)
    found = _philox(words, words.sum(start, number), (k0, k1))
    tiles, rows, lanes = shape
    whole = here.emit("concatenate", *(
        here.emit("reshape", each, shape=(tiles, rows, 1, lanes)) for each in found), dim=2)
    whole = here.emit("reshape", whole, shape=(tiles, 4 * rows, lanes))
    whole = here.emit("transpose", whole, permutation=(0, 2, 1))
    whole = here.emit("reshape", whole, shape=(math.prod(whole.shape),))
    return here.emit("slice", whole, start=(0,), limit=(count,), stride=(1,))


def _words_of(here: Here) -> Value:
    """Return the state as 32-bit words."""
    [state] = here.operands
    count = state.type.size * state.dtype.numpy.itemsize // 4
    if count not in (_SHORT, _LONG) or state.dtype.bits < 32:
        raise Unsupported(f"state must be of 16 or 24 bytes, not {state.type}")
    if state.dtype.is_wide:
        if state.node in here.importer.constants:
            [array] = here.importer.constants.values(state.node)
            return here.constant(np.ascontiguousarray(array).view(np.uint32))
        state = here.emit("bitcast", state, dtype=DType.U32)
    return here.emit("reshape", state, shape=(count,))
