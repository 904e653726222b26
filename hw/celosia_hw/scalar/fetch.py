"""Instruction fetch: a buffer of consecutive instructions that runs ahead of execution."""

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.registers import PROGRAM_ALIGN
from celosia_hw.bus.axi import FETCH_ID, AxiRead, AxiReadSignature
from celosia_hw.scalar.counter import PLACES, meant
from celosia_hw.scalar.encoding import BLOCK, PC_BITS, word_layout
from celosia_hw.scalar.ring import InstructionRing

__all__ = ["InstructionFetch"]


class InstructionFetch(wiring.Component):
    """Keeps instructions ``[first, arrived)`` of the program in a ring of ``config.ibuf``.

    Blocks of 4 instructions are requested while they fit without evicting anything from ``keep``
    on, several at once, so that straight code does not see the latency of memory, and a loop whose
    start is ``keep`` and which fits is fetched once. A ``pc`` outside the ring restarts the fetch
    there; blocks on their way are dropped as they arrive. So does one behind a block that could not
    be fetched, after which nothing more enters the ring.

    Latency: ``hit`` and ``word`` are of the instruction that was looked for in the cycle before. A
    request goes out at most every second cycle.

    Members
    -------
    start : In(1)
        Begin with instruction 0, forget everything.
    run : In(1)
        Fetch at all.
    program, length : In(32)
        Byte address, a multiple of PROGRAM_ALIGN, and instructions of the program.
    look : In(1), which : In, pcs : In
        Look for the instruction at that one of ``pcs``, of which ``which`` has one bit set. Whether
        at all may be known later in a cycle than where.
    keep_valid : In(1), keep : In(32)
        First instruction not to evict; ignored where it would keep ``pc`` from being fetched.
    hit : Out(1)
        The instruction is in ``word``.
    failed : Out(1)
        It cannot be fetched: the memory answered with an error to its block.
    word : Out(word_layout())
    axi : Out(AxiReadSignature)
        Every beat is taken; those with another ID than FETCH_ID are not looked at.
    """

    start: Signal
    run: Signal
    program: Signal
    length: Signal
    look: Signal
    which: Signal
    pcs: list[Signal]
    keep_valid: Signal
    keep: Signal
    hit: Signal
    failed: Signal
    word: data.View
    axi: AxiRead

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "run": In(1), "program": In(32), "length": In(32),
            "look": In(1), "which": In(PLACES), "pcs": In(PC_BITS).array(PLACES),
            "keep_valid": In(1), "keep": In(PC_BITS), "hit": Out(1), "failed": Out(1),
            "word": Out(word_layout()), "axi": Out(AxiReadSignature(config.bus_bytes)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, depth = self._config, self._config.ibuf
        block_bits = exact_log2(BLOCK)

        m.submodules.ring = ring = InstructionRing(config)

        # ``requested`` is the index of the next block to be requested; all else is counted back
        # from there: ``held`` blocks since the restart, at most a ring of them, of which
        # ``ahead`` have not arrived. PC_BITS + 1 bits, so that distances have a sign.
        bits = PC_BITS - block_bits + 1
        blocks = depth // BLOCK
        requested = Signal(bits)
        held, ahead = Signal(range(blocks + 1)), Signal(range(2 * blocks + 1))
        arrived = Signal(range(blocks))  # place of the next block to arrive
        keep_block = self.keep >> block_bits
        stale = Signal(range(2 * blocks + 1))  # blocks on their way that nobody wants any more
        error = Signal()

        missed = Signal()  # what was looked for is outside the ring
        looked = Signal(PC_BITS - block_bits, reset_less=True)
        restart = Signal()
        m.d.comb += restart.eq(self.run & ~self.start & missed)
        pc = meant(self.which, self.pcs)
        # Which place it is is chosen last, of the answers; on a chip that is small first.
        pcs, which = ([pc], Const(1)) if config.small else (self.pcs, self.which)
        hits, fails, misses = self._look_up(m, pcs, requested, held, ahead, error)
        m.d.sync += [
            self.hit.eq(self.look & (which & hits).any()),
            self.failed.eq(self.look & (which & fails).any()),
            missed.eq(self.look & (which & misses).any() & ~restart),
        ]
        m.d.comb += ring.pc.eq(pc)
        with m.If(self.look):
            m.d.sync += looked.eq(pc >> block_bits)

        # Requests. An offered burst stays as it is until it is taken, whatever the host writes.
        # What depends on ``requested`` is looked at in the cycle after it has changed.
        offered, address = Signal(), Signal(32, reset_less=True)
        wanted, settled, room, in_program = Signal(), Signal(), Signal(), Signal()
        since_pc, since_keep = Signal(signed(bits)), Signal(signed(bits))
        m.d.comb += [since_pc.eq(requested - looked), since_keep.eq(requested - keep_block)]
        near = [value[-1] | ~value[exact_log2(blocks):].any() for value in (since_pc, since_keep)]
        m.d.sync += [
            settled.eq(~wanted & ~restart),
            room.eq(since_pc[-1] | ~since_pc.any() | (near[0] & (near[1] | ~self.keep_valid))),
            in_program.eq((requested << block_bits) < self.length),
        ]
        with m.If(self.start):  # block 0, of an empty ring, needs no look
            m.d.sync += [settled.eq(1), room.eq(1), in_program.eq(self.length.any())]
        m.d.comb += wanted.eq(self.run & ~self.start & ~restart & settled & ~error & in_program
                              & room & (stale + ahead < 2 * blocks)
                              & (~offered | self.axi.ar.ready))
        m.d.comb += [
            self.axi.ar.valid.eq(offered), self.axi.ar.payload.addr.eq(address),
            self.axi.ar.payload.len.eq(PROGRAM_ALIGN // config.bus_bytes - 1),
            self.axi.ar.payload.id.eq(FETCH_ID),
        ]
        with m.If(self.axi.ar.ready):
            m.d.sync += offered.eq(0)
        with m.If(wanted):
            m.d.sync += [
                offered.eq(1), requested.eq(requested + 1),
                address.eq(self.program + (requested << exact_log2(PROGRAM_ALIGN))),
            ]
            with m.If(held != blocks):
                m.d.sync += held.eq(held + 1)

        # Arrivals.
        drop, take = Signal(), Signal()
        r = self.axi.r
        arrives = r.valid & (r.payload.id == FETCH_ID)
        last = arrives & r.payload.last
        m.d.comb += [
            r.ready.eq(1), ring.valid.eq(arrives), ring.beat.eq(r.payload),
            ring.store.eq(stale == 0), ring.block.eq(arrived),
            self.word.eq(ring.word),
            drop.eq(last & (stale != 0)), take.eq(last & (stale == 0)),
        ]
        fresh = take & ~ring.failed & ~error
        m.d.sync += [stale.eq(stale - drop), ahead.eq(ahead + wanted - fresh)]
        with m.If(fresh):
            m.d.sync += arrived.eq(arrived + 1)
        # After an error the ring waits for a restart, and what is on its way is not stale but lost.
        lost = Signal(range(2 * blocks + 1))
        with m.If(take & (ring.failed | error)):
            m.d.sync += [error.eq(1), lost.eq(lost + 1)]

        with m.If(restart | self.start):
            target = Mux(self.start, 0, looked)
            m.d.sync += [
                looked.eq(target), requested.eq(target), arrived.eq(target), held.eq(0),
                ahead.eq(0), error.eq(0), lost.eq(0),
                # Of what is on its way, a block that ends is dropped or taken: both are known late.
                stale.eq((stale + ahead - lost) - last),
            ]
        return m

    def _look_up(self, m: Module, pcs: Sequence[Value], requested: Signal, held: Signal,
                 ahead: Signal, error: Signal) -> tuple[Signal, Signal, Signal]:
        """Return for each of ``pcs`` whether its instruction is there, cannot be fetched, or is
        outside the ring.
        """
        hits, fails, misses = (Signal(len(pcs), name=name) for name in ("hits", "fails", "misses"))
        for i, pc in enumerate(pcs):
            distance, near = Signal(signed(len(requested)), name=f"distance{i}"), Signal(len(held))
            in_ring, present = Signal(name=f"in_ring{i}"), Signal(name=f"present{i}")
            # of the ring, but behind a block that could not be fetched
            dropped = Signal(name=f"dropped{i}")
            m.d.comb += [
                distance.eq(requested - (pc >> exact_log2(BLOCK))), near.eq(distance),
                in_ring.eq(~distance[len(near):].any() & (near <= held)),
                present.eq(near > ahead), dropped.eq(error & (near < ahead)),
                hits[i].eq(in_ring & present), fails[i].eq(in_ring & ~present & error & ~dropped),
                misses[i].eq(~in_ring | dropped),
            ]
        return hits, fails, misses
