"""The walk over rows, beat by beat: what a reader asks the memories for."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.vector import Dst
from celosia_hw.memory.agen import AddressGenerator, counts_layout, stream_layout
from celosia_hw.memory.ports import beat_bits
from celosia_hw.memory.requests import asked_layout
from celosia_hw.stream import HalfBuffer, Queue

__all__ = ["BeatWalk", "RowKind", "beats_layout", "read_layout", "request_layout"]


class RowKind(enum.Enum, shape=2):
    """A memory and the meaning of its rows; numbered as ``Dst``. Rows of ``ZERO`` are read from
    none.
    """

    ACC = Dst.ACC
    UB_I8 = Dst.UB_I8
    UB_BF16 = Dst.UB_BF16
    ZERO = 3


def beats_layout(config: TpuConfig) -> data.StructLayout:
    """Which beats of a row are read: ``more`` beside one, from ``first`` on, around the row.

    ``same``: all of them are the first. ``whole``: they are more than the words that go into the
    same lanes, so they come when all of them have been read: the row may be that which the first
    result is written to. Empty where a row is one beat.
    """
    bits = exact_log2(config.fold)
    flag, more = min(bits, 1), bits_for(config.fold) if bits else 0
    return data.StructLayout({"first": bits, "same": flag, "whole": flag, "more": more})


def read_layout(config: TpuConfig, tag: ShapeLike) -> data.StructLayout:
    """What to read: the kind of the rows, the walk over them, and a tag that their beats get.

    ``ones``: dimensions that have one row, whatever ``counts`` says.
    """
    return data.StructLayout({
        "kind": RowKind, "stream": stream_layout(config), "counts": counts_layout(), "ones": 3,
        "beats": beats_layout(config), "tag": tag,
    })


def request_layout(config: TpuConfig, tag: ShapeLike) -> data.StructLayout:
    """A beat to be read: as :func:`~celosia_hw.memory.requests.asked_layout`, and as its tag: that
    of its walk, whether it is bf16, whether it is the walk's last; where a row is several, whether
    it is the last of its row, and whether these come together.
    """
    flag = int(config.fold > 1)
    return asked_layout(beat_bits(config), data.StructLayout({
        "tag": tag, "bf16": 1, "last": 1, "end": flag, "whole": flag}))


class BeatWalk(wiring.Component):
    """Makes the requests of walks, a beat a cycle, over walks that follow one another too.

    The first one is offered in the cycle after its walk was taken. On a chip that is cut, two
    cycles later: then walks come in by a buffer and requests go out by a queue, and nothing that
    refuses a request reaches the walk in the same cycle.

    Parameters
    ----------
    config
    tag
        Shape of what goes along with the beats of a walk.

    Members
    -------
    i : In(stream of read_layout)
        Walks, in order.
    may : In(1)
        A beat may be made.
    made : Out(1)
        One is: it is offered in this cycle or, where cut, from the next one on.
    o : Out(stream of request_layout)
        Their beats, in order.
    """

    i: stream.Interface
    may: Signal
    made: Signal
    o: stream.Interface

    def __init__(self, config: TpuConfig, tag: ShapeLike):
        self._config, self._tag = config, tag
        super().__init__({
            "i": In(stream.Signature(read_layout(config, tag))), "may": In(1), "made": Out(1),
            "o": Out(stream.Signature(request_layout(config, tag))),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        m.submodules.agen = agen = AddressGenerator(config)
        walk: Any = wiring.flipped(self.i)
        requests: Any = wiring.flipped(self.o)
        if config.cut:
            m.submodules.walks = buffer = HalfBuffer(read_layout(config, self._tag))
            m.submodules.requests = queue = Queue(request_layout(config, self._tag), 2)
            wiring.connect(m, walk, buffer.i)
            wiring.connect(m, queue.o, requests)
            walk, requests = buffer.o, queue.i
        active = Signal()
        kind, tag = Signal(RowKind), Signal(self._tag, reset_less=True)
        beats = Signal(beats_layout(config), name="beats", reset_less=True)
        beat = Signal(len(beats.first), reset_less=True)
        left = Signal(len(beats.more), reset_less=True)  # beats of this row behind this one
        end = left == 0 if config.fold > 1 else Const(1)
        step, last = Signal(), agen.last & end
        asked = requests.payload
        said = asked.tag
        m.d.comb += [
            walk.ready.eq(~active | (step & last)),
            agen.start.eq(walk.valid & walk.ready), agen.step.eq(step & end),
            *(getattr(agen, name).eq(walk.payload[name]) for name in ("stream", "counts", "ones")),
            requests.valid.eq(active & self.may), step.eq(requests.valid & requests.ready),
            self.made.eq(step), asked.addr.eq(Cat(beat, agen.row)),
            # Decoded here: what is asked for waits so.
            asked.acc.eq(kind == RowKind.ACC), said.bf16.eq(kind == RowKind.UB_BF16),
            asked.ub.eq((kind == RowKind.UB_I8) | (kind == RowKind.UB_BF16)),
            said.tag.eq(tag), said.last.eq(last),
        ]
        with m.If(agen.start):
            m.d.sync += [active.eq(1), kind.eq(walk.payload.kind), tag.eq(walk.payload.tag)]
        with m.Elif(step & last):
            m.d.sync += active.eq(0)
        if config.fold > 1:
            m.d.comb += [said.end.eq(end), said.whole.eq(beats.whole)]
            following = walk.payload.beats
            with m.If(agen.start):
                m.d.sync += [beats.eq(following), beat.eq(following.first),
                             left.eq(following.more)]
            with m.Elif(step):
                m.d.sync += [beat.eq(Mux(end, beats.first, beat + ~beats.same)),
                             left.eq(Mux(end, beats.more, left - 1))]
        return m
