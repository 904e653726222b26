"""From units of external rows to on-chip rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.dma.align import unit_layout
from celosia_hw.dma.pieces import PieceCounter
from celosia_hw.dma.rows import RowWalk
from celosia_hw.dma.split import formats, piece_elements, pieces_ratio, rows_layout
from celosia_hw.fp.convert import f32_to_bf16
from celosia_hw.memory.requests import brought_layout

__all__ = ["Unpacker"]


class Unpacker(wiring.Component):
    """Takes units apart, or puts them together, to on-chip rows, and converts them.

    A piece a cycle. Lanes beyond the end of the external row are zero. A row is offered two cycles
    after its last unit was taken.

    Members
    -------
    command : In(stream of rows_layout)
        Of the units that come.
    i : In(stream)
        Units.
    o : Out(stream of brought_layout)
        Rows.
    """

    command: stream.Interface
    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "i": In(stream.Signature(unit_layout(config))),
            "o": Out(stream.Signature(brought_layout(config))),
        })

    def _element(self, m: Module, unit: Value, fmt: DmaFormat, k: int, to_ub: Value) -> Value:
        """Lane of 32 bits that element k of a unit becomes."""
        raw = unit.word_select(k, 8 * fmt.nbytes)
        match fmt:
            case DmaFormat.I8:
                return Cat(raw, raw[7].replicate(24))
            case DmaFormat.BF16:
                return Mux(to_ub, raw, Cat(Const(0, 16), raw))
            case _:
                if not self._config.bf16:
                    return raw
                return Mux(to_ub, f32_to_bf16(m, raw, f"bf16_{k}"), raw)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        supported = formats(config)
        m.submodules.walk = walk = RowWalk(config)
        m.submodules.pieces = pieces = PieceCounter(config)
        wiring.connect(m, wiring.flipped(self.command), walk.i)
        to_ub = walk.command.mem == Mem.UB

        mask = Signal(max(piece_elements(config, f) for f in supported), reset_less=True)
        unit = Signal(8 * config.bus_bytes, reset_less=True)  # shifted down as pieces leave it
        unit_error = Signal(reset_less=True)
        unit_valid = Signal()
        # The on-chip row under construction, or offered.
        width = min(piece_elements(config, f) for f in supported)  # no format writes less at once
        parts = [Signal(32 * width, name=f"lanes{k}", reset_less=True)
                 for k in range(0, config.dim, width)]
        row_valid, row_ub = Signal(), Signal(reset_less=True)
        row_address, row_last = Signal.like(walk.row, reset_less=True), Signal(reset_less=True)
        bad = Signal()  # a unit of that row, or of one before it in the command, was an error
        step, free = Signal(), Signal()
        m.d.comb += [
            self.o.valid.eq(row_valid), free.eq(~row_valid | self.o.ready),
            step.eq(unit_valid & walk.valid & free),
            pieces.fmt.eq(walk.command.fmt), pieces.tail.eq(walk.command.tail),
            pieces.row_last.eq(walk.row_last), pieces.step.eq(step),
            walk.step.eq(step & pieces.row_done),
            self.i.ready.eq(~unit_valid | (step & pieces.unit_done)),
        ]
        lane_mask = mask | (~(walk.row_last & pieces.row_done)).replicate(len(mask))
        piece = {f: Signal(32 * piece_elements(config, f), name=f"piece_{f.name.lower()}")
                 for f in supported}
        for f, signal in piece.items():
            m.d.comb += signal.eq(Cat(
                Mux(lane_mask[k], self._element(m, unit, f, k, to_ub), 0)
                for k in range(piece_elements(config, f))))
        with m.Switch(walk.command.fmt):
            for f in supported:
                per_unit, per_row = pieces_ratio(config, f)
                size = piece_elements(config, f)
                with m.Case(f):
                    with m.If(step):
                        if per_unit > 1:
                            m.d.sync += unit.eq(unit[size * 8 * f.nbytes:])
                        for k, lanes in enumerate(parts):
                            at, part = divmod(k, size // width)
                            with m.If(pieces.index == at if per_row > 1 else 1):
                                m.d.sync += lanes.eq(piece[f].word_select(part, 32 * width))
                            with m.Elif(pieces.index == 0):
                                m.d.sync += lanes.eq(0)

        with m.If(self.i.ready):
            m.d.sync += unit_valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [unit.eq(self.i.payload.data), unit_error.eq(self.i.payload.error)]

        with m.If(self.command.ready & self.command.valid):
            m.d.sync += mask.eq(Cat(k <= self.command.payload.end for k in range(len(mask))))

        m.d.comb += [
            *(self.o.payload[name].eq(value) for name, value in (
                ("ub", row_ub), ("last", row_last), ("error", bad), ("address", row_address),
                ("lanes", Cat(parts)))),
        ]
        with m.If(free):
            m.d.sync += row_valid.eq(walk.step)
        with m.If(walk.step):
            m.d.sync += [row_address.eq(walk.row), row_ub.eq(to_ub), row_last.eq(walk.last)]
        # Pieces of the next command may enter in the cycle in which the last row of this one
        # leaves.
        with m.If(row_valid & self.o.ready & row_last):
            m.d.sync += bad.eq(step & unit_error)
        with m.Elif(step & unit_error):
            m.d.sync += bad.eq(1)
        return m
