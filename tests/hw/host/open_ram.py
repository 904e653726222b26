"""A RAM into which a test can look."""

from amaranth.hdl import Module
from amaranth.lib.memory import Memory

from celosia_hw.memory.ram import Ram


class OpenRam(Ram):
    """A :class:`Ram` with its ``memory``."""

    def __init__(self, *shape):
        super().__init__(*shape)
        self.memory = Memory(shape=shape[0], depth=shape[1], init=[])

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        write, read = self.memory.write_port(), self.memory.read_port()
        m.d.comb += [
            write.en.eq(self.write_en), write.addr.eq(self.write_addr),
            write.data.eq(self.write_data), read.en.eq(self.read_en),
            read.addr.eq(self.read_addr), self.read_data.eq(read.data),
        ]
        return m
