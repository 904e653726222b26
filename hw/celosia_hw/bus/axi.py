"""AXI4 (memory port) and AXI4-Lite (register port), each channel an Amaranth stream.

Bursts are INCR, beats are as wide as the bus, so size, burst, lock, cache and prot are constants
that :mod:`celosia_hw.top` adds at the pins.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from celosia.arch.registers import ADDRESS_BITS

__all__ = [
    "BURST_BEATS", "DECERR", "EXT_ADDRESS_BITS", "FETCH_ID", "ID_BITS", "LENGTH_BITS", "LOAD_ID",
    "OKAY", "PAGE_BYTES", "RESP_BITS", "SLVERR", "AxiLite", "AxiLiteSignature", "AxiRead",
    "AxiReadSignature", "AxiWrite", "AxiWriteSignature", "address_layout", "read_layout",
    "write_layout",
]

EXT_ADDRESS_BITS = 32
#: No burst crosses a multiple of this (AXI4, A3.4.1).
PAGE_BYTES = 4096
#: Beats of the longest burst.
BURST_BEATS = 256
#: Bits of the beats - 1 of a burst.
LENGTH_BITS = exact_log2(BURST_BEATS)
#: ARID of the load engine and of the instruction fetch.
LOAD_ID, FETCH_ID = 0, 1
ID_BITS = bits_for(max(LOAD_ID, FETCH_ID))
#: Responses.
OKAY, SLVERR, DECERR = 0, 2, 3
RESP_BITS = bits_for(DECERR)
#: Bits of AXI4-Lite's data.
_LITE_BITS = 32


def address_layout() -> data.StructLayout:
    """Payload of AR and AW: byte address (a multiple of the bus width), beats - 1, ID."""
    return data.StructLayout({"addr": EXT_ADDRESS_BITS, "len": LENGTH_BITS, "id": ID_BITS})


def read_layout(bus_bytes: int) -> data.StructLayout:
    """Payload of R."""
    return data.StructLayout({
        "data": 8 * bus_bytes, "resp": RESP_BITS, "last": 1, "id": ID_BITS})


def write_layout(bus_bytes: int) -> data.StructLayout:
    """Payload of W."""
    return data.StructLayout({"data": 8 * bus_bytes, "strb": bus_bytes, "last": 1})


class AxiReadSignature(wiring.Signature):
    """AR and R of an AXI4 manager."""

    def __init__(self, bus_bytes: int):
        super().__init__({
            "ar": Out(stream.Signature(address_layout())),
            "r": In(stream.Signature(read_layout(bus_bytes))),
        })


class AxiWriteSignature(wiring.Signature):
    """AW, W and B (payload: the response) of an AXI4 manager."""

    def __init__(self, bus_bytes: int):
        super().__init__({
            "aw": Out(stream.Signature(address_layout())),
            "w": Out(stream.Signature(write_layout(bus_bytes))),
            "b": In(stream.Signature(RESP_BITS)),
        })


class AxiLiteSignature(wiring.Signature):
    """AXI4-Lite with 32-bit data, from the manager's side."""

    def __init__(self):
        super().__init__({
            "ar": Out(stream.Signature(ADDRESS_BITS)),
            "r": In(stream.Signature(data.StructLayout(
                {"data": _LITE_BITS, "resp": RESP_BITS}))),
            "aw": Out(stream.Signature(ADDRESS_BITS)),
            "w": Out(stream.Signature(data.StructLayout(
                {"data": _LITE_BITS, "strb": _LITE_BITS // 8}))),
            "b": In(stream.Signature(RESP_BITS)),
        })


class AxiRead(wiring.PureInterface):
    """Type of an interface of :class:`AxiReadSignature`, for annotations."""

    ar: stream.Interface
    r: stream.Interface


class AxiWrite(wiring.PureInterface):
    """Type of an interface of :class:`AxiWriteSignature`, for annotations."""

    aw: stream.Interface
    w: stream.Interface
    b: stream.Interface


class AxiLite(wiring.PureInterface):
    """Type of an interface of :class:`AxiLiteSignature`, for annotations."""

    ar: stream.Interface
    r: stream.Interface
    aw: stream.Interface
    w: stream.Interface
    b: stream.Interface
