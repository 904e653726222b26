"""A stream of rows out of either on-chip memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.memory.agen import AddressGenerator, counts_layout, stream_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits

__all__ = ["RowKind", "RowReader", "read_layout", "words_layout"]


class RowKind(enum.Enum, shape=2):
    """A memory and the meaning of its rows; numbered as ``isa.Dst``."""

    ACC = isa.Dst.ACC
    UB_I8 = isa.Dst.UB_I8
    UB_BF16 = isa.Dst.UB_BF16


def words_layout(config: TpuConfig) -> data.ArrayLayout:
    """A row as D words of 32 bits, whatever memory it lives in."""
    return data.ArrayLayout(32, config.dim)


def read_layout(config: TpuConfig) -> data.StructLayout:
    """What to read: the kind of the rows and the walk over them."""
    return data.StructLayout({
        "kind": RowKind, "stream": stream_layout(config), "counts": counts_layout(),
    })


class RowReader(wiring.Component):
    """Reads the rows of a walk from the unified buffer or the accumulators.

    Each row comes out as D words: accumulators as stored; ``UB_I8`` the low 8 bits of each lane,
    sign-extended; ``UB_BF16`` each lane in the upper 16 bits, zeros below (the bits of the fp32).

    Throughput: a row a cycle, over commands that follow one another too, as long as the memory
    grants and ``o`` is taken (after the consumer has stopped it, too: rows that are on their way
    have room). Latency: the first row is asked for in the cycle after the command was taken; a row
    granted in cycle t is offered from t + 3 on.

    Members
    -------
    i : In(stream of read_layout)
        Walks, in order.
    o : Out(stream of words_layout)
        Their rows, in order.
    ub, acc : Out(ReadPortSignature)
        One of them asks at a time.
    refused : Out(1)
        A row was asked for in this cycle and not granted.
    """

    i: stream.Interface
    o: stream.Interface
    ub: ReadPort
    acc: ReadPort
    refused: Signal

    #: Rows between a grant and the consumer at full speed: 2 cycles in the memory, 1 in the queue,
    #: 1 until the credit is back. The two above that let a reader run ahead of another one with
    #: which it shares banks. Where it has run ahead by both, it rests for two rows: else it
    #: could keep meeting the other in the same bank, and each time one of them would wait.
    DEPTH = 6

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "i": In(stream.Signature(read_layout(config))),
            "o": Out(stream.Signature(words_layout(config))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "refused": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        m.submodules.agen = agen = AddressGenerator(config)
        m.submodules.queue = queue = SyncFIFO(width=config.acc_row_bits, depth=self.DEPTH)
        active = Signal()
        kind = Signal(RowKind)
        credits = Signal(range(self.DEPTH + 1), init=self.DEPTH)
        resting = Signal()
        ask, granted, taken = Signal(), Signal(), Signal()

        m.d.comb += [
            self.i.ready.eq(~active | (granted & agen.last)),
            agen.start.eq(self.i.valid & self.i.ready),
            agen.stream.eq(self.i.payload.stream),
            agen.counts.eq(self.i.payload.counts),
            agen.step.eq(granted),
            ask.eq(active & (credits > resting)),
            self.acc.addr.eq(agen.row),
            self.acc.valid.eq(ask & (kind == RowKind.ACC)),
            self.ub.addr.eq(agen.row),
            self.ub.valid.eq(ask & (kind != RowKind.ACC)),
            granted.eq((self.acc.valid & self.acc.ready) | (self.ub.valid & self.ub.ready)),
            self.refused.eq(ask & ~granted),
            taken.eq(self.o.valid & self.o.ready),
        ]
        with m.If(agen.start):
            m.d.sync += [active.eq(1), kind.eq(self.i.payload.kind)]
        with m.Elif(granted & agen.last):
            m.d.sync += active.eq(0)
        with m.If(granted & ~taken):
            m.d.sync += credits.eq(credits - 1)
        with m.Elif(~granted & taken):
            m.d.sync += credits.eq(credits + 1)

        with m.If(credits == 0):
            m.d.sync += resting.eq(1)
        with m.Elif(credits != 1):
            m.d.sync += resting.eq(0)

        arriving = [Signal(name=f"arriving{i}") for i in (1, 2)]
        kinds = [Signal(RowKind, name=f"kind{i}", reset_less=True) for i in (1, 2)]
        m.d.sync += [arriving[0].eq(granted), arriving[1].eq(arriving[0]),
                     kinds[0].eq(kind), kinds[1].eq(kinds[0])]
        words = data.View(words_layout(config), queue.w_data)
        lanes = data.View(data.ArrayLayout(config.lane_bits, config.dim), self.ub.data)
        m.d.comb += [
            queue.w_en.eq(arriving[1]),
            self.o.valid.eq(queue.r_rdy),
            self.o.payload.as_value().eq(queue.r_data),
            queue.r_en.eq(self.o.ready),
        ]
        with m.If(kinds[1] == RowKind.ACC):
            m.d.comb += queue.w_data.eq(self.acc.data)
        with m.Else():
            for i in range(config.dim):
                small = lanes[i][:8].as_signed()
                if config.bf16:
                    wide = lanes[i] << 16
                    m.d.comb += words[i].eq(Mux(kinds[1] == RowKind.UB_I8, small, wide))
                else:
                    m.d.comb += words[i].eq(small)
        return m
