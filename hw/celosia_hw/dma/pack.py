"""From on-chip rows to units of external rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat
from celosia_hw.dma.align import stored_unit_layout
from celosia_hw.dma.pieces import PieceCounter
from celosia_hw.dma.rows import stored_layout
from celosia_hw.dma.split import formats, piece_elements, pieces_ratio
from celosia_hw.fp.convert import f32_to_bf16

__all__ = ["Packer"]


def _saturate_i8(x: Value) -> Value:
    """Saturate 32 bits of int32 to 8 bits: :func:`celosia.arch.numerics.saturate_i8`."""
    sign = x[31]
    return Mux(x[7:31] == sign.replicate(24), x[:8], Cat((~sign).replicate(7), sign))


class Packer(wiring.Component):
    """Converts on-chip rows and takes them apart, or puts them together, to units. A piece a
    cycle; a unit is offered two cycles after its last row was.

    Members
    -------
    i : In(stream of stored_layout)
        Rows.
    o : Out(stream of stored_unit_layout)
        Units; bytes beyond the end of the external row are undefined.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(stored_layout(config))),
            "o": Out(stream.Signature(stored_unit_layout(config))),
        })

    def _element(self, m: Module, row: Value, fmt: DmaFormat, k: int, from_ub: Value) -> Value:
        """Element in external memory that lane k of a row becomes."""
        lane = row.word_select(k, 32)
        match fmt:
            case DmaFormat.I8:
                return Mux(from_ub, lane[:8], _saturate_i8(lane))
            case DmaFormat.BF16:
                return Mux(from_ub, lane[:16], f32_to_bf16(m, lane, f"bf16_{k}"))
            case _:
                return Mux(from_ub, Cat(Const(0, 16), lane[:16]), lane)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        supported = formats(config)
        m.submodules.pieces = pieces = PieceCounter(config)
        row = Signal(stored_layout(config), reset_less=True)  # shifted down as pieces leave it
        row_valid = Signal()
        unit = Signal(stored_unit_layout(config), reset_less=True)
        unit_valid = Signal()

        step, free = Signal(), Signal()
        m.d.comb += [
            free.eq(~unit_valid | self.o.ready), step.eq(row_valid & free),
            *(getattr(pieces, name).eq(row[name]) for name in ("fmt", "tail", "row_last")),
            pieces.step.eq(step),
            self.i.ready.eq(~row_valid | (step & pieces.row_done)),
            self.o.valid.eq(unit_valid), self.o.payload.eq(unit),
        ]
        piece = {f: Signal(piece_elements(config, f) * 8 * f.nbytes,
                           name=f"piece_{f.name.lower()}") for f in supported}
        for f, signal in piece.items():
            m.d.comb += signal.eq(Cat(self._element(m, row.lanes, f, k, row.ub)
                                      for k in range(piece_elements(config, f))))
        ends = row.row_last & pieces.row_done
        with m.If(step):
            m.d.sync += [unit.row_last.eq(ends), unit.last.eq(ends & row.last)]
        with m.Switch(row.fmt):
            for f in supported:
                per_unit, per_row = pieces_ratio(config, f)
                size = piece_elements(config, f)
                with m.Case(f):
                    with m.If(step):
                        if per_row > 1:
                            m.d.sync += row.lanes.eq(row.lanes[32 * size:])
                        for k in range(per_unit):
                            with m.If(1 if per_unit == 1 else pieces.index == k):
                                m.d.sync += unit.data.word_select(k, len(piece[f])).eq(piece[f])

        with m.If(free):
            m.d.sync += unit_valid.eq(step & pieces.unit_done)
        with m.If(self.i.ready):
            m.d.sync += row_valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += row.eq(self.i.payload)
        return m
