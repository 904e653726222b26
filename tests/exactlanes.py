"""What a lane of the vector unit computes, one word at a time, in exact arithmetic."""

import math
import operator
from collections.abc import Callable

import exactfloat as xf
import exactspecial as xs
from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op

WORD = 0xFFFFFFFF


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def clip(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def tree(join: Callable[[int, int], int], words: list[int]) -> int:
    if len(words) == 1:
        return words[0]
    half = len(words) // 2
    return join(tree(join, words[:half]), tree(join, words[half:]))


def signed_pair(choose: Callable[..., int]) -> Callable[[int, int], int]:
    return lambda a, b: choose(a, b, key=signed)


JOINS = [lambda a, b: a + b & WORD, signed_pair(max), signed_pair(min), operator.and_,
         operator.or_, xf.add, xf.maximum, xf.minimum]
COMPARES = {
    Op.IEQ: operator.eq, Op.INE: operator.ne, Op.ILT: operator.lt, Op.ILE: operator.le,
    Op.IGT: operator.gt, Op.IGE: operator.ge, Op.FEQ: operator.eq, Op.FLT: operator.lt,
    Op.FLE: operator.le, Op.FGT: operator.gt, Op.FGE: operator.ge}


def first(op: int, v: list[int], param: int) -> int:
    s = [signed(value) for value in v]
    if op in COMPARES:
        x, y = s
        if op >= Op.FEQ:
            order = xf.compare(*v)
            if order is None:
                return 0
            x, y = order, 0
        return WORD if COMPARES[Op(op)](x, y) else 0
    match op:
        case Op.MOV | Op.TRANSPOSE | Op.ROTATE | Op.GATHER | Op.SCATTER:
            return v[0]
        case Op.IADD:
            return v[0] + v[1] & WORD
        case Op.ISUB:
            return v[0] - v[1] & WORD
        case Op.IMUL:
            return v[0] * v[1] & WORD
        case Op.IMAX:
            return max(s[0], s[1]) & WORD
        case Op.IMIN:
            return min(s[0], s[1]) & WORD
        case Op.REQUANT:
            shift = v[1] >> 16 & 63
            half = 1 << shift >> 1
            scaled = signed(s[0] + s[2]) * (v[1] & 0xFFFF) + half >> shift
            zp, lo, hi = (signed(param >> at, 8) for at in (0, 8, 16))
            return min(max(scaled + zp, lo), hi) & WORD
        case Op.AND:
            return v[0] & v[1]
        case Op.OR:
            return v[0] | v[1]
        case Op.XOR:
            return v[0] ^ v[1]
        case Op.NOT:
            return WORD - v[0]
        case Op.SHL:
            return v[0] << v[1] % 32 & WORD
        case Op.SHR:
            return v[0] >> v[1] % 32
        case Op.SAR:
            return s[0] >> v[1] % 32 & WORD
        case Op.SELECT:
            return v[1] if v[0] else v[2]
        case Op.FADD:
            return xf.add(v[0], v[1])
        case Op.FSUB:
            return xf.add(v[0], v[1] ^ xf.SIGN)
        case Op.FMUL:
            return xf.mul(v[0], v[1])
        case Op.FFMA:
            return xf.fma(v[0], v[1], v[2])
        case Op.FMAX:
            return xf.maximum(v[0], v[1])
        case Op.FMIN:
            return xf.minimum(v[0], v[1])
        case Op.FABS:
            return v[0] % xf.SIGN
        case Op.FNEG:
            return v[0] ^ xf.SIGN
        case Op.FNE:
            return 0 if xf.compare(*v) == 0 else WORD
        case Op.ISFINITE:
            return 0 if v[0] & xf.INF == xf.INF else WORD
        case Op.I2F:
            return xf.from_int(s[0])
        case Op.FMULC:
            negative = v[1] ^ xf.SIGN
            rest = xf.add(0x3F800000, negative)
            special = v[0] & xf.INF in (0, xf.INF) or not rest
            return xf.mul(v[0], rest) if special else xf.fma(v[0], negative, v[0])
    raise AssertionError(op)


def second(post: int, t: int, param: int, *numerator: int) -> int:
    low, high = param & 0xFFFF, param >> 16
    match post:
        case Post.NONE:
            return t
        case Post.RELU_I:
            return max(signed(t), 0) & WORD
        case Post.CLAMP_I:
            return min(max(signed(t), signed(low, 16)), signed(high, 16)) & WORD
        case Post.RELU_F:
            return xf.maximum(t, 0)
        case Post.CLAMP_F:
            return xf.minimum(xf.maximum(t, low << 16), high << 16)
        case Post.SQUARE:
            return xf.mul(t, t)
        case Post.F2I | Post.F2I_FLOOR | Post.F2I_TRUNC:
            rounding = {Post.F2I: xf.nearest, Post.F2I_FLOOR: math.floor,
                        Post.F2I_TRUNC: math.trunc}[Post(post)]
            return xf.to_int(t, rounding) & WORD
        case _:
            return getattr(xs, Post(post).name.lower())(t, *numerator)
