"""What the parts of a DMA engine know of a command, and how it is worked out.

An external row is cut two ways. In *units* of the width of the bus: unit j is bytes
``j*bus_bytes ..`` of the row, wherever the row begins in its beats. And in *groups* of D elements,
an on-chip row each. Both are powers of two; the smaller one is a *piece*, and an engine moves a
piece a cycle between a unit and an on-chip row.
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
    "BLOCK_BEATS", "SPAN_BITS", "JobSetup", "align_layout", "block_bytes", "element_bytes",
    "formats", "lanes_layout", "piece_elements", "pieces_ratio", "rows_layout", "walk_layout",
]

#: Bursts end at multiples of this many beats (or at the page): long enough to be efficient, short
#: enough that an instruction fetch does not wait long behind the bursts of a load.
BLOCK_BEATS = 64
#: Bits of the bytes - 1 of an external row.
SPAN_BITS = COUNT_BITS + 2


def element_bytes(fmt: DmaFormat) -> int:
    """Bytes of an element in external memory."""
    return 1 << fmt


def formats(config: TpuConfig) -> tuple[DmaFormat, ...]:
    """Formats that the chip has."""
    return tuple(fmt for fmt, supported in (
        (DmaFormat.I8, config.int8), (DmaFormat.BF16, config.bf16), (DmaFormat.W32, True),
    ) if supported)


def block_bytes(config: TpuConfig) -> int:
    """Bytes of an aligned block; no burst crosses its boundary."""
    return min(PAGE_BYTES, min(BLOCK_BEATS, BURST_BEATS) * config.bus_bytes)


def piece_elements(config: TpuConfig, fmt: DmaFormat) -> int:
    """Elements of a piece: what a unit and an on-chip row have room for, whichever is less."""
    return min(config.bus_bytes // element_bytes(fmt), config.dim)


def pieces_ratio(config: TpuConfig, fmt: DmaFormat) -> tuple[int, int]:
    """Pieces of a unit and of an on-chip row; one of the two is 1."""
    piece = piece_elements(config, fmt)
    return max(config.bus_bytes // element_bytes(fmt) // piece, 1), config.dim // piece


def walk_layout() -> data.StructLayout:
    """External rows: first byte, bytes - 1 of a row, rows - 1, bytes from row to row."""
    return data.StructLayout({
        "addr": EXT_ADDRESS_BITS, "span": SPAN_BITS, "rows": COUNT_BITS,
        "pitch": EXT_ADDRESS_BITS,
    })


def align_layout(config: TpuConfig) -> data.StructLayout:
    """External rows as in :func:`walk_layout`; addresses modulo :func:`block_bytes`."""
    bits = exact_log2(block_bytes(config))
    return data.StructLayout({
        "addr": bits, "span": SPAN_BITS, "rows": COUNT_BITS, "pitch": bits,
    })


def rows_layout(config: TpuConfig) -> data.StructLayout:
    """On-chip rows: first row, external rows - 1, groups - 1 of each, and the steps."""
    bits = row_bits(config)
    return data.StructLayout({
        "mem": 1, "row": bits, "rows": COUNT_BITS, "groups": COUNT_BITS,
        "row_step": bits, "group_step": bits,
    })


def lanes_layout(config: TpuConfig) -> data.StructLayout:
    """Pieces: formats on both sides, external rows - 1, pieces - 1 of each, and the last element
    of the last piece.
    """
    last = max(exact_log2(piece_elements(config, fmt)) for fmt in formats(config))
    return data.StructLayout({
        "mem": Mem, "fmt": DmaFormat, "rows": COUNT_BITS, "pieces": COUNT_BITS, "last": last,
    })


class JobSetup(wiring.Component):
    """Turns commands into jobs for the parts of an engine. One cycle; a command a cycle.

    Members
    -------
    i : In(stream)
        Commands.
    valid, ready : Out(1), In(1)
        The jobs below are offered; all are taken together.
    walk, align, rows, lanes : Out
    """

    i: stream.Interface
    valid: Signal
    ready: Signal
    walk: data.View
    align: data.View
    rows: data.View
    lanes: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(dma_layout(config))), "valid": Out(1), "ready": In(1),
            "walk": Out(walk_layout()), "align": Out(align_layout(config)),
            "rows": Out(rows_layout(config)), "lanes": Out(lanes_layout(config)),
        })

    def fork(self, m: Module, *jobs: tuple[stream.Interface, data.View]) -> None:
        """Hand each of ``jobs`` (a consumer and its part of the job) over in the same cycle."""
        m.d.comb += self.ready.eq(Cat(to.ready for to, _ in jobs).all())
        for to, job in jobs:
            m.d.comb += [to.valid.eq(self.valid & self.ready), to.payload.eq(job)]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        command = Signal(dma_layout(self._config), reset_less=True)
        span = Signal(SPAN_BITS, reset_less=True)
        last = Signal(COUNT_BITS, reset_less=True)  # number of the last element of a row
        valid = Signal()
        m.d.comb += [self.valid.eq(valid), self.i.ready.eq(~valid | self.ready)]
        with m.If(self.i.ready):
            m.d.sync += valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [
                command.eq(self.i.payload), last.eq(self.i.payload.cols - 1),
                span.eq((self.i.payload.cols << self.i.payload.fmt) - 1),
            ]
        rows = Signal(COUNT_BITS)
        m.d.comb += [
            rows.eq(command.rows - 1),
            self.walk.addr.eq(command.addr), self.walk.pitch.eq(command.pitch),
            self.walk.span.eq(span), self.walk.rows.eq(rows),
            self.align.addr.eq(command.addr), self.align.pitch.eq(command.pitch),
            self.align.span.eq(span), self.align.rows.eq(rows),
            self.rows.mem.eq(command.mem), self.rows.row.eq(command.row), self.rows.rows.eq(rows),
            self.rows.groups.eq(last >> exact_log2(self._config.dim)),
            self.rows.row_step.eq(command.row_step), self.rows.group_step.eq(command.group_step),
            self.lanes.mem.eq(command.mem), self.lanes.fmt.eq(command.fmt),
            self.lanes.rows.eq(rows),
        ]
        with m.Switch(command.fmt):
            for fmt in formats(self._config):
                with m.Case(fmt):
                    bits = exact_log2(piece_elements(self._config, fmt))
                    m.d.comb += [self.lanes.pieces.eq(last >> bits),
                                 self.lanes.last.eq(last[:bits])]
        return m
