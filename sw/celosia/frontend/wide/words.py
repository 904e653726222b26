"""Arithmetic on integers of 64 bits that are a low and a high word each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.arch.words import WORD_MASK
from celosia.frontend.stablehlo.loops import repeat
from celosia.graph import DType, TensorType, Value, splat
from celosia.graph.build import NodeMaker

__all__ = ["Arithmetic", "Unfit", "Wide", "joined", "parted"]

_BITS = 64


class Unfit(Exception):
    """The message says what cannot be without 64-bit elements."""


@dataclass(frozen=True)
class Wide:
    """The low and the high word of numbers, U32 of their shape."""

    low: Value
    high: Value
    signed: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        return self.low.shape

    @property
    def dtype(self) -> DType:
        """What they stand for."""
        return DType.I64 if self.signed else DType.U64


def parted(value: Value) -> Wide:
    """Return the words of a value that the graph has as 64-bit numbers."""
    a = Arithmetic(value.node.source)
    return a.of_pairs(a("bitcast", value, dtype=DType.U32), value.dtype.is_signed)


def joined(x: Wide) -> Value:
    """Return numbers as the graph has what programs give."""
    a = Arithmetic(x.low.node.source)
    return a("bitcast", a.pairs(x), dtype=x.dtype)


class Arithmetic(NodeMaker):
    """Arithmetic on words and on pairs of them, at one place."""

    # Words

    def compare(self, direction: str, a: Value, b: Value | int) -> Value:
        """Return where a is so to b."""
        return self("compare", a, b, direction=direction)

    def bits(self, x: Value) -> Value:
        """Return 32-bit words as U32."""
        return x if x.dtype is DType.U32 else self("bitcast", x, dtype=DType.U32)

    def signed(self, x: Value) -> Value:
        """Return 32-bit words as I32."""
        return x if x.dtype is DType.I32 else self("bitcast", x, dtype=DType.I32)

    def flag(self, condition: Value) -> Value:
        """Return 1 where a condition holds, else 0."""
        return self("convert", condition, dtype=DType.U32)

    # Numbers

    def number(self, value: int, shape: Sequence[int], signed: bool) -> Wide:
        """Return one number everywhere."""
        word = TensorType(DType.U32, tuple(shape))
        low, high = (splat(value >> at & WORD_MASK, word, self.source) for at in (0, 32))
        return Wide(low, high, signed)

    def like(self, value: int, x: Wide) -> Wide:
        """Return one number in the type of others."""
        return self.number(value, x.shape, x.signed)

    def of_pairs(self, pairs: Value, signed: bool) -> Wide:
        """Return the numbers whose words, U32, lie along the last dimension."""
        *outer, _ = pairs.shape
        zeros, ones = (0,) * len(outer), (1,) * len(pairs.shape)
        return Wide(*(self("reshape", self("slice", pairs, start=(*zeros, i), limit=(*outer, i + 1),
                                           stride=ones), shape=tuple(outer)) for i in (0, 1)),
                    signed=signed)

    def pairs(self, x: Wide) -> Value:
        """Return U32 with one more dimension, that of the two words."""
        words = (self("reshape" if x.shape else "broadcast", word, shape=(*x.shape, 1))
                 for word in (x.low, x.high))
        return self("concatenate", *words, dim=len(x.shape))

    def each(self, name: str, *xs: Wide, **attrs: Any) -> Wide:
        """Return what an operation makes of the low words, and of the high ones."""
        return Wide(self(name, *(x.low for x in xs), **attrs),
                    self(name, *(x.high for x in xs), **attrs), xs[0].signed)

    def broadcast(self, x: Wide, shape: Sequence[int], dims: Sequence[int] = ()) -> Wide:
        """Return numbers with their dimensions at ``dims`` of a shape."""
        if x.shape == tuple(shape):
            return x
        return self.each("broadcast", x, shape=tuple(shape), dims=tuple(dims))

    def choose(self, condition: Value, a: Wide, b: Wide) -> Wide:
        """Return a where a condition holds, else b."""
        return Wide(self("select", condition, a.low, b.low),
                    self("select", condition, a.high, b.high), a.signed)

    def extended(self, x: Value, signed: bool) -> Wide:
        """Return integers or bools of 32 bits or fewer."""
        if x.dtype.is_signed:
            word = x if x.dtype is DType.I32 else self("convert", x, dtype=DType.I32)
            sign = self("shift_right_signed", word, 31)
            return Wide(self.bits(word), self.bits(sign), signed)
        low = x if x.dtype is DType.U32 else self("convert", x, dtype=DType.U32)
        return Wide(low, self.full(0, low.type), signed)

    def clipped(self, x: Wide) -> Value:
        """Return I32: the nearest numbers that there are."""
        low, high = self.signed(x.low), self.signed(x.high)
        sign = self("shift_right_signed", high, 31)
        if not x.signed:
            fits = self("and", self.compare("eq", high, 0), self.compare("ge", low, 0))
            return self("select", fits, low, self.full(2**31 - 1, low.type))
        fits = self.compare("eq", high, self("shift_right_signed", low, 31))
        return self("select", fits, low, self("xor", sign, 2**31 - 1))

    def negative(self, x: Wide) -> Value:
        """Return where numbers are below 0."""
        return self.compare("lt", self.signed(x.high), 0)

    def add(self, a: Wide, b: Wide) -> Wide:
        """Return a + b."""
        low = self("add", a.low, b.low)
        carry = self.flag(self.compare("lt", low, b.low))
        return Wide(low, self("add", self("add", a.high, b.high), carry), a.signed)

    def subtract(self, a: Wide, b: Wide) -> Wide:
        """Return a - b."""
        borrow = self.flag(self.compare("lt", a.low, b.low))
        high = self("subtract", self("subtract", a.high, b.high), borrow)
        return Wide(self("subtract", a.low, b.low), high, a.signed)

    def negate(self, x: Wide) -> Wide:
        """Return -x."""
        return self.subtract(self.like(0, x), x)

    def size(self, x: Wide) -> Wide:
        """Return magnitudes, unsigned."""
        found = self.choose(self.negative(x), self.negate(x), x) if x.signed else x
        return Wide(found.low, found.high, False)

    def multiply(self, a: Wide, b: Wide) -> Wide:
        """Return a * b."""
        high, low = self._product(a.low, b.low)
        for x, y in ((a.low, b.high), (a.high, b.low)):
            high = self("add", high, self("multiply", x, y))
        return Wide(low, high, a.signed)

    def _product(self, a: Value, b: Value) -> tuple[Value, Value]:
        """Return the high and the low word of the products of words."""
        (al, ah), (bl, bh) = ((self("and", x, 0xFFFF), self("shift_right", x, 16)) for x in (a, b))
        lows, middle, other, highs = (self("multiply", x, y)
                                      for x, y in ((al, bl), (ah, bl), (al, bh), (ah, bh)))
        # None of these sums needs more than 32 bits.
        middle = self("add", middle, self("shift_right", lows, 16))
        other = self("add", other, self("and", middle, 0xFFFF))
        for part in (middle, other):
            highs = self("add", highs, self("shift_right", part, 16))
        return highs, self("multiply", a, b)

    def shifted(self, name: str, x: Wide, amount: int) -> Wide:
        """Return numbers shifted by a constant."""
        sign = self.bits(self("shift_right_signed", self.signed(x.high), 31))
        empty = sign if name == "shift_right_signed" else self.full(0, x.low.type)
        if amount == 0:
            return x
        if amount >= _BITS:
            return Wide(empty, empty, x.signed)
        # The word that bits come from, and the one they go to.
        near, far = (x.low, x.high) if name == "shift_left" else (x.high, x.low)
        if amount >= 32:
            first, second = empty, self._word(name, near, amount - 32)
        else:
            back, on = (("shift_right", "shift_left") if name == "shift_left"
                        else ("shift_left", "shift_right"))
            first = self._word(name, near, amount)
            second = self("or", self(on, far, amount), self(back, near, 32 - amount))
        low, high = (first, second) if name == "shift_left" else (second, first)
        return Wide(low, high, x.signed)

    def _word(self, name: str, word: Value, amount: Value | int) -> Value:
        if name == "shift_right_signed":
            amount = amount if isinstance(amount, int) else self.signed(amount)
            return self.bits(self(name, self.signed(word), amount))
        return self(name, word, amount)

    def shift(self, name: str, x: Wide, amount: Wide) -> Wide:
        """Return numbers shifted by amounts."""
        over = self("or", self.compare("ne", amount.high, 0), self.compare("ge", amount.low, _BITS))
        count = amount.low
        # A word that is shifted by 32 or more, or by less than nothing, is 0.
        rest = self("subtract", self.full(32, count.type), count)
        beyond = self("subtract", count, 32)
        left = name == "shift_left"
        near, far = (x.low, x.high) if left else (x.high, x.low)
        back, on = ("shift_right", "shift_left") if left else ("shift_left", "shift_right")
        first = self._word(name, near, count)
        second = self("or", self(on, far, count), self(back, near, rest))
        second = self("select", self.compare("lt", count, 32), second,
                      self._word(name, near, beyond))
        empty = (self.bits(self("shift_right_signed", self.signed(x.high), 31))
                 if name == "shift_right_signed" else self.full(0, count.type))
        first, second = (self("select", over, empty, each) for each in (first, second))
        low, high = (first, second) if left else (second, first)
        return Wide(low, high, x.signed)

    def ordered(self, x: Wide) -> Value:
        """Return the high words in a type that orders them as the numbers are."""
        return self.signed(x.high) if x.signed else x.high

    def compared(self, direction: str, a: Wide, b: Wide) -> Value:
        """Return where numbers are so to others."""
        if direction in ("eq", "ne"):
            return self("and" if direction == "eq" else "or",
                        self.compare(direction, a.low, b.low),
                        self.compare(direction, a.high, b.high))
        return self("or", self.compare(direction[0] + "t", self.ordered(a), self.ordered(b)),
                    self("and", self.compare("eq", a.high, b.high),
                         self.compare(direction, a.low, b.low)))

    def extreme(self, name: str, a: Wide, b: Wide) -> Wide:
        """Return the maximum or the minimum."""
        return self.choose(self.compared("gt" if name == "maximum" else "lt", a, b), a, b)

    # By steps

    def divided(self, a: Wide, b: Wide) -> tuple[Wide, Wide]:
        """Return quotients toward zero and remainders, bit by bit."""
        n, d = self.size(a), self.size(b)
        zero = self.like(0, n)

        def turn(number: Value, *state: Value) -> list[Value]:
            rest, quotient, d = (Wide(*state[i:i + 2], signed=False) for i in (0, 2, 4))
            over = self.negative(rest)  # a bit that goes out to the left
            rest = self.shifted("shift_left", rest, 1)
            rest = Wide(self("or", rest.low, self("shift_right", quotient.high, 31)), rest.high,
                        False)
            quotient = self.shifted("shift_left", quotient, 1)
            fits = self("or", over, self.compared("ge", rest, d))
            rest = self.choose(fits, self.subtract(rest, d), rest)
            quotient = Wide(self("or", quotient.low, self.flag(fits)), quotient.high, False)
            return [word for each in (rest, quotient, d) for word in (each.low, each.high)]

        state = [word for each in (zero, n, d) for word in (each.low, each.high)]
        found = repeat(self.source, _BITS, turn, *state)
        rest, quotient = (Wide(*found[i:i + 2], signed=a.signed) for i in (0, 2))
        if not a.signed:
            return quotient, rest
        below = self.negative(a)
        differ = self("xor", below, self.negative(b))
        quotient = self.choose(differ, self.negate(quotient), quotient)
        # By 0 all bits are set, whatever the sign.
        quotient = self.choose(self.compared("eq", b, self.like(0, b)), self.like(-1, quotient),
                               quotient)
        return quotient, self.choose(below, self.negate(rest), rest)

    def power(self, x: Wide, count: Wide, bits: int = _BITS) -> Wide:
        """Return powers; ``bits`` of what they are raised to are looked at."""
        one = self.like(1, x)

        def turn(number: Value, *state: Value) -> list[Value]:
            found, base, left = (Wide(*state[i:i + 2], signed=x.signed) for i in (0, 2, 4))
            odd = self.compare("ne", self("and", left.low, 1), 0)
            found = self.choose(odd, self.multiply(found, base), found)
            base, left = self.multiply(base, base), self.shifted("shift_right", left, 1)
            return [word for each in (found, base, left) for word in (each.low, each.high)]

        state = [word for each in (one, x, count) for word in (each.low, each.high)]
        return Wide(*repeat(self.source, bits, turn, *state)[:2], signed=x.signed)

    def summed(self, x: Wide, count: int, add: Callable[[Value], Value]) -> Wide:
        """Return sums of up to ``count`` numbers each, by sums of digits that stay below 2**32.

        ``add`` makes the sums of U32.
        """
        bits = next((bits for bits in (16, 8, 4, 2, 1) if count << bits <= 1 << 32), None)
        if bits is None:
            raise Unfit(f"sums of 64-bit elements must be of at most 2**31, not {count}")
        total: Wide | None = None
        for at in range(0, _BITS, bits):
            word = x.low if at < 32 else x.high
            digit = self("shift_right", word, at % 32) if at % 32 else word
            part = self.extended(add(self("and", digit, (1 << bits) - 1)), x.signed)
            part = self.shifted("shift_left", part, at)
            total = part if total is None else self.add(total, part)
        assert total is not None
        return total
