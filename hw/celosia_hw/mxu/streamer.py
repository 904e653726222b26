"""Row streamer: reads rows of activations and says where their sums go."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.follow import coming_layout, is_coming
from celosia_hw.memory.agen import AddressGenerator, counts_layout, stream_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.mxu.retire import RMW_CYCLES, retire_layout
from celosia_hw.stream import delayed

__all__ = ["RowStreamer", "rows_layout"]


def rows_layout(config: TpuConfig) -> data.StructLayout:
    """Rows to stream: fields as in :func:`celosia_hw.commands.matmul_layout`."""
    shape = stream_layout(config)
    return data.StructLayout({
        "fmt": isa.MatmulFormat, "accumulate": 1, "wload": 1, "acc": shape, "acts": shape,
        "counts": counts_layout()})


class RowStreamer(wiring.Component):
    """Starts one row a cycle, commands without a gap.

    A row is asked for out of a register, a cycle after it was found free to start: its tile is
    loaded, it is not ``coming``, and where it accumulates an earlier row of the same address is
    sure to be written before it is read.

    Members
    -------
    command : In(stream)
        In order.
    loaded : In(1)
        The tile of the next command with ``wload`` is loaded.
    swap : Out(1)
        That tile is put to use for the rows from the next cycle on, whether or not one starts in
        it.
    coming : In
        Rows that are not there yet, as of `LoadProgress`.
    port : Out(ReadPort)
        Of the unified buffer. A row starts in the cycle in which its read is granted.
    o_valid, o : Out
        A row starts, and what becomes of it.
    active, waiting, following : Out(1)
        A command is held; its tile is not loaded; its row is coming.
    """

    command: stream.Interface
    loaded: Signal
    swap: Signal
    coming: data.View
    port: ReadPort
    o_valid: Signal
    o: data.View
    active: Signal
    waiting: Signal
    following: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "loaded": In(1), "swap": Out(1),
            "coming": In(coming_layout(config)),
            "port": Out(ReadPortSignature(row_bits(config), config.ub_row_bits)),
            "o_valid": Out(1), "o": Out(retire_layout(config)),
            "active": Out(1), "waiting": Out(1), "following": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.acts = acts = AddressGenerator(self._config)
        m.submodules.acc = acc = AddressGenerator(self._config)
        active, swap_due = Signal(), Signal()
        accumulate, bf16 = Signal(reset_less=True), Signal(reset_less=True)
        start, step, free = Signal(), Signal(), Signal()
        hazard = Signal()
        # The row that is asked for.
        asks, row = Signal(), Signal.like(self.port.addr, reset_less=True)
        fate = Signal(retire_layout(self._config), reset_less=True)
        command = self.command.payload
        m.d.comb += [
            self.active.eq(active), self.waiting.eq(active & swap_due & ~self.loaded),
            free.eq(~asks | self.port.ready),
            self.swap.eq(active & swap_due & self.loaded & free),
            self.following.eq(active & is_coming(self.coming, acts.row)),
            step.eq(active & (~swap_due | self.loaded) & ~hazard & ~self.following & free),
            self.port.valid.eq(asks), self.port.addr.eq(row),
            self.command.ready.eq(~active | (step & acts.last)),
            start.eq(self.command.valid & self.command.ready),
            self.o_valid.eq(asks & self.port.ready), self.o.eq(fate),
            acts.counts.eq(command.counts), acc.counts.eq(command.counts),
            acts.stream.eq(command.acts), acc.stream.eq(command.acc),
            acts.start.eq(start), acc.start.eq(start), acts.step.eq(step), acc.step.eq(step),
        ]
        with m.If(step):
            m.d.sync += [asks.eq(1), row.eq(acts.row), fate.row.eq(acc.row),
                         fate.accumulate.eq(accumulate), fate.bf16.eq(bf16),
                         fate.last.eq(acts.last)]
        with m.Elif(self.port.ready):
            m.d.sync += asks.eq(0)
        with m.If(self.swap):
            m.d.sync += swap_due.eq(0)
        with m.If(step & acts.last):
            m.d.sync += active.eq(0)
        with m.If(start):
            m.d.sync += [active.eq(1), swap_due.eq(command.wload),
                         accumulate.eq(command.accumulate),
                         bf16.eq(command.fmt == isa.MatmulFormat.BF16)]

        started = [asks, *delayed(m, self.o_valid, RMW_CYCLES - 2, name="valid")[1:]]
        rows = delayed(m, fate.row, RMW_CYCLES - 2, name="row", reset_less=True)
        conflicts = [valid & (row == acc.row) for valid, row in zip(started, rows, strict=True)]
        m.d.comb += hazard.eq(accumulate & Cat(*conflicts).any())
        return m
