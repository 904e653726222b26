"""Running the operations of pieces of work on the golden model, in the order they are emitted."""

from dataclasses import dataclass

import numpy as np

from celosia import driver
from celosia.arch.config import TpuConfig, preset
from celosia.arch.isa import DmaFormat
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.generate import generate
from celosia.compiler.codegen.strides import StrideRegisters
from celosia.compiler.lowered import Access, External, OnChip, Region, Tensor, storage
from celosia.compiler.views import View
from celosia.graph import DType
from celosia.program import Buffer, Program

CORE, NANO = preset("core"), preset("nano")
#: Few lanes, so that tests of many tiles are small; a row of words takes two cycles of the bus.
SMALL = TpuConfig("small", dim=4, int8=True, bf16=True, ub_rows=128, acc_rows=256, bus_bytes=8)
NUMPY = {DmaFormat.I8: np.dtype(np.int8), DmaFormat.BF16: np.dtype(np.uint16),
         DmaFormat.W32: np.dtype(np.uint32)}
FORMATS = {"f32": DType.F32, "bf16": DType.BF16, "i8": DType.I8}


def everything(config: TpuConfig) -> Region:
    return Region(range(config.ub_rows), range(config.acc_rows))


def flat(emitted):
    """Return operations in order, with stride registers."""
    ops = list(emitted.before)
    for block in emitted.blocks:
        for stage in block.stages:
            ops += stage
    return StrideRegisters().give([*ops, *emitted.after])


@dataclass
class Memory:
    """An arena with tensors at places of their own, and a chip."""

    config: TpuConfig
    seed: int = 0

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)
        self.tensors: dict[str, Tensor] = {}
        self.end = 64
        self.on_chip: dict[str, np.ndarray] = {}
        self.data = bytearray(self.rng.bytes(64))

    def tensor(self, name, shape, dtype="f32", home=None, values=None, shift=0):
        """Add a tensor of random bits; ``shift`` bytes beside a multiple of 64."""
        made = Tensor(name, tuple(shape), FORMATS[dtype],
                      storage(self.config, FORMATS[dtype]), home)
        self.tensors[name] = made
        if home is None:
            made.home = External(self.end + shift)
            size = (made.nbytes + shift + 191) // 64 * 64
            self.data += self.rng.bytes(size)
            self.end += size
            if values is not None:
                self.write(made, values)
        return made

    def write(self, tensor, values):
        raw = np.ascontiguousarray(values)
        raw = raw.astype(np.int32) if raw.dtype == np.int64 else raw
        raw = raw.view(NUMPY[tensor.format])
        assert raw.size * raw.itemsize == tensor.nbytes
        at = tensor.home.offset
        self.data[at:at + tensor.nbytes] = raw.tobytes()

    def array(self, tensor, data=None):
        """Return the bits of a tensor in external memory."""
        data = self.data if data is None else data
        at = tensor.home.offset
        raw = np.frombuffer(bytes(data[at:at + tensor.nbytes]), NUMPY[tensor.format])
        return raw.reshape(tensor.shape)

    def seen(self, access, data=None):
        """Return the bits that an access names, of the shape of its view."""
        data = self.data if data is None else data
        tensor, view = access.tensor, access.view
        raw = np.frombuffer(bytes(data), np.uint8)
        size = tensor.element_bytes
        index = np.full(view.shape, view.offset)
        for dim, (count, step) in enumerate(zip(view.shape, view.strides, strict=True)):
            shape = [1] * len(view.shape)
            shape[dim] = count
            index = index + (np.arange(count) * step).reshape(shape)
        at = tensor.home.offset + index * size
        found = raw[at[..., np.newaxis] + np.arange(size)]
        return found.reshape(-1).view(NUMPY[tensor.format]).reshape(view.shape), at

    def run(self, emitted, scheduled=False):
        """Return the arena after the operations, the machine, and the cycles.

        They run in the order in which they were emitted, or as they are scheduled.
        """
        code = generate(self.config, [emitted]) if scheduled else assemble(flat(emitted))
        size = self.end + 64
        data = self.data + bytearray(size - len(self.data))
        words = np.frombuffer(bytes(data), np.int32)
        program = Program(self.config.fingerprint, tuple(code.insns), arena_bytes=size,
                          buffers=(Buffer("arena", 0, words.shape, "int32", "input"),),
                          relocations=tuple(code.relocations))
        with driver.open("model", config=self.config) as device:
            machine = device.transport.machine
            machine.acc[...] = self.rng.integers(0, 1 << 32, machine.acc.shape, np.uint32)
            machine.ub[...] = self.rng.integers(0, 256, machine.ub.shape).astype(machine.ub.dtype)
            for name, rows in self.on_chip.items():
                tensor = self.tensors[name]
                memory = machine.acc if tensor.home.mem else machine.ub
                memory[tensor.home.row:tensor.home.row + len(rows)] = rows
            result = device.run(program, {"arena": words}, outputs=["arena"])
            return result["arena"].tobytes(), machine, result.cycles


def whole(tensor) -> Access:
    return Access(tensor, View.contiguous(tensor.shape))


__all__ = ["CORE", "FORMATS", "NANO", "NUMPY", "SMALL", "Memory", "OnChip", "everything", "flat",
           "whole"]
