"""From on-chip rows to units of external rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat
from celosia_hw.dma.jobs import formats, lanes_layout, piece_elements, pieces_ratio
from celosia_hw.dma.pieces import PieceCounter
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
    lanes : In(stream)
        Jobs.
    i : In(stream)
        Rows of D lanes of 32 bits.
    o : Out(stream)
        Units; bytes beyond the end of the external row are undefined.
    """

    lanes: stream.Interface
    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "lanes": In(stream.Signature(lanes_layout(config))),
            "i": In(stream.Signature(config.acc_row_bits)),
            "o": Out(stream.Signature(8 * config.bus_bytes)),
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
        m.submodules.piece_counter = pieces = PieceCounter(config)
        wiring.connect(m, wiring.flipped(self.lanes), pieces.jobs)
        row = Signal(config.acc_row_bits, reset_less=True)  # shifted down as pieces leave it
        row_valid = Signal()
        unit = Signal(8 * config.bus_bytes, reset_less=True)
        unit_valid = Signal()

        step, free = Signal(), Signal()
        m.d.comb += [
            free.eq(~unit_valid | self.o.ready),
            step.eq(row_valid & pieces.active & free), pieces.step.eq(step),
            self.i.ready.eq(~row_valid | (step & pieces.row_done)),
            self.o.valid.eq(unit_valid), self.o.payload.eq(unit),
        ]
        piece = {f: Signal(piece_elements(config, f) * (8 << f), name=f"piece_{f.name.lower()}")
                 for f in supported}
        for f, signal in piece.items():
            m.d.comb += signal.eq(Cat(self._element(m, row, f, k, pieces.ub)
                                      for k in range(piece_elements(config, f))))
        with m.Switch(pieces.fmt):
            for f in supported:
                per_unit, per_row = pieces_ratio(config, f)
                size = piece_elements(config, f)
                with m.Case(f):
                    with m.If(step):
                        if per_row > 1:
                            m.d.sync += row.eq(row[32 * size:])
                        for k in range(per_unit):
                            with m.If(1 if per_unit == 1 else pieces.place == k):
                                m.d.sync += unit.word_select(k, len(piece[f])).eq(piece[f])

        with m.If(free):
            m.d.sync += unit_valid.eq(step & pieces.unit_done)
        with m.If(self.i.ready):
            m.d.sync += row_valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += row.eq(self.i.payload)
        return m
