"""A block RAM with one read and one write port."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

__all__ = ["Ram"]


class Ram(wiring.Component):
    """``depth`` words of ``width`` bits, zero at power-up; not reset.

    ``read_data`` is the word at ``read_addr`` of the last cycle with ``read_en``; undefined if that
    word was written in that cycle.

    A platform with a method ``get_ram`` gives what stands for it.

    Parameters
    ----------
    width, depth
        Bits of a word, and words.

    Members
    -------
    write_en : In(1), write_addr, write_data : In
    read_en : In(1), read_addr : In, read_data : Out(width)
    """

    write_en: Signal
    write_addr: Signal
    write_data: Signal
    read_en: Signal
    read_addr: Signal
    read_data: Signal

    def __init__(self, width: int, depth: int):
        self.width, self.depth = width, depth
        bits = max(1, ceil_log2(depth))
        super().__init__({
            "write_en": In(1), "write_addr": In(bits), "write_data": In(width),
            "read_en": In(1), "read_addr": In(bits), "read_data": Out(width),
        })

    def elaborate(self, platform):  # noqa: D102
        if hasattr(platform, "get_ram"):
            return platform.get_ram(self)
        m = Module()
        m.submodules.ram = ram = Memory(shape=self.width, depth=self.depth, init=[])
        write, read = ram.write_port(), ram.read_port()  # not transparent
        m.d.comb += [
            write.en.eq(self.write_en), write.addr.eq(self.write_addr),
            write.data.eq(self.write_data), read.en.eq(self.read_en),
            read.addr.eq(self.read_addr), self.read_data.eq(read.data),
        ]
        return m
