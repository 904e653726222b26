"""Row streamer: reads rows of activations and says where their sums go."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.follow import coming_layout, is_coming
from celosia_hw.memory.agen import AddressGenerator, counts_layout, stream_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.mxu.retire import retire_layout, rmw_cycles
from celosia_hw.stream import Queue, delayed, shallow

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
    sure to be written before it is read. Up to two rows wait to be found so, so that what holds a
    row is not on the way to the rows and commands behind it. On a chip that is cut these
    comparisons end in registers: a row that was ``coming`` as it was walked over, or accumulates
    where one of the ``rmw_cycles`` rows before it does, waits until the cycle after that in which
    nothing holds it.

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
        Of the unified buffer; must always be ready. A row starts in the cycle of its read.
    o_valid, o : Out
        A row starts, and what becomes of it.
    active, following : Out(1)
        A command is held; its row is coming.
    """

    command: stream.Interface
    loaded: Signal
    swap: Signal
    coming: data.View
    port: ReadPort
    o_valid: Signal
    o: data.View
    active: Signal
    following: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "loaded": In(1), "swap": Out(1),
            "coming": In(coming_layout(config)),
            "port": Out(ReadPortSignature(row_bits(config), config.ub_row_bits)),
            "o_valid": Out(1), "o": Out(retire_layout(config)),
            "active": Out(1), "following": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.acts = acts = AddressGenerator(self._config)
        m.submodules.acc = acc = AddressGenerator(
            self._config, beside=acts if self._config.small else None)
        fate_layout = retire_layout(self._config)
        m.submodules.rows = rows = Queue(data.StructLayout({
            "acts": self.port.addr.shape(), "fate": fate_layout, "swap": 1, "coming": 1,
            "hazard": 1}), shallow(self._config))
        # The walk, up to the queue.
        active, swap_due = Signal(), Signal()
        accumulate, bf16 = Signal(reset_less=True), Signal(reset_less=True)
        start, step = Signal(), Signal()
        # The row that is looked at: its tile is in use already, it may start.
        head, swapped = rows.o.payload, Signal()
        swaps, hazard = Signal(), Signal()
        coming, follows = Signal(), Signal()  # it is coming; what comes before it holds it
        # The row that is asked for.
        asks, row = Signal(), Signal.like(self.port.addr, reset_less=True)
        fate = Signal(fate_layout, reset_less=True)
        command, walked = self.command.payload, rows.i.payload
        m.d.comb += [
            rows.i.valid.eq(active), walked.acts.eq(acts.row), walked.swap.eq(swap_due),
            walked.fate.row.eq(acc.row), walked.fate.accumulate.eq(accumulate),
            walked.fate.bf16.eq(bf16), walked.fate.last.eq(acts.last),
            step.eq(active & rows.i.ready),
            self.active.eq(active | rows.o.valid),
            swaps.eq(rows.o.valid & head.swap & ~swapped),
            self.swap.eq(swaps & self.loaded),
            self.following.eq(rows.o.valid & coming),
            rows.o.ready.eq((~head.swap | swapped | self.loaded) & ~follows),
            self.port.valid.eq(asks), self.port.addr.eq(row),
            self.command.ready.eq(~active | (step & acts.last)),
            start.eq(self.command.valid & self.command.ready),
            self.o_valid.eq(asks), self.o.eq(fate),
            acts.counts.eq(command.counts), acc.counts.eq(command.counts),
            acts.stream.eq(command.acts), acc.stream.eq(command.acc),
            acts.start.eq(start), acc.start.eq(start), acts.step.eq(step), acc.step.eq(step),
        ]
        starts = rows.o.valid & rows.o.ready
        m.d.sync += asks.eq(starts)
        with m.If(starts):
            m.d.sync += [row.eq(head.acts), fate.eq(head.fate)]
        with m.If(starts):
            m.d.sync += swapped.eq(0)
        with m.Elif(self.swap):
            m.d.sync += swapped.eq(1)
        with m.If(step):
            m.d.sync += swap_due.eq(0)
        with m.If(step & acts.last):
            m.d.sync += active.eq(0)
        with m.If(start):
            m.d.sync += [active.eq(1), swap_due.eq(command.wload),
                         accumulate.eq(command.accumulate),
                         bf16.eq(command.fmt == isa.MatmulFormat.BF16)]

        repeats = rmw_cycles(self._config)
        started = [asks, *delayed(m, self.o_valid, repeats - 2, name="valid")[1:]]
        earlier = delayed(m, fate.row, repeats - 2, name="row", reset_less=True)
        conflicts = [valid & (row == head.fate.row)
                     for valid, row in zip(started, earlier, strict=True)]
        m.d.comb += hazard.eq(head.fate.accumulate & Cat(*conflicts).any())
        now = is_coming(self.coming, head.acts)
        if self._config.cut:
            # Rows that may not be written yet when this one may start: of the queue, asked for, and
            # those that a row conflicts with.
            there, before = Signal(), delayed(m, acc.row, repeats, name="before", reset_less=True,
                                              enables=[step] * repeats)[1:]
            m.d.comb += [
                walked.coming.eq(is_coming(self.coming, acts.row)),
                walked.hazard.eq(accumulate & Cat(acc.row == row for row in before).any()),
                coming.eq(head.coming & ~there),
                follows.eq((head.coming | head.hazard) & ~there),
            ]
            m.d.sync += there.eq(rows.o.valid & ~starts & ~now & ~hazard)
        else:
            m.d.comb += [coming.eq(now), follows.eq(now | hazard)]
        return m
