"""A stream of rows into either on-chip memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ports import (
    WritePort,
    WritePortSignature,
    asked_row,
    beat_bits,
    same_bank,
)
from celosia_hw.memory.reader import words_layout
from celosia_hw.stream import Queue

__all__ = ["RowWriter", "result_layout"]


def result_layout(config: TpuConfig) -> data.StructLayout:
    """A beat and where it goes: ``acc`` names the memory, ``row`` is the beat's address in it
    (`celosia_hw.memory.ports.beat_bits`), ``last`` ends a command.

    ``skip``: nothing is written. ``error`` is that of the command, with ``last``.

    The accumulators take the words, the unified buffer the low bits of each word (int8
    sign-extended, or bf16).
    """
    return data.StructLayout({
        "acc": 1, "last": 1, "skip": 1, "error": 1, "row": beat_bits(config),
        "words": words_layout(config),
    })


class RowWriter(wiring.Component):
    """Writes rows, in order, a beat a cycle as long as the memory grants.

    A beat is offered to the memory in the cycle in which it is taken where no other waits. On a
    ``small`` chip a cycle later, for each goes through the queue; on one that is cut two, out of
    flip-flops.

    Parameters
    ----------
    config
    depth
        Beats that the writer holds: a power of two, at least 2.

    Members
    -------
    i : In(stream of result_layout)
        Beats; not ready where ``depth`` of them wait.
    ub, acc : Out(WritePortSignature)
        One of them asks at a time. The unified buffer must always be ready. What the accumulators
        refuse is asked for again.
    first : In(asked_row)
        Of the port of the accumulators that comes before this one.
    freed : Out(1)
        There is place for one more: a beat was granted or skipped in this cycle or, on a chip that
        is cut, is about to be offered.
    done : Out(1)
        A beat with ``last`` was granted or skipped in the cycle before this one.
    error : Out(1)
        With ``done``: the ``error`` of that beat.
    refused : Out(1)
        A beat was offered in this cycle and not granted.
    """

    i: stream.Interface
    ub: WritePort
    acc: WritePort
    first: data.View
    freed: Signal
    done: Signal
    error: Signal
    refused: Signal

    def __init__(self, config: TpuConfig, depth: int = 2):
        self._config, self._depth = config, depth
        bits = beat_bits(config)
        super().__init__({
            "i": In(stream.Signature(result_layout(config))),
            "ub": Out(WritePortSignature(bits, config.ub_row_bits // config.fold)),
            "acc": Out(WritePortSignature(bits, config.acc_row_bits // config.fold)),
            "first": In(asked_row(config)), "freed": Out(1),
            "done": Out(1), "error": Out(1), "refused": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        m.submodules.queue = queue = Queue(result_layout(config), self._depth)
        written = Signal()  # the head was granted or skipped in this cycle
        refused = Signal()  # the accumulators would refuse it
        if config.cut:
            head = Signal(result_layout(config), name="head", reset_less=True)
            waiting = Signal()  # the head is offered
            m.d.comb += [queue.i.valid.eq(self.i.valid), queue.o.ready.eq(~waiting | written),
                         self.freed.eq(queue.o.valid & queue.o.ready)]
            with m.If(queue.o.ready):
                m.d.sync += [head.eq(queue.o.payload), waiting.eq(queue.o.valid)]
        elif config.small:
            head, waiting = queue.o.payload, queue.o.valid
            m.d.comb += [queue.i.valid.eq(self.i.valid), queue.o.ready.eq(written),
                         self.freed.eq(written)]
        else:
            head = Signal(result_layout(config))
            waiting = Signal()  # the head has not been queued, or waits there
            m.d.comb += [
                queue.i.valid.eq(self.i.valid & (queue.o.valid | ~written)),
                head.eq(Mux(queue.o.valid, queue.o.payload.as_value(),
                            self.i.payload.as_value())),
                waiting.eq(queue.o.valid | self.i.valid), queue.o.ready.eq(written),
                self.freed.eq(written),
            ]
        lanes = data.View(data.ArrayLayout(config.lane_bits, config.lanes), self.ub.data)
        m.d.comb += [
            queue.i.payload.eq(self.i.payload),
            self.i.ready.eq(queue.i.ready),
            self.acc.valid.eq(waiting & head.acc & ~head.skip),
            self.acc.addr.eq(head.row),
            self.acc.data.eq(head.words.as_value()),
            self.ub.valid.eq(waiting & ~head.acc & ~head.skip),
            self.ub.addr.eq(head.row),
            *(lanes[i].eq(head.words[i][:config.lane_bits]) for i in range(config.lanes)),
            refused.eq(self.first.valid & same_bank(
                config, self.first.row, head.row[exact_log2(config.fold):])),
            self.refused.eq(self.acc.valid & refused), written.eq(waiting & ~self.refused),
        ]
        m.d.sync += [self.done.eq(written & head.last), self.error.eq(head.error)]
        return m
