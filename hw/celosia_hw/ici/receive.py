"""The unit rx of a port: messages become rows."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.ici import LONG_MESSAGE
from celosia.arch.isa import RecvOp
from celosia.arch.registers import Activity
from celosia_hw.commands import (
    LINK_DOWN_BIT,
    UnitPort,
    UnitSignature,
    message_layout,
    tell_activity,
)
from celosia_hw.dma.split import rows_layout
from celosia_hw.dma.unpack import Unpacker
from celosia_hw.ici.join import RowJoiner
from celosia_hw.ici.message import ROWS_BITS, first_word, message_rows, narrow, row_words
from celosia_hw.memory.ports import (
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    row_bits,
)
from celosia_hw.memory.requests import WriteRequests
from celosia_hw.stream import Queue, outstanding

__all__ = ["MessageReceiver"]

#: Messages whose rows may be on their way.
_MESSAGES_AHEAD = 4


class _State(enum.Enum):
    """What the next word is: no command, its rows are counted; the first, the second word; rows;
    an error.
    """

    IDLE = 0
    COUNT = 1
    FIRST = 2
    SECOND = 3
    BODY = 4
    FAILED = 5


class MessageReceiver(wiring.Component):
    """Executes RECV.

    A word a cycle, but for 2 cycles between messages. Rows that are set are written as they come,
    after those that were joined. ``done`` comes two cycles after the last row was written.

    The command reports an error where a message is not that which it names, or nothing comes and
    the link is down.

    Parameters
    ----------
    number
        Of the port: the ``detail`` of an error.

    Members
    -------
    port : In(UnitSignature)
    i : In(stream)
        Words.
    ub, acc : Out(WritePortSignature), read : Out(ReadPortSignature)
        ``read`` is of the accumulators.
    down : In(1)
        As of `LinkLayer`.
    working : Out(1), tag : Out
        Words of a message are wanted, and its tag.
    """

    port: UnitPort
    i: stream.Interface
    ub: WritePort
    acc: WritePort
    read: ReadPort
    down: Signal
    working: Signal
    tag: Signal

    def __init__(self, config: TpuConfig, number: int):
        self._config, self._number = config, number
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(message_layout(config), LINK_DOWN_BIT + 1)),
            "i": In(stream.Signature(8 * config.link_bytes)),
            "ub": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc": Out(WritePortSignature(bits, config.acc_row_bits)),
            "read": Out(ReadPortSignature(bits, config.acc_row_bits)), "down": In(1),
            "working": Out(1), "tag": Out(message_layout(config)["tag"].shape),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = narrow(self._config)
        m.submodules.commands = commands = Queue(rows_layout(config), 2)
        m.submodules.unpacker = unpacker = Unpacker(config)
        m.submodules.messages = messages = Queue(
            data.StructLayout({"op": RecvOp, "rows": ROWS_BITS}), _MESSAGES_AHEAD)
        wiring.connect(m, commands.o, unpacker.command)
        command = self.port.command
        held, rows = Signal(message_layout(config), reset_less=True), Signal(ROWS_BITS)
        state = Signal(_State)
        taken, failing = Signal(), Signal()
        left, place = Signal(ROWS_BITS), Signal(range(max(row_words(config).values())))
        most = Signal.like(place)
        with m.Switch(held.fmt):
            for fmt, words in row_words(config).items():
                with m.Case(fmt):
                    m.d.comb += most.eq(words - 1)
        m.d.comb += [
            command.ready.eq((state == _State.IDLE) & commands.i.ready & messages.i.ready),
            taken.eq(command.valid & command.ready), commands.i.valid.eq(taken),
            *message_rows(command.payload, commands.i.payload),
            messages.i.payload.op.eq(held.op), messages.i.payload.rows.eq(rows),
            unpacker.i.payload.data.eq(self.i.payload),
            self.working.eq(state != _State.IDLE), self.tag.eq(held.tag),
        ]
        under_way = outstanding(m, taken, self.port.done, 2 * _MESSAGES_AHEAD, name="under_way")
        waits = (state == _State.FIRST) | (state == _State.SECOND) | (state == _State.BODY)

        def fail(detail) -> None:
            # Those before it have their rows, and end first.
            m.d.comb += failing.eq(under_way == 1)
            with m.If(failing):
                m.d.sync += [state.eq(_State.FAILED), self.port.detail.eq(detail)]

        with m.Switch(state):
            with m.Case(_State.IDLE):
                with m.If(taken):
                    m.d.sync += [held.eq(command.payload), state.eq(_State.COUNT)]
            with m.Case(_State.COUNT):
                m.d.sync += [rows.eq(held.n0 * held.n1), state.eq(_State.FIRST), place.eq(0)]
            with m.Case(_State.FIRST):
                m.d.sync += left.eq(rows)
                word = first_word(held, rows)
                with m.If(self.i.valid):
                    with m.If(self.i.payload[:32] == word):
                        m.d.comb += [self.i.ready.eq(1), messages.i.valid.eq(1)]
                        m.d.sync += state.eq(
                            Mux(word[LONG_MESSAGE], _State.SECOND, _State.BODY))
                    with m.Else():
                        fail(self.i.payload[:32] & ~(1 << LONG_MESSAGE))
            with m.Case(_State.SECOND):
                with m.If(self.i.valid):
                    with m.If(self.i.payload[:ROWS_BITS // 2] == rows[ROWS_BITS // 2:]):
                        m.d.comb += self.i.ready.eq(1)
                        m.d.sync += state.eq(_State.BODY)
                    with m.Else():
                        fail(first_word(held, rows) & ~(1 << LONG_MESSAGE))
            with m.Case(_State.BODY):
                m.d.comb += [unpacker.i.valid.eq(self.i.valid),
                             self.i.ready.eq(unpacker.i.ready)]
                with m.If(self.i.valid & self.i.ready):
                    m.d.sync += place.eq(Mux(place == most, 0, place + 1))
                    with m.If(place == most):
                        m.d.sync += left.eq(left - 1)
                        with m.If(left == 1):
                            m.d.sync += state.eq(_State.IDLE)
        with m.If(waits & self.down & ~self.i.valid):
            fail(self._number | 1 << LINK_DOWN_BIT)

        m.submodules.writes = writes = WriteRequests(config)
        wiring.connect(m, writes.ub, wiring.flipped(self.ub))
        wiring.connect(m, writes.acc, wiring.flipped(self.acc))
        goes = self._leave(m, unpacker, messages, writes)
        m.d.sync += [self.port.done.eq((writes.wrote & writes.last) | failing),
                     self.port.error.eq(failing)]
        tell_activity(m, self.port,
                      (goes | (self.i.valid & self.i.ready), Activity.BUSY),
                      (waits & ~self.i.valid, Activity.WAIT_BUS),
                      (writes.refused, Activity.WAIT_MEMORY),
                      (under_way != 0, Activity.WAIT_UNIT))
        return m

    def _leave(self, m: Module, unpacker: Unpacker, messages: Queue,
               writes: WriteRequests) -> Signal:
        """Bring rows from the unpacker to their memory or to the joiner, and from that one on.

        Returns
        -------
        goes
            A row leaves the unpacker.
        """
        m.submodules.joiner = joiner = RowJoiner(self._config)
        message, row = messages.o.payload, unpacker.o
        sets, may_set, goes, last = (Signal() for _ in range(4))
        gone = Signal(ROWS_BITS)
        joined = joiner.i.payload
        m.d.comb += [
            sets.eq(message.op == RecvOp.SET),
            may_set.eq(messages.o.valid & sets & joiner.empty),
            writes.i.valid.eq(Mux(joiner.empty, row.valid & may_set, joiner.o.valid)),
            writes.i.payload.eq(Mux(joiner.empty, row.payload.as_value(),
                                    joiner.o.payload.as_value())),
            joiner.o.ready.eq(writes.i.ready), joiner.pending.eq(writes.pending),
            joiner.pending_row.eq(writes.row),
            joiner.i.valid.eq(row.valid & messages.o.valid & ~sets),
            joined.row.eq(row.payload.address), joined.lanes.eq(row.payload.lanes),
            joined.op.eq(message.op - 1), joined.last.eq(last),
            row.ready.eq(Mux(sets, writes.i.ready & may_set, joiner.i.ready & messages.o.valid)),
            goes.eq(row.valid & row.ready),
            last.eq(gone + 1 == message.rows), messages.o.ready.eq(goes & last),
        ]
        with m.If(joiner.empty):  # the unpacker's are rows of a command, not of a message
            m.d.comb += writes.i.payload.last.eq(last)
        wiring.connect(m, joiner.read, wiring.flipped(self.read))
        with m.If(goes):
            m.d.sync += gone.eq(Mux(last, 0, gone + 1))
        return goes
