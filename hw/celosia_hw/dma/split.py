"""What the parts of a DMA engine know of a command, and how it is worked out.

An external row is cut two ways. In *units* of the width of the bus: unit j is bytes
``j*bus_bytes ..`` of the row, wherever the row begins in its *beats*. And in *groups* of D
elements, an on-chip row each. Both are powers of two; the smaller one is a *piece*, and an engine
moves a piece a cycle between a unit and an on-chip row. On the bus a row takes one or more
*bursts*.

Rows are counted where their addresses are made: external ones by the walker, on-chip ones by the
address generator. Everybody else sees their ends as flags of the data.
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.bus.axi import BURST_BEATS, EXT_ADDRESS_BITS, PAGE_BYTES
from celosia_hw.commands import dma_layout
from celosia_hw.memory.ports import row_bits

__all__ = [
    "BOUNDARY_BEATS", "LENGTH_BITS", "CommandSplit", "align_layout", "boundary_bytes", "formats",
    "piece_elements", "pieces_ratio", "rows_layout", "walk_layout",
]

#: Bursts end at multiples of this many beats (or at the page): long enough to be efficient, short
#: enough that an instruction fetch does not wait long behind the bursts of a load.
BOUNDARY_BEATS = 64
#: Bits of the bytes - 1 of an external row.
LENGTH_BITS = COUNT_BITS + 2


def formats(config: TpuConfig) -> tuple[DmaFormat, ...]:
    """Formats that the chip has."""
    return tuple(fmt for fmt, supported in (
        (DmaFormat.I8, config.int8), (DmaFormat.BF16, config.bf16), (DmaFormat.W32, True),
    ) if supported)


def boundary_bytes(config: TpuConfig) -> int:
    """Bytes between addresses that no burst crosses."""
    return min(PAGE_BYTES, min(BOUNDARY_BEATS, BURST_BEATS) * config.bus_bytes)


def piece_elements(config: TpuConfig, fmt: DmaFormat) -> int:
    """Elements of a piece: what a unit and an on-chip row have room for, whichever is less."""
    return min(config.bus_bytes // fmt.nbytes, config.dim)


def pieces_ratio(config: TpuConfig, fmt: DmaFormat) -> tuple[int, int]:
    """Pieces of a unit and of an on-chip row; one of the two is 1."""
    piece = piece_elements(config, fmt)
    return max(config.bus_bytes // fmt.nbytes // piece, 1), config.dim // piece


def walk_layout() -> data.StructLayout:
    """External rows: first byte, bytes - 1 of a row, rows - 1, bytes from row to row."""
    return data.StructLayout({
        "addr": EXT_ADDRESS_BITS, "length": LENGTH_BITS, "rows": COUNT_BITS,
        "pitch": EXT_ADDRESS_BITS,
    })


def align_layout(config: TpuConfig) -> data.StructLayout:
    """External rows as in :func:`walk_layout`; addresses modulo :func:`boundary_bytes`, lengths
    modulo a beat.
    """
    bits = exact_log2(boundary_bytes(config))
    return data.StructLayout({
        "addr": bits, "length": exact_log2(config.bus_bytes), "pitch": bits,
    })


def rows_layout(config: TpuConfig) -> data.StructLayout:
    """On-chip rows: the first, external rows, groups of each, and the steps; the formats on both
    sides. An external row ends at piece ``tail`` of its last on-chip row, and there at element
    ``end`` of the piece.
    """
    bits = row_bits(config)
    tail = max(exact_log2(pieces_ratio(config, fmt)[1]) for fmt in formats(config))
    end = max(exact_log2(piece_elements(config, fmt)) for fmt in formats(config))
    return data.StructLayout({
        "mem": Mem, "fmt": DmaFormat, "row": bits, "rows": COUNT_BITS, "groups": COUNT_BITS,
        "row_step": bits, "group_step": bits, "tail": tail, "end": end,
    })


class CommandSplit(wiring.Component):
    """Splits commands into what each part of an engine needs. One cycle, none on a chip that is
    ``small``; a command a cycle.

    Members
    -------
    i : In(stream)
        Commands.
    valid, ready : Out(1), In(1)
        The parts below are offered; all are taken together.
    walk, align, rows : Out
    """

    i: stream.Interface
    valid: Signal
    ready: Signal
    walk: data.View
    align: data.View
    rows: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(dma_layout(config))), "valid": Out(1), "ready": In(1),
            "walk": Out(walk_layout()), "align": Out(align_layout(config)),
            "rows": Out(rows_layout(config)),
        })

    def fork(self, m: Module, *parts: tuple[stream.Interface, data.View]) -> None:
        """Hand each of ``parts`` (a consumer and what it gets) over in the same cycle."""
        m.d.comb += self.ready.eq(Cat(to.ready for to, _ in parts).all())
        for to, part in parts:
            m.d.comb += [to.valid.eq(self.valid & self.ready), to.payload.eq(part)]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        command = Signal(dma_layout(self._config), reset_less=True)
        length = Signal(LENGTH_BITS, reset_less=True)
        last = Signal(COUNT_BITS, reset_less=True)  # number of the last element of a row
        valid = Signal()
        comes = [
            command.eq(self.i.payload), last.eq(self.i.payload.cols - 1),
            length.eq((self.i.payload.cols << self.i.payload.fmt) - 1),
        ]
        if self._config.small:
            m.d.comb += [self.valid.eq(self.i.valid), self.i.ready.eq(self.ready), *comes]
        else:
            m.d.comb += [self.valid.eq(valid), self.i.ready.eq(~valid | self.ready)]
            with m.If(self.i.ready):
                m.d.sync += valid.eq(self.i.valid)
            with m.If(self.i.ready & self.i.valid):
                m.d.sync += comes
        rows = self.rows
        m.d.comb += [
            self.walk.addr.eq(command.addr), self.walk.pitch.eq(command.pitch),
            self.walk.length.eq(length), self.walk.rows.eq(command.rows - 1),
            self.align.addr.eq(command.addr), self.align.pitch.eq(command.pitch),
            self.align.length.eq(length),
            *(rows[name].eq(command[name])
              for name in ("mem", "fmt", "row", "rows", "row_step", "group_step")),
            rows.groups.eq((last >> exact_log2(self._config.dim)) + 1),
        ]
        with m.Switch(command.fmt):
            for fmt in formats(self._config):
                with m.Case(fmt):
                    bits = exact_log2(piece_elements(self._config, fmt))
                    _, per_row = pieces_ratio(self._config, fmt)
                    m.d.comb += [rows.tail.eq(last[bits:bits + exact_log2(per_row)]),
                                 rows.end.eq(last[:bits])]
        return m
