"""A stream of rows out of either on-chip memory."""

from typing import Any

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.lane import read_ahead
from celosia_hw.memory.beats import BeatWalk, read_layout, request_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, beat_bits
from celosia_hw.memory.requests import ReadRequests
from celosia_hw.stream import Queue

__all__ = ["RowReader", "row_layout", "words_layout"]


def words_layout(config: TpuConfig) -> data.ArrayLayout:
    """A beat of a row as words of 32 bits, whatever memory it lives in; D of them if not folded."""
    return data.ArrayLayout(32, config.lanes)


def row_layout(config: TpuConfig, tag: ShapeLike) -> data.StructLayout:
    """A beat that was read, the tag of its walk, and whether it is the last of the walk."""
    return data.StructLayout({"words": words_layout(config), "tag": tag, "last": 1})


def _queued_layout(config: TpuConfig, tag: ShapeLike) -> data.StructLayout:
    """The same, and what the request says of the row; empty where that is one beat."""
    flag = int(config.fold > 1)
    return data.StructLayout({"row": row_layout(config, tag), "end": flag, "whole": flag})


class RowReader(wiring.Component):
    """Reads the rows of a walk from the unified buffer or the accumulators, beat by beat.

    Each beat comes out as words: accumulators as stored; ``UB_I8`` the low 8 bits of each lane,
    sign-extended; ``UB_BF16`` each lane in the upper 16 bits, zeros below (the bits of the fp32);
    ``ZERO`` zeros, without asking a memory.

    Throughput: a beat a cycle, over commands that follow one another too but for a cycle from a
    memory to the other (:class:`~celosia_hw.memory.requests.ReadRequests`), as long as the memory
    grants and ``o`` is taken (after the consumer has stopped it, too: beats that are on their way
    have room). Latency: that of the requests of `BeatWalk`; a beat granted in cycle t is offered
    from t + READ_LATENCY on, a cycle later on a ``small`` chip, where each goes through the queue,
    and two on one that is cut, where it then comes out of flip-flops. The first beat of a row of a
    walk that is ``whole`` waits for the row's last one.

    Parameters
    ----------
    config
    tag
        Shape of what goes along with the beats of a walk.

    Members
    -------
    i : In(stream of read_layout)
        Walks, in order.
    o : Out(stream of row_layout)
        Their beats, in order.
    ub, acc : Out(ReadPortSignature)
        One of them asks at a time.
    refused : Out(1)
        A beat was refused in the cycle before.
    """

    i: stream.Interface
    o: stream.Interface
    ub: ReadPort
    acc: ReadPort
    refused: Signal

    def __init__(self, config: TpuConfig, tag: ShapeLike):
        self._config, self._tag = config, tag
        bits = beat_bits(config)
        super().__init__({
            "i": In(stream.Signature(read_layout(config, tag))),
            "o": Out(stream.Signature(row_layout(config, tag))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits // config.fold)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits // config.fold)),
            "refused": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        depth = read_ahead(config.fold)
        m.submodules.walk = walk = BeatWalk(config, self._tag)
        wiring.connect(m, wiring.flipped(self.i), walk.i)
        layout = row_layout(config, self._tag)
        # Places follow one another over a power of two, at least one of which is free: so the queue
        # is empty just where they meet, and it needs no level beside the credits.
        m.submodules.queue = queue = Memory(shape=_queued_layout(config, self._tag),
                                            depth=1 << depth.bit_length(), init=[])
        write, read = queue.write_port(), queue.read_port(domain="comb")
        m.submodules.requests = requests = ReadRequests(
            len(self.ub.addr), len(self.ub.data), len(self.acc.data),
            request_layout(config, self._tag)["tag"].shape)
        wiring.connect(m, walk.o, requests.i)
        for inner, port in ((requests.ub, self.ub), (requests.acc, self.acc)):
            wiring.connect(m, inner, wiring.flipped(port))
        credits = Signal(range(depth + 1), init=depth)
        resting = Signal()
        may = Signal(init=1)  # credits > resting
        taken, rests = Signal(), Signal()
        m.d.comb += [walk.may.eq(may), self.refused.eq(requests.refused),
                     rests.eq((credits == 0) | (resting & (credits == 1)))]
        m.d.sync += [resting.eq(rests), may.eq(credits > rests)]
        with m.If(walk.made & ~taken):
            m.d.sync += [credits.eq(credits - 1), may.eq(credits > 1)]
        with m.Elif(~walk.made & taken):
            m.d.sync += [credits.eq(credits + 1), may.eq((credits != 0) | ~rests)]

        arriving, came = requests.arrives, requests.tag
        arrived, oldest = write.data.row, read.data.row
        lanes = data.View(data.ArrayLayout(config.lane_bits, config.lanes), self.ub.data)
        acc = data.View(words_layout(config), self.acc.data)
        m.d.comb += [arrived.tag.eq(came.tag), arrived.last.eq(came.last)]
        for i in range(config.lanes):
            word = lanes[i][:8].as_signed()
            if config.bf16:
                word = Mux(came.bf16, lanes[i] << 16, word)
            parts = [acc[i], word]
            if config.small:  # a memory goes on giving what others have read
                parts = [Mux(requests.from_acc, parts[0], 0), Mux(requests.from_ub, parts[1], 0)]
            # Where a memory gives nothing, its data is zero.
            m.d.comb += arrived.words[i].eq(parts[0] | parts[1])

        waiting = Signal()
        moves = Signal()  # out of the queue
        some = write.addr != read.addr
        m.d.comb += waiting.eq(
            some & ~self._held(m, came, write, read, moves) if config.fold > 1 else some)
        if config.cut:
            m.submodules.offered = offered = Queue(layout, 2)
            wiring.connect(m, offered.o, wiring.flipped(self.o))
            m.d.comb += [write.en.eq(arriving), moves.eq(waiting & offered.i.ready),
                         offered.i.valid.eq(waiting), offered.i.payload.eq(oldest)]
            m.d.sync += taken.eq(moves)
        elif config.small:
            m.d.comb += [write.en.eq(arriving), moves.eq(waiting & self.o.ready), taken.eq(moves),
                         self.o.valid.eq(waiting), self.o.payload.eq(oldest)]
        else:
            m.d.comb += [
                write.en.eq(arriving & (waiting | ~self.o.ready)),
                moves.eq(waiting & self.o.ready), taken.eq(self.o.valid & self.o.ready),
                self.o.valid.eq(waiting | arriving),
                self.o.payload.as_value().eq(
                    Mux(waiting, oldest.as_value(), arrived.as_value())),
            ]
        with m.If(write.en):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(moves):
            m.d.sync += read.addr.eq(read.addr + 1)
        return m

    def _held(self, m: Module, came: data.View, write: Any, read: Any, moves: Signal) -> Value:
        """Return whether the oldest beat, that of the queue's port ``read``, begins a row that
        comes when all of it has been read, and has not been.
        """
        ends = Signal(range(read_ahead(self._config.fold) + 1))  # of rows, in the queue
        within = Signal()  # the oldest beat's row has begun to leave
        comes, goes = Signal(), Signal()
        m.d.comb += [
            *(write.data[name].eq(came[name]) for name in ("end", "whole")),
            comes.eq(write.en & write.data.end), goes.eq(moves & read.data.end),
        ]
        m.d.sync += ends.eq(ends + comes - goes)
        with m.If(moves):
            m.d.sync += within.eq(~read.data.end)
        return read.data.whole & ~within & (ends == 0)
