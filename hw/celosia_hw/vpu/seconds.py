"""Parts of the lane: second stages of one step, and the conversion to the destination.

A second stage of one step on floating point is one entry in ``POSTS``. (Those that end in a
rounding are in :mod:`celosia_hw.vpu.special`.)
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Mux, Value, signed

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia.arch.numerics import NAN
from celosia.arch.vector import Dst, Post
from celosia_hw.fp.compare import f32_max, ordered
from celosia_hw.fp.convert import f32_flush, f32_to_bf16
from celosia_hw.fp.wire import choose, wire
from celosia_hw.pipeline import Logic

__all__ = ["POSTS", "STAGES", "convert", "posts"]

Second = Callable[[Module, Value, Value], Value]


def _clamp_i(m: Module, post: Value, x: Value, param: Value) -> Value:
    """Relu and clamp of integers: both have bounds of 16 bits, relu only a lower one."""
    clamps = post == Post.CLAMP_I
    low, high = wire(m, Mux(clamps, param[:16], 0), "clamp_low"), param[16:]
    beyond = wire(m, Mux(x[31], ~x[15:31], x[15:31]) != 0, "clamp_beyond")
    word = x[:16].as_signed()
    negative, some = x[31], clamps | (post == Post.RELU_I)
    below = wire(m, some & ((beyond & negative) | (~beyond & (word < low.as_signed()))),
                 "clamp_below")
    above = wire(m, clamps & ((beyond & ~negative) | (~beyond & (word > high.as_signed()))),
                 "clamp_above")
    return wire(m, Mux(below, low.as_signed(), Mux(above, high.as_signed(), x.as_signed())),
                "clamp_i")


def _clamp_f(m: Module, x: Value, param: Value) -> Value:
    """min(max(x, low), high) where low <= high, of words in the order of their values."""
    x, low, high = words = (
        f32_flush(m, x, "clamp_f_x"),
        f32_flush(m, Cat(Const(0, 16), param[:16]), "clamp_f_low"),
        f32_flush(m, Cat(Const(0, 16), param[16:]), "clamp_f_high"))
    nan = Cat(word == NAN for word in words).any()
    below = wire(m, ordered(x) < ordered(low), "clamp_f_below")
    above = wire(m, ordered(x) > ordered(high), "clamp_f_above")
    return Mux(nan, NAN, wire(m, Mux(above, high, Mux(below, low, x)), "clamp_f"))


#: Second stages of one step on floating point, on a word and the instruction's ``param``.
POSTS: dict[Post, Second] = {
    Post.RELU_F: lambda m, x, param: f32_max(m, x, Const(0, 32), "relu_f"),
    Post.CLAMP_F: _clamp_f,
}


def posts(m: Module, config: TpuConfig, post: Value, r: Value, param: Value) -> dict[str, Value]:
    """``r`` after the second stage ``post`` if that is of one step, else as it is; 32 bits."""
    word = _clamp_i(m, post, r, param)
    if not config.bf16:
        return {"r": word}
    results = {item: function(m, r, param) for item, function in POSTS.items()}
    return {"r": choose(m, post, results, word, name="second")}


def convert(m: Module, config: TpuConfig, dst: Value, r: Value) -> dict[str, Value]:
    """``r`` as it is stored: see `celosia_hw.memory.writer.result_layout`.

    Of an int8 the bits that the unified buffer has for a lane; the others are any.
    """
    bits, negative = config.lane_bits, r[31]
    beyond = wire(m, (dst == Dst.UB_I8) & (Mux(negative, ~r[7:31], r[7:31]) != 0), "saturates")
    limit = Mux(negative, Const(-128, signed(bits)), Const(127, signed(bits)))
    word = Cat(wire(m, Mux(beyond, limit[:bits], r[:bits]), "saturated"), r[bits:])
    if config.bf16:
        word = Mux(dst == Dst.UB_BF16, f32_to_bf16(m, r, "bf16"), word)
    return {"r": word}


STAGES = {
    LaneStep.SECOND: (Logic(posts, lambda valid: valid),),
    LaneStep.CONVERT: (Logic(convert, lambda valid: valid),),
}
